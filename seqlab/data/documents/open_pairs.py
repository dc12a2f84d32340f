"""Where the data of retrieval comes from: a collection with queries, documents alone, or a table of pairs."""

import csv
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from seqlab.config import CorpusSettings
from seqlab.data.builtin_names import shadow_notes
from seqlab.data.documents.collection import Collection, read_collection
from seqlab.data.documents.collection_layout import is_collection
from seqlab.data.documents.document import Document
from seqlab.data.documents.fixes import DocumentFixes
from seqlab.data.documents.folds import with_validation
from seqlab.data.documents.pairs import (
    JudgedQuery,
    PairKind,
    RetrievalExamples,
    Texts,
    known_items,
    retrieval_examples,
    split_documents,
)
from seqlab.data.documents.read import read_documents
from seqlab.data.examples.columns import ColumnPair, known_columns
from seqlab.data.examples.example import Examples, TextPair
from seqlab.data.examples.lines import TABLES, suffix
from seqlab.data.examples.load import open_examples
from seqlab.data.examples.load import open_unsplit as open_unsplit_examples
from seqlab.data.examples.table_sample import sample_table
from seqlab.data.files import STANDARD_INPUT, existing_path
from seqlab.data.text.split import SPLIT_ENDS
from seqlab.errors import DataError, SeqlabError, UsageError
from seqlab.registry import CORPORA
from seqlab.wording import counted

QUERIES = ColumnPair(
    ("query", "question", "anchor", "claim", "source"),
    ("document", "passage", "positive", "answer", "text", "target"),
)

RENAME_TEXT = "Rename the column of the texts to text."
NAME_PAIRS = 'If a table has queries and their documents, name both: --set \'corpus.columns=["QUERY", "DOCUMENT"]\''


def open_retrieval(corpus: CorpusSettings, kinds: Sequence[PairKind]) -> RetrievalExamples:
    """The data in splits. `kinds`: the pairs to train on, () for auto."""
    if (collection := _collection(corpus)) is not None:
        if corpus.validation or corpus.test:
            raise UsageError(
                f"'{collection.name}' is a collection, with splits of its own: leave out --validation and --test."
            )
        return _from_collection(collection, kinds)
    if columns := _pair_columns(corpus):
        return _from_pairs(open_examples("pairs", corpus.model_copy(update={"columns": columns})), kinds)
    return _from_documents(corpus, kinds)


def open_unsplit(corpus: CorpusSettings) -> RetrievalExamples:
    """All queries of the source, to be scored; those of documents alone are made from them."""
    if (collection := _collection(corpus)) is not None:
        queries = [query for split in collection.queries for query in _judged(collection, split)]
        unanswered = sum(map(len, collection.queries.values())) - len(queries)
        texts = Texts(collection.documents, queries, unanswered=unanswered)
        return retrieval_examples(collection.name, {"whole": texts}, (), "all of it", collection.notes)
    if columns := _pair_columns(corpus):
        return _from_pairs(open_unsplit_examples("pairs", corpus.model_copy(update={"columns": columns})), ())
    fixes = DocumentFixes(skip_limit=corpus.skip_limit, to_name_text=RENAME_TEXT)
    texts = known_items(list(read_documents(corpus.source, fixes)))
    return retrieval_examples(_name(corpus.source), {"whole": texts}, (), "all of it", fixes.notes())


def documents_to_name(corpus: CorpusSettings, default: str = "notes/") -> str:
    """The source as a command line names it, if it is there and `seqlab embed` reads it: of a table of pairs, the
    documents."""
    with suppress(SeqlabError):
        paths = [existing_path(item) for item in corpus.source]
        if (columns := _pair_columns(corpus)) is None:
            there = all(item in CORPORA or path for item, path in zip(corpus.source, paths, strict=True))
            return shlex.join(corpus.source) if there else default
        if all(path is not None and path.is_file() for path in paths):
            return shlex.join([*corpus.source, "--column", f"text={columns[1]}"])
    return default


# --- a collection -----------------------------------------------------------------------------------------------------


def open_collection(item: str, difficulty: int | None = None) -> Collection | None:
    """The collection of this name: a built-in one, or a folder in the layout of BEIR; None for other sources."""
    if item in CORPORA:
        # a text is not even opened, since that may download it
        collection = CORPORA.load(item)(difficulty) if "task.name" in CORPORA.default_overrides(item) else None
        if not isinstance(collection, Collection):
            raise DataError(f"'{item}' is no collection of documents: see seqlab list corpora.")
        return replace(collection, notes=(*collection.notes, *shadow_notes(item)))
    return read_collection(item) if is_collection([item]) else None


def _collection(corpus: CorpusSettings) -> Collection | None:
    return open_collection(corpus.source[0], corpus.difficulty) if len(corpus.source) == 1 else None


def _from_collection(collection: Collection, kinds: Sequence[PairKind]) -> RetrievalExamples:
    """Its own splits. Without queries for validation, some of those for training are held out; without any of both,
    documents are, which are then asked for by their titles."""
    given = " and ".join(split for split, queries in collection.queries.items() if queries)
    collection, own = with_validation(collection), "validation" in collection.queries
    judged = {split: _judged(collection, split) for split in collection.queries}
    documents = collection.documents
    lost = {split: len(queries) - len(judged[split]) for split, queries in collection.queries.items()}
    splits = {split: Texts(documents, queries, unanswered=lost[split]) for split, queries in judged.items() if queries}
    rule = f"{given} from the collection"
    if "validation" in splits and not own:
        rule += "; validation is a tenth of the training queries, with relevant documents of their own"
    elif "validation" not in splits:
        parts = split_documents(documents, SPLIT_ENDS["90/10"])
        splits |= {"train": Texts(parts["train"], ()), "validation": known_items(parts["validation"])}
        rule += "; validation is a tenth of the documents by a hash, asked for by their titles"
    elif "train" not in splits:
        splits["train"] = Texts(documents, ())
    ordered = {split: splits[split] for split in ("train", "validation", "test") if split in splits}
    found = retrieval_examples(collection.name, ordered, kinds, rule, collection.notes)
    return replace(found, about=collection.about)


def _judged(collection: Collection, split: str) -> list[JudgedQuery]:
    """The queries of a split that have a relevant document in the collection."""
    known = {document.id for document in collection.documents}
    qrels = collection.qrels[split]
    judged = [
        JudgedQuery(query.id, query.text, tuple(sorted(qrels.get(query.id, {}).items())))
        for query in collection.queries[split]
    ]
    return [query for query in judged if not known.isdisjoint(query.relevant)]


# --- documents, and pairs ---------------------------------------------------------------------------------------------


def _from_documents(corpus: CorpusSettings, kinds: Sequence[PairKind]) -> RetrievalExamples:
    if STANDARD_INPUT in corpus.source:
        raise UsageError("documents cannot be read from standard input, '-': name files or a folder.")
    fixes = DocumentFixes(skip_limit=corpus.skip_limit, to_name_text=f"{RENAME_TEXT} {NAME_PAIRS}")
    given = {"train": corpus.source, "validation": corpus.validation, "test": corpus.test}
    read = {split: list(read_documents(source, fixes)) for split, source in given.items() if source}
    rule = f"{' and '.join(split for split in read if split != 'train')} from files"
    if "validation" not in read:
        ratios = "90/10" if "test" in read else corpus.split_ratios
        own = f"{ratios} by a hash of the text"
        rule = f"{rule}; validation {own}" if "test" in read else own
        read = split_documents(read["train"], SPLIT_ENDS[ratios]) | {
            name: read[name] for name in read if name == "test"
        }
    rule += "; held-out documents are asked for by their titles or first words, which they then lack"
    texts = {split: Texts(some, ()) if split == "train" else known_items(some) for split, some in read.items()}
    return retrieval_examples(_name(corpus.source), texts, kinds, rule, fixes.notes())


def _pair_columns(corpus: CorpusSettings) -> tuple[str, str] | None:
    """The columns of query and document, if the source is a table of pairs."""
    path = existing_path(corpus.source[0])
    if path is None or not path.is_file() or suffix(path) not in TABLES:
        return None
    try:
        return corpus.columns or known_columns(sample_table(path).names, QUERIES)
    except (ValueError, RecursionError, csv.Error):
        return None  # reading its documents says what is wrong


def _from_pairs(examples: Examples, kinds: Sequence[PairKind]) -> RetrievalExamples:
    """A query of a split ranks the documents of that split; equal queries have several relevant documents."""
    splits: dict[str, Texts] = {}
    for split, rows in examples.splits.items():
        pairs = [pair for pair in rows if isinstance(pair, TextPair)]
        documents = {pair.target: f"{split}-{row}" for row, pair in enumerate(pairs)}
        relevant: dict[str, dict[str, int]] = {}
        for pair in pairs:
            relevant.setdefault(pair.source, {})[documents[pair.target]] = 1
        queries = [
            JudgedQuery(f"q{row}", text, tuple(judgments.items()))
            for row, (text, judgments) in enumerate(relevant.items())
        ]
        splits[split] = Texts([Document(name, text) for text, name in documents.items()], queries)
    count = sum(len(texts.documents) for texts in splits.values())
    found = retrieval_examples(examples.name, splits, kinds, examples.rule, examples.notes)
    return replace(found, about=f"pairs of a query and one of {counted(count, 'document')}")


def _name(source: Sequence[str]) -> str:
    return Path(source[0]).resolve().name.split(".")[0]
