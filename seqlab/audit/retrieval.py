"""Checks of text encoders: vectors, vocabulary and rankings, each computed a second time in a plain way."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.nn.functional import normalize

from seqlab.audit.data import judge_overlaps
from seqlab.audit.origins import vocabulary_origin
from seqlab.audit.result import check
from seqlab.audit.tolerance import within_tolerance
from seqlab.data.overlap import Overlap
from seqlab.runs.run import Run
from seqlab.tasks.embed import EmbedTask, RetrievalDataset
from seqlab.tasks.vectors import embed_rows

TEXTS = 16  # compared alone and in a batch
NEAR_TIE = 1e-3  # of the metric: equal scores may fall in another order


@check("a padded row equals the row alone")
@torch.inference_mode()
def padding(task: EmbedTask, model: Any) -> tuple[bool, str]:
    """The vectors of texts in one batch equal those of each text alone."""
    split = task.splits["validation"]
    lengths = [len(ids) for ids in split.table.texts]
    rows = sorted({*range(min(TEXTS, len(lengths))), int(np.argmax(lengths))})
    texts = [split.table.texts[row][: split.longest] for row in rows]

    def measure(model: Any) -> float:
        together = torch.from_numpy(embed_rows(model, texts))
        device = next(model.parameters()).device
        alone = torch.cat([normalize(model(torch.from_numpy(ids)[None].to(device)), dim=1) for ids in texts])
        return float((together - alone.cpu()).abs().max())

    return within_tolerance(model, measure)


@check("vocabulary from the training text only")
def vocabulary(run: Run, dataset: RetrievalDataset) -> tuple[bool, str]:
    """Built again from the training documents and queries, it must be the same, or that of the run's origin."""
    size = f"{dataset.vocabulary.tokenizer.vocab_size:,} tokens"
    if (origin := vocabulary_origin(run)) is not None:
        return True, f"{size}, those of '{origin}'"
    if EmbedTask.build_vocabulary(dataset.data, run.settings).fingerprint == dataset.vocabulary.fingerprint:
        return True, f"{size}, the same when built again"
    return False, f"{size}, which do not come from the training documents and queries alone"


@check("held-out queries ask for documents of their own")
def own_documents(dataset: RetrievalDataset) -> tuple[bool | None, str]:
    """A document that training queries ask for can be remembered, whatever a held-out query says."""
    splits = dataset.data.splits
    known = {pair.document for pair in splits["train"] if pair.kind == "given"}
    if not known:
        return None, "no query was trained on"
    overlaps = {
        split: Overlap("queries", len(queries), sum(not known.isdisjoint(query.relevant) for query in queries))
        for split, queries in splits.items()
        if split != "train"
    }
    return judge_overlaps(overlaps, "have a relevant document that a training query has, too")


@check("the metric equals an independent count")
@torch.inference_mode()
def metric(task: EmbedTask, model: Any) -> tuple[bool | None, str]:
    """nDCG@10 of the validation queries, counted one query at a time."""
    split = task.splits["validation"]
    documents_ND = embed_rows(model, [ids[: split.longest] for ids in split.table.texts])
    counted = []
    for query, ids in zip(split.examples, split.inputs, strict=True):
        (query_D,) = embed_rows(model, [ids[: split.longest]])
        best = sorted(zip((documents_ND @ query_D).tolist(), split.table.names, strict=True), reverse=True)[:10]
        counted.append(_ndcg(query.relevance, [name for _, name in best]))
    expected, shown = sum(counted) / len(counted), task.score(model, "validation").metrics["ndcg_10"]
    return abs(expected - shown) <= NEAR_TIE, f"validation: {expected:.4f} counted, {shown:.4f} shown"


def _ndcg(relevance: Mapping[str, int], names: list[str]) -> float:
    def discounted(gains: list[int]) -> float:
        return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))

    ideal = sorted((gain for gain in relevance.values() if gain > 0), reverse=True)[:10]
    return discounted([max(0, relevance.get(name, 0)) for name in names]) / discounted(ideal)
