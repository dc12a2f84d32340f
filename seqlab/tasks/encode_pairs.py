"""Retrieval data as ids: documents, training pairs and held-out queries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from seqlab.data.documents.document import Document
from seqlab.data.documents.encoded import DocumentTable, PairSplit
from seqlab.data.documents.pairs import JudgedQuery, PairKind, RetrievalExamples, TrainingPair
from seqlab.tasks.examples import encode_all
from seqlab.tokenization.tokenizer import Tokenizer


class Keys(dict[str, int]):
    """A number for each text, equal for equal texts."""

    def __missing__(self, text: str) -> int:
        self[text] = len(self)
        return self[text]


def training_texts(data: RetrievalExamples) -> Iterator[str]:
    """What a tokenizer is trained on: the documents of the training split, and the queries of given pairs."""
    yield from (document.with_title for document in data.documents["train"])
    yield from dict.fromkeys(pair.text for pair in data.splits["train"] if pair.kind == "given")


def encode_documents(documents: Sequence[Document], tokenizer: Tokenizer) -> DocumentTable:
    keys = Keys()
    texts = encode_all(tokenizer, (document.with_title for document in documents))
    return DocumentTable([one.id for one in documents], texts, [keys[one.with_title] for one in documents])


def encode_pairs(
    pairs: Sequence[TrainingPair],
    documents: Sequence[Document],
    table: DocumentTable,
    tokenizer: Tokenizer,
    longest: int,
) -> PairSplit:
    """Training pairs; those with a side that has no token are left out."""
    rows = [table.rows[pair.document] for pair in pairs]
    titled = sorted({row for pair, row in zip(pairs, rows, strict=True) if pair.kind == "title"})
    bodies = dict(zip(titled, encode_all(tokenizer, (documents[row].text for row in titled)), strict=True))
    texts = list(dict.fromkeys(pair.text for pair in pairs if pair.text))
    anchors = dict(zip(texts, encode_all(tokenizer, texts), strict=True))
    inputs = [anchors[pair.text] if pair.text else table.texts[row] for pair, row in zip(pairs, rows, strict=True)]
    targets = [bodies[row] if pair.kind == "title" else table.texts[row] for pair, row in zip(pairs, rows, strict=True)]
    keys = Keys()
    # an anchor that is drawn from a document is as good as the document
    numbers = [keys[pair.text] if pair.text else -1 - table.keys[row] for pair, row in zip(pairs, rows, strict=True)]
    relevant: dict[int, set[int]] = {}
    for number, row in zip(numbers, rows, strict=True):
        relevant.setdefault(number, set()).add(table.keys[row])
    kept = [at for at in range(len(pairs)) if len(inputs[at]) and len(targets[at])]
    return PairSplit(
        [pairs[at] for at in kept],
        [inputs[at] for at in kept],
        [targets[at] for at in kept],
        table=table,
        kinds=[pairs[at].kind for at in kept],
        anchors=[numbers[at] for at in kept],
        rows=[rows[at] for at in kept],
        relevant=[frozenset(relevant[numbers[at]]) for at in kept],
        longest=longest,
    )


def encode_queries(
    queries: Sequence[JudgedQuery],
    documents: Sequence[Document],
    table: DocumentTable,
    tokenizer: Tokenizer,
    longest: int,
    seen_N: np.ndarray,
) -> PairSplit:
    """Held-out queries; the target of each is its first relevant document."""
    keys = Keys()
    kinds: list[PairKind] = ["given"] * len(queries)
    relevant = [[table.rows[name] for name in query.relevant if name in table.rows] for query in queries]
    first = [rows[0] for rows in relevant]
    inputs: list[np.ndarray] = encode_all(tokenizer, (query.text for query in queries))
    return PairSplit(
        queries,
        inputs,
        [table.texts[row] for row in first],
        table=table,
        kinds=kinds,
        anchors=[keys[query.text] for query in queries],
        rows=first,
        relevant=[frozenset(table.keys[row] for row in rows) for rows in relevant],
        longest=longest,
        seen_N=seen_N,
    )


def without_answers(splits: Mapping[str, PairSplit], data: RetrievalExamples) -> dict[str, PairSplit]:
    """The splits, which say how many queries are left out, since no relevant document is there."""
    return {name: replace(split, unanswered=data.unanswered.get(name, 0)) for name, split in splits.items()}
