"""A collection: documents, queries, and which documents answer which query, in splits.

The files are those of BEIR: `corpus.jsonl` and `queries.jsonl` with an object per line, and in `qrels/` a table for
each split, whose columns are query, document and relevance (qrels.py). Each may be gzipped.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from seqlab.data.documents.document import Document, Qrels, Query
from seqlab.data.documents.fixes import DocumentFixes
from seqlab.data.documents.qrels import read_qrels
from seqlab.data.documents.read import read_documents
from seqlab.data.documents.rows import FIELDS
from seqlab.data.examples.lines import TEXT_TABLES, quote_list
from seqlab.data.examples.lines import suffix as suffix_of
from seqlab.data.file_names import first_names, shorten
from seqlab.data.files import existing_path
from seqlab.data.split_files import SPLIT_WORDS
from seqlab.errors import DataError, MissingInput, UsageError
from seqlab.wording import counted

SPLIT_FILES = {"train": "train", "validation": "dev", "test": "test"}  # split -> name of its file in qrels/
QUERY_FIELDS = {  # the names of their columns, the first that a file has; a title is no part of a query
    "id": ("query_id", "qid", *FIELDS["id"]),
    "text": ("query", "question", *FIELDS["text"]),
}
LAYOUT = "corpus.jsonl, queries.jsonl and qrels/ with train.tsv, dev.tsv or test.tsv (the layout of BEIR)"


@dataclass(frozen=True)
class Collection:
    """Documents, and for each split its queries and their judgments."""

    name: str
    documents: Sequence[Document]
    queries: Mapping[str, Sequence[Query]]  # by split
    qrels: Mapping[str, Qrels]  # by split
    about: str = ""
    notes: tuple[str, ...] = ()  # for the log

    @cached_property
    def ids(self) -> list[str]:
        """Of the documents."""
        return [document.id for document in self.documents]

    def facts(self) -> dict[str, Any]:
        """Sizes and fingerprint, for config.json."""
        return {
            "characters": sum(len(document.title) + len(document.text) for document in self.documents),
            "fingerprint": self.fingerprint,
            "documents": len(self.documents),
            "queries": {split: len(queries) for split, queries in self.queries.items()},
            "notes": list(self.notes),
        }

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all documents, queries and judgments."""
        digest = hashlib.sha256()
        rows: list[list[Any]] = [[document.id, document.title, document.text] for document in self.documents]
        for split, queries in self.queries.items():
            rows += [[split, query.id, query.text, self.qrels[split][query.id]] for query in queries]
        for row in rows:
            digest.update(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        return digest.hexdigest()


def read_collection(folder: str | Path) -> Collection:
    """The collection of a folder; `notes` says what does not fit together."""
    found = existing_path(str(folder))
    if found is None or not found.is_dir():
        raise MissingInput(f"there is no folder '{shorten(str(folder))}': expected one with {LAYOUT}.")
    files, unread = _judgment_files(found)
    corpus, asked = _file(found, "corpus.jsonl"), _file(found, "queries.jsonl")
    if corpus is None or asked is None or not files:
        lacking = {"corpus.jsonl": corpus, "queries.jsonl": asked, "table of judgments in qrels/": files}
        missing = " and ".join(name for name, path in lacking.items() if not path)
        raise MissingInput(f"'{found}' has no {missing}: expected {LAYOUT}.")

    fixes = DocumentFixes()
    documents = list(read_documents([corpus], fixes))
    queries = read_queries(asked, fixes)
    judged = {split: read_qrels(path, fixes) for split, path in files.items()}
    notes = fixes.notes()
    if unread:
        notes.append(f"not read in the judgments of {found}: {first_names(unread)}")
    known = {document.id for document in documents}
    by_split: dict[str, Sequence[Query]] = {}
    for split, qrels in judged.items():
        by_split[split], said = match_queries(queries, qrels, known, str(files[split]), scored=False)
        notes += said
    named = {query for qrels in judged.values() for query in qrels}
    if unjudged := sum(query.id not in named for query in queries):
        notes.append(f"{counted(unjudged, 'query', 'queries')} of {asked.name} without a judgment: not used")
    qrels = {split: {query.id: judged[split][query.id] for query in by_split[split]} for split in by_split}
    return Collection(found.resolve().name, documents, by_split, qrels, notes=tuple(notes))


def scifact(difficulty: int | None = None) -> Collection:
    """Scientific claims and the abstracts that support or refute them (Wadden et al. 2020), found in SEQLAB_DATA."""
    if difficulty is not None:
        raise UsageError("'scifact' has no difficulty to set: leave out corpus.difficulty.")
    folder = Path(os.environ.get("SEQLAB_DATA") or "nowhere") / "scifact"
    if not folder.is_dir():
        raise MissingInput(f"'scifact' is not available: set SEQLAB_DATA to a folder in which scifact/ has {LAYOUT}.")
    about = "scientific claims and the abstracts that support or refute them (Wadden et al. 2020)"
    return replace(read_collection(folder), name="scifact", about=about)


def match_queries(
    queries: Sequence[Query], qrels: Qrels, documents: Iterable[str], where: str, scored: bool = True
) -> tuple[list[Query], list[str]]:
    """The queries that are judged, in their order, and notes on judgments of unknown queries or documents.

    A relevant document that does not exist stays in the judgments: it counts as not found, as in trec_eval. What that
    means for scores is said where they are `scored`: a run leaves out queries that an index counts."""
    judged = [query for query in queries if query.id in qrels]
    if not judged:
        example = quote_list([*qrels], 3)
        raise DataError(f"'{where}' judges no query that is given: it names {example}. Do the ids of both files agree?")
    notes = []
    if unknown := [*{*qrels} - {query.id for query in judged}]:
        notes.append(
            f"{where}: judgments of {counted(len(unknown), 'unknown query', 'unknown queries')} "
            f"({quote_list(sorted(unknown), 3)}), left out"
        )
    known = {*documents}
    relevant = [[name for name, relevance in qrels[query.id].items() if relevance > 0] for query in judged]
    missing = [name for names in relevant for name in names if name not in known]
    if missing and len(missing) == sum(map(len, relevant)):
        raise DataError(
            f"'{where}': no document that is judged relevant exists. It names {quote_list(missing, 3)}, the documents "
            f"are {quote_list(sorted(known), 3)}. Do the ids of both files agree?"
        )
    if missing:
        notes.append(
            f"{where}: relevant documents that do not exist: {len(missing):,} ({quote_list(missing, 3)})"
            f"{'; they count as not found' if scored else ''}"
        )
    if hopeless := sum(not names for names in relevant):
        empty = counted(hopeless, "query", "queries")
        notes.append(f"{where}: {empty} without a relevant document{': every ranking scores 0' if scored else ''}")
    return judged, notes


def read_queries(path: str | Path, fixes: DocumentFixes | None = None) -> list[Query]:
    """The queries of JSON lines or of a table, by the first known names of an id and a text."""
    found = existing_path(str(path))
    if found is not None and (found.is_dir() or suffix_of(found) not in TEXT_TABLES):
        raise DataError(f"'{path}' is no table of queries: expected {', '.join(TEXT_TABLES)} with an id and a query.")
    own = DocumentFixes(
        unit=("query", "queries"),
        to_name_text="Rename the column of the queries to text.",
        known_columns=QUERY_FIELDS,
        layout_columns=("metadata", "split"),  # the judgments have the splits
    )
    own.skip_limit = own.skip_limit if fixes is None else fixes.skip_limit
    queries = [Query(document.id, document.text) for document in read_documents([path], own)]
    if fixes is not None:  # equal texts matter where documents are searched, not in queries
        fixes.remarks += replace(own, equal=0).notes()
    return queries


def _judgment_files(folder: Path) -> tuple[dict[str, Path], list[str]]:
    """The table of each split, and the files beside them: BEIR's name comes first, then others of the split."""
    there = sorted(path for path in folder.glob("qrels/*") if path.is_file() and not path.name.startswith("."))
    by_name = {path.name.lower(): path for path in there}
    files: dict[str, Path] = {}
    for split, usual in SPLIT_FILES.items():
        words = [usual, *(word for word, meaning in SPLIT_WORDS.items() if meaning == split)]
        names = [f"{word}.tsv{packed}" for word in words for packed in ("", ".gz")]
        if found := next((by_name[name] for name in names if name in by_name), None):
            files[split] = found
    return files, [str(path) for path in there if path not in files.values()]


def _file(folder: Path, name: str) -> Path | None:
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)
