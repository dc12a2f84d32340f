"""Data of retrieval in splits: documents, pairs to train on, and held-out queries with their relevant documents.

A training pair is an anchor and a document that belongs to it, either given (a query and a relevant document) or made
from one document: its title and body, two neighboring passages, two spans, or the text and itself under two dropout
masks. open_pairs.py reads all of it from collections, documents and tables.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from itertools import chain
from typing import Any, Literal

import numpy as np

from seqlab.data.documents.document import Document, relevant_documents
from seqlab.data.examples.example import Examples
from seqlab.errors import DataError
from seqlab.wording import counted, split_in_words

PairKind = Literal["given", "title", "neighbors", "spans", "twins"]
PAIR_KINDS: tuple[PairKind, ...] = ("given", "title", "neighbors", "spans", "twins")
QUERY_WORDS = 12  # of a query that is made from the beginning of a document without a title
MIN_DOCUMENTS = 10  # so that every split gets some


@dataclass(frozen=True)
class TrainingPair:
    """`text` is the anchor of a given pair or a title; other anchors are drawn from the document, anew each time."""

    kind: PairKind
    document: str  # its id
    text: str = ""

    @property
    def input(self) -> str:
        return self.text


@dataclass(frozen=True)
class JudgedQuery:
    """A query of a held-out split, and the relevance of documents by id."""

    id: str
    text: str
    judgments: tuple[tuple[str, int], ...]

    @property
    def input(self) -> str:
        return self.text

    @property
    def relevance(self) -> dict[str, int]:
        return dict(self.judgments)

    @property
    def relevant(self) -> list[str]:
        return relevant_documents(self.relevance)


@dataclass(frozen=True)
class RetrievalExamples(Examples):
    """`train` holds training pairs, the other splits judged queries."""

    splits: Mapping[str, Sequence[Any]]  # pyright: ignore[reportIncompatibleVariableOverride]
    documents: Mapping[str, Sequence[Document]] = field(default_factory=dict)  # by split: what its queries rank
    unanswered: Mapping[str, int] = field(default_factory=dict)  # by split: queries none of whose documents is there

    @property
    def all_documents(self) -> Iterator[Document]:
        """Of all splits; those that several splits rank come once."""
        return chain.from_iterable({id(documents): documents for documents in self.documents.values()}.values())

    def facts(self) -> dict[str, Any]:
        characters = sum(len(document.with_title) for document in self.all_documents)
        ranked = {split: len(documents) for split, documents in self.documents.items()}
        return {**super().facts(), "characters": characters, "documents": ranked}

    def characters_of(self, split: str) -> int:
        """Of the documents that the queries of one split rank."""
        return sum(len(document.with_title) for document in self.documents[split])

    def seen(self, split: str) -> np.ndarray:
        """Whether a relevant document of each query is one of a given training pair, or of a validation query."""
        learned = [[pair.document] for pair in self.splits.get("train", ()) if pair.kind == "given"]
        if split == "test":
            learned += [query.relevant for query in self.splits["validation"]]
        return seen_queries((query.relevant for query in self.splits[split]), learned)

    def content(self, split: str) -> Iterator[tuple[Any, ...]]:
        yield from super().content(split)
        for document in self.documents[split]:
            yield astuple(document)


@dataclass(frozen=True)
class Texts:
    """What a split is made of, before it is known which pairs to train on."""

    documents: Sequence[Document]
    queries: Sequence[JudgedQuery]
    unasked: int = 0  # documents that should give a query each, and are too short
    unanswered: int = 0  # queries that are left out, since no relevant document is there


def choose_kinds(kinds: Sequence[PairKind], train: Texts) -> tuple[PairKind, ...]:
    """The kinds of pairs to train on; if none is named, those that the data gives: queries and titles, else spans."""
    titled = sum(_has_body(document) for document in train.documents)
    if kinds:
        lacking = {"given": not train.queries, "title": not titled}
        for kind in kinds:
            if lacking.get(kind):
                what = "queries with relevant documents" if kind == "given" else "documents with a title and a text"
                others = ", ".join(other for other in PAIR_KINDS if not lacking.get(other))
                raise DataError(f"task.pairs={kind} needs {what}, and the training data has none. Choose of {others}.")
        return tuple(dict.fromkeys(kinds))
    found: dict[PairKind, int] = {"given": len(train.queries), "title": titled}
    return tuple(kind for kind, count in found.items() if count) or ("spans",)


def training_pairs(kinds: Sequence[PairKind], train: Texts) -> list[TrainingPair]:
    """Every given pair, and for every other kind one pair of each document that can give it."""
    pairs: list[TrainingPair] = []
    for kind in kinds:
        if kind == "given":
            known = {document.id for document in train.documents}
            pairs += [
                TrainingPair("given", document, query.text)
                for query in train.queries
                for document in query.relevant
                if document in known
            ]
        elif kind == "title":
            pairs += [TrainingPair("title", one.id, one.title) for one in train.documents if _has_body(one)]
        else:
            pairs += [TrainingPair(kind, one.id) for one in train.documents]
    return pairs


def count_kinds(pairs: Sequence[TrainingPair]) -> str:
    """Such as '919 given, 5,183 title'."""
    counts = {kind: sum(pair.kind == kind for pair in pairs) for kind in PAIR_KINDS}
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)


def retrieval_examples(
    name: str, splits: Mapping[str, Texts], kinds: Sequence[PairKind], rule: str, notes: Sequence[str] = ()
) -> RetrievalExamples:
    """The examples of texts in splits; `whole` instead of `train` if they are only scored."""
    ready: dict[str, Sequence[Any]] = {split: texts.queries for split, texts in splits.items()}
    said = list(notes)
    if "train" in splits:
        chosen = choose_kinds(kinds, splits["train"])
        ready["train"] = training_pairs(chosen, splits["train"])
        given = "" if kinds else " (task.pairs names other kinds)"
        said.append(f"training pairs: {count_kinds(ready['train'])}{given}")
        said += _unpaired_note(chosen, splits["train"], ready["train"])
    said += [_unasked_note(split, texts) for split, texts in splits.items() if texts.unasked]
    for split, examples in ready.items():
        if not examples:
            what = "pair to train on" if split == "train" else f"query with a relevant document to score, in {split}"
            raise DataError(f"'{name}' has no {what}: give more documents, or queries with judgments.")
    documents = {split: texts.documents for split, texts in splits.items()}
    unanswered = {split: texts.unanswered for split, texts in splits.items()}
    return RetrievalExamples(name, ready, rule, notes=tuple(said), documents=documents, unanswered=unanswered)


def _unpaired_note(kinds: Sequence[PairKind], train: Texts, pairs: Sequence[TrainingPair]) -> list[str]:
    """How many documents are not trained on where others are by their titles."""
    paired = {pair.document for pair in pairs}
    unpaired = sum(document.id not in paired for document in train.documents)
    if "title" not in kinds or not unpaired:
        return []
    give = "gives" if unpaired == 1 else "give"
    return [
        f"{unpaired:,} of {counted(len(train.documents), 'training document')} {give} no training pair, for lack of a "
        f"title or a text: --set task.pairs={','.join((*kinds, 'spans'))} trains on all"
    ]


def _unasked_note(split: str, texts: Texts) -> str:
    amount = f"{texts.unasked:,} of {counted(len(texts.documents), f'{split_in_words(split)} document')}"
    give, are = ("gives", "it is") if texts.unasked == 1 else ("give", "they are")
    return f"{amount} {give} no query, with neither a title and a text nor {QUERY_WORDS + 1} words: {are} only ranked"


# --- documents without queries ----------------------------------------------------------------------------------------


def known_items(documents: Sequence[Document]) -> Texts:
    """Each document asked for by its title or, without one, by its first words, which it then lacks."""
    bodies, queries = [], []
    for document in documents:
        query, body = _known_item(document)
        bodies.append(body)
        if query:
            queries.append(JudgedQuery(document.id, query, ((document.id, 1),)))
    return Texts(bodies, queries, unasked=len(bodies) - len(queries))


def split_documents(documents: Sequence[Document], ends: Mapping[str, int]) -> dict[str, list[Document]]:
    """By a hash of their text, so that equal texts stay together; `ends`: where each split ends, in percent."""
    if len(documents) < MIN_DOCUMENTS:
        raise DataError(
            f"{counted(len(documents), 'document')} cannot be split: training needs at least {MIN_DOCUMENTS}."
        )
    places = [_place(document.with_title) for document in documents]
    order = sorted(places)
    starts: dict[str, str] = {}
    first = 0
    for split, end in ends.items():
        starts[split] = order[first]
        first = min(len(documents) - 1, len(documents) * end // 100)
    splits: dict[str, list[Document]] = {split: [] for split in ends}
    for document, place in zip(documents, places, strict=True):
        splits[max((start, split) for split, start in starts.items() if start <= place)[1]].append(document)
    return splits


def _place(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _has_body(document: Document) -> bool:
    return bool(document.title.strip() and document.text.strip())


def _known_item(document: Document) -> tuple[str, Document]:
    if _has_body(document):
        return document.title, Document(document.id, document.text)
    words = document.with_title.split(None, QUERY_WORDS)
    if len(words) <= QUERY_WORDS:
        return "", document
    return " ".join(words[:QUERY_WORDS]), Document(document.id, words[QUERY_WORDS])


def seen_queries(asked: Iterable[Iterable[str]], learned: Iterable[Iterable[str]]) -> np.ndarray:
    """Whether a relevant document of each query that is asked is relevant for a learned query, too (Q).

    asked and learned: the relevant documents of each query."""
    known = {document for relevant in learned for document in relevant}
    return np.array([not known.isdisjoint(relevant) for relevant in asked], bool)
