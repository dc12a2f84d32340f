"""seqlab evaluate on an index: every way to search it, beside what needs no training and what only remembers.

N: passages, M: documents, Q: queries.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seqlab.baselines.lsa import Lsa
from seqlab.baselines.memorizing import AppendedQueries, NearestQuery
from seqlab.baselines.ranker import Ranker
from seqlab.baselines.static_vectors import StaticVectors
from seqlab.data.documents.document import Document
from seqlab.data.near_copies import near_copied_sentences
from seqlab.errors import DataError, UsageError
from seqlab.retrieval.evaluation import Evaluation, evaluate_rankers
from seqlab.retrieval.fusion import Fusion, ReciprocalRanks, tune
from seqlab.retrieval.index import Index, open_index
from seqlab.retrieval.judged import TrainingQueries, open_judged
from seqlab.retrieval.search import default_weight

WORDS, DENSE, HYBRID, RANKS = "BM25", "dense", "hybrid", "reciprocal ranks"
STATIC, STATIC_HYBRID = "static vectors", "BM25 + static vectors"


@dataclass(frozen=True)
class IndexRanker:
    """The documents of an index by their best passages, or its passages, by words or by vectors."""

    index: Index
    by: str
    passages: bool = False

    @property
    def floor(self) -> float:
        return 0.0 if self.by == "bm25" else -np.inf

    @property
    def about(self) -> str:
        if self.by == "bm25":
            return f"{self.index.bm25.about}, by the best passage"
        return f"vectors of {self.index.facts['dimensions']:,} dimensions of the index's model, by the best passage"

    def scores(self, queries: Sequence[str]) -> np.ndarray:
        if self.passages:
            return self.index.passage_scores(queries, self.by)
        return self.index.document_scores(queries, self.by)


def evaluate_index(
    index: str | Path | Index,
    queries: str | Path,
    qrels: str | Path | None = None,
    training: str | Path | None = None,
    *,
    weight: float | None = None,
    baselines: bool = True,
    keep_weight: bool = False,
) -> Evaluation:
    """How well every way to search an index answers judged queries, with intervals and verdicts against BM25.

    queries, qrels and training: see `open_judged`. weight: of the vectors in the hybrid; by default it is tuned on
    training queries. keep_weight: keep this weight in the index, for `search`."""
    index = open_index(index)
    _check_weight(index, weight, keep_weight)
    documents = list(index.documents.read())
    ids = [document.id for document in documents]
    judged = open_judged(queries, qrels, training, ids)
    learned, notes = judged.training, judged.notes
    if learned and learned.queries:
        texts, known = ([query.text for query in some] for some in (judged.queries, learned.queries))
        copies = near_copied_sentences(texts, known, "queries")
        notes.append(f"{copies.repeated:,} of {copies.checked:,} {copies.unit} are near copies of training queries")
    rankers: dict[str, Ranker] = {WORDS: IndexRanker(index, "bm25")}
    pairs: list[tuple[str, str]] = []
    if index.has_vectors:
        rankers[DENSE] = IndexRanker(index, "dense")
        hybrid, chosen = _hybrid(index, learned, weight, ids, notes, keep_weight)
        rankers[HYBRID] = hybrid
        if keep_weight:
            _keep(index, hybrid, chosen, notes)
        rankers[RANKS] = ReciprocalRanks(rankers[WORDS], rankers[DENSE])
        pairs = [(HYBRID, WORDS), (DENSE, WORDS)]
    if baselines:
        rankers |= _baselines(documents, learned)
        if learned and learned.queries:
            _add_static_hybrid(rankers, learned, ids, notes)
        if index.has_vectors:
            pairs.append((DENSE, STATIC))
        elif STATIC_HYBRID in rankers:
            pairs.append((STATIC_HYBRID, WORDS))
    return evaluate_rankers(rankers, ids, judged.queries, judged.qrels, learned and learned.qrels, pairs, notes)


def _check_weight(index: Index, weight: float | None, keep: bool) -> None:
    if (keep or weight is not None) and not index.has_vectors:
        raise UsageError(f"'{index.path}' has no vectors to weigh: leave out the weight.")
    if weight is not None and not 0 <= weight <= 1:
        raise UsageError(f"the weight is {weight}: expected a number from 0 (words alone) to 1 (vectors alone).")


def _hybrid(
    index: Index,
    learned: TrainingQueries | None,
    weight: float | None,
    ids: Sequence[str],
    notes: list[str],
    kept: bool,
) -> tuple[Fusion, bool]:
    """The hybrid, and whether its weight was given or tuned rather than the one that search has anyway."""
    usual = default_weight(index)
    words, vectors = IndexRanker(index, "bm25", passages=True), IndexRanker(index, "dense", passages=True)
    fusion = Fusion(words, vectors, usual if weight is None else weight, reduce=index.best_passages)
    if weight is not None:
        return fusion, True
    if learned is None or not learned.queries:
        notes.append(f"the weight of the vectors is {usual:g}: without training queries it is not tuned")
        return fusion, False
    queries, qrels = learned.queries, learned.qrels
    if _trained_on_queries(index):
        queries, qrels = learned.held_out, learned.held_out_qrels
    try:
        tuned = tune(fusion, queries, qrels, ids, scales=("range",))
    except DataError as error:
        notes.append(f"the weight of the vectors is {usual:g}: {error}")
        return fusion, False
    advice = "" if kept else f"; search with it: --weight {tuned.fusion.weight:.2f}, or keep it: --keep-weight"
    notes.append(f"{tuned}{advice}")
    return tuned.fusion, True


def _keep(index: Index, hybrid: Fusion, chosen: bool, notes: list[str]) -> None:
    if not chosen:
        raise UsageError(
            f"no weight can be kept: {notes[-1].rstrip('.')}. Give training queries to tune it, or a --weight."
        )
    index.directory.keep_weight(hybrid.weight)
    index.facts["weight"] = hybrid.weight
    notes.append(f"'{index.path}' keeps the weight {hybrid.weight:.3g}: search uses it from now on")


def _add_static_hybrid(
    rankers: dict[str, Ranker], learned: TrainingQueries, ids: Sequence[str], notes: list[str]
) -> None:
    """What a hybrid is worth that needs no training. Its vectors know no query, so it is tuned on all of them."""
    try:
        tuned = tune(Fusion(rankers[WORDS], rankers[STATIC]), learned.queries, learned.qrels, ids)
    except DataError as error:
        notes.append(f"no hybrid of words and static vectors: {error}")
        return
    rankers[STATIC_HYBRID] = tuned.fusion
    notes.append(f"{STATIC_HYBRID}: {tuned}")


def _trained_on_queries(index: Index) -> bool:
    """Whether the model may have learned given queries: then only those that it validated on tell what it is worth."""
    task = index.embedder.run.settings.task
    pairs = task.settings.option("pairs", None)
    return task.name == "embed" and (not pairs or "given" in pairs)


def _baselines(documents: Sequence[Document], learned: TrainingQueries | None) -> dict[str, Ranker]:
    rankers: dict[str, Ranker] = {STATIC: StaticVectors.fit(documents), "TF-IDF + LSA": Lsa.fit(documents)}
    if learned and learned.queries:
        rankers["nearest training query"] = NearestQuery.fit(documents, learned.queries, learned.qrels)
        rankers["BM25 + training queries"] = AppendedQueries.fit(documents, learned.queries, learned.qrels)
    return rankers
