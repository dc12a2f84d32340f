"""The result of a retrieval in words, and how little a score on few queries means."""

import math
from collections.abc import Mapping

from seqlab.wording import counted

FEW_QUERIES = 30  # held out: with fewer, the score of an embedder is said to mean little


def ranking_wording(metrics: Mapping[str, float], value: str) -> str:
    """How many queries asked for how many documents, and the value."""
    seen = int(metrics.get("seen", 0))
    others = f" (with the {seen:,} whose documents training had, too: {metrics.get('ndcg_10_all', 0):.3f})"
    queries = counted(round(metrics["queries"]), "query", "queries")
    documents = counted(round(metrics["documents"]), "document")
    return f"{queries} over {documents}: {value}{others if seen else ''}"


def chance_note(metrics: Mapping[str, float]) -> str:
    """How little a score on few queries means: what a random order of the documents has, and the weight of one query.

    A relevant document, if it is the only one, is at each rank of N with a chance of 1/N."""
    queries, documents = round(metrics["queries"]), round(metrics["documents"])
    if queries >= FEW_QUERIES:
        return ""
    chance = sum(1 / math.log2(rank + 1) for rank in range(1, min(10, documents) + 1)) / max(1, documents)
    return (
        f". That says little: {counted(queries, 'query', 'queries')}, of which one changes it by up to "
        f"{1 / max(1, queries):.2f}, and a random order has {chance:.2f} if one document is relevant"
    )
