"""Judged queries for an index: from files in the layout of BEIR, or from a collection by its folder or name."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from seqlab.data.documents.collection import Collection, match_queries, read_queries
from seqlab.data.documents.document import Qrels, Query
from seqlab.data.documents.fixes import DocumentFixes
from seqlab.data.documents.folds import held_out_queries, with_validation
from seqlab.data.documents.open_pairs import open_collection
from seqlab.data.documents.qrels import read_qrels
from seqlab.data.examples.lines import quote_list
from seqlab.data.files import InputFixes
from seqlab.errors import UsageError, refuse_given
from seqlab.wording import counted

BESIDE = "train.tsv"  # judgments of training queries, beside those of the queries
UNKNOWN_TRAINING = (
    "without judgments of training queries it is unknown which queries ask for documents that were trained on"
)


@dataclass(frozen=True)
class TrainingQueries:
    """Judgments of training queries, and the queries themselves as far as they are given.

    held_out: those that a model does not learn which is trained on the same queries, with their judgments."""

    qrels: Qrels
    queries: Sequence[Query]
    held_out: Sequence[Query]
    held_out_qrels: Qrels


@dataclass(frozen=True)
class JudgedQueries:
    """What an index is asked, what is right, and what was known in training."""

    queries: Sequence[Query]
    qrels: Qrels
    training: TrainingQueries | None
    notes: list[str]


def open_judged(
    queries: str | Path, qrels: str | Path | None, training: str | Path | None, ids: Sequence[str]
) -> JudgedQueries:
    """Queries and judgments in files, or of a collection: then `qrels` is a split, by default test."""
    collection = open_collection(str(queries))
    if collection is not None:
        refuse_given({"--training": training}, "for a collection, which has training queries of its own")
        return _from_collection(collection, "test" if qrels is None else str(qrels), ids)
    if qrels is None:
        raise UsageError(f"'{queries}' are queries: name the documents that answer them, too: --qrels FILE")
    fixes = DocumentFixes()
    asked, judged = read_queries(queries, fixes), read_qrels(qrels, fixes)
    kept, said = match_queries(asked, judged, ids, str(qrels))
    notes = [*fixes.notes(), *said]
    learned = _training(Path(qrels), training, asked, notes)
    known = {*judged, *(learned.qrels if learned else ())}
    if unjudged := [query.id for query in asked if query.id not in known]:
        number = counted(len(unjudged), "query", "queries")
        notes.append(f"{number} without judgments in {Path(qrels).name}, not asked: {quote_list(unjudged, 3)}")
    return JudgedQueries(kept, judged, learned, notes)


def _from_collection(collection: Collection, split: str, ids: Sequence[str]) -> JudgedQueries:
    if split not in collection.queries:
        splits = ", ".join(collection.queries)
        raise UsageError(f"'{collection.name}' has no queries to {split}: expected --qrels of {splits}.")
    kept, said = match_queries(collection.queries[split], collection.qrels[split], ids, collection.name)
    notes = [*collection.notes, *said]
    if split == "train" or "train" not in collection.queries:
        return JudgedQueries(kept, collection.qrels[split], None, [*notes, UNKNOWN_TRAINING])
    held_out = with_validation(collection)
    training = TrainingQueries(
        collection.qrels["train"],
        collection.queries["train"],
        held_out.queries["validation"],
        held_out.qrels["validation"],
    )
    return JudgedQueries(kept, collection.qrels[split], training, notes)


def _training(
    qrels: Path, given: str | Path | None, asked: Sequence[Query], notes: list[str]
) -> TrainingQueries | None:
    """Judgments that were given, or that are beside those of the queries."""
    beside = qrels.with_name(BESIDE)
    path = Path(given) if given is not None else beside
    if given is None and (not beside.is_file() or beside.samefile(qrels)):
        notes.append(UNKNOWN_TRAINING)
        return None
    if path.exists() and path.samefile(qrels):
        raise UsageError(f"'{path}' has the judgments to score, and was given as those of training queries, too.")
    fixes = InputFixes()
    learned = read_qrels(path, fixes)
    notes += fixes.notes()
    if given is None:
        notes.append(f"training queries are those of {path}, found beside the judgments")
    queries = [query for query in asked if query.id in learned]
    if len(queries) < len(learned):
        missing = counted(len(learned) - len(queries), "training query", "training queries")
        notes.append(f"{missing} of {path.name} without a text among the queries: neither tuned on nor remembered")
    known = {query.id: learned[query.id] for query in queries}
    held_out = held_out_queries(known) if known else set[str]()
    return TrainingQueries(learned, queries, [query for query in queries if query.id in held_out], known)
