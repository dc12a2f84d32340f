"""Queries in parts that share no relevant document: what is learned from one part cannot be remembered in another."""

import hashlib
from dataclasses import replace

from seqlab.data.documents.collection import Collection
from seqlab.data.documents.document import Qrels
from seqlab.wording import counted

VALIDATION_PARTS = 10  # one of them is held out of the training queries


def document_folds(qrels: Qrels, folds: int) -> list[list[str]]:
    """The query ids in `folds` parts of nearly equal size, or in fewer if too many queries share documents.

    Queries that share a relevant document, directly or by others, stay together. The order of the file plays no role.
    """
    groups = sorted(_groups(qrels), key=lambda group: (-len(group), _hash(min(group))))
    parts: list[list[str]] = [[] for _ in range(folds)]
    for group in groups:
        min(parts, key=len).extend(group)  # of equal ones the first
    places = {query: place for place, query in enumerate(qrels)}
    return [sorted(part, key=places.__getitem__) for part in parts if part]


def with_validation(collection: Collection) -> Collection:
    """The collection with a validation split; without one, a tenth of the training queries is held out."""
    if "validation" in collection.queries or "train" not in collection.queries:
        return collection
    queries, qrels = collection.queries["train"], collection.qrels["train"]
    held_out = held_out_queries(qrels)
    parts = {
        "train": [query for query in queries if query.id not in held_out],
        "validation": [query for query in queries if query.id in held_out],
    }
    note = (
        f"validation: {counted(len(held_out), 'training query', 'training queries')} that share no relevant document "
        f"with the others"
    )
    return replace(
        collection,
        queries={**parts, **{split: asked for split, asked in collection.queries.items() if split not in parts}},
        qrels={
            **{split: {query.id: qrels[query.id] for query in asked} for split, asked in parts.items()},
            **{split: judged for split, judged in collection.qrels.items() if split not in parts},
        },
        notes=(*collection.notes, note),
    )


def held_out_queries(qrels: Qrels) -> set[str]:
    """A tenth of the queries, with relevant documents of their own."""
    return {*document_folds(qrels, VALIDATION_PARTS)[-1]}


def _groups(qrels: Qrels) -> list[list[str]]:
    """Queries that are linked by relevant documents: each document leads to the one that stands for its group."""
    parent: dict[str, str] = {}

    def root(document: str) -> str:
        while parent.setdefault(document, document) != document:
            parent[document] = document = parent[parent[document]]
        return document

    relevant = {query: [name for name, relevance in judged.items() if relevance > 0] for query, judged in qrels.items()}
    for documents in relevant.values():
        for document in documents[1:]:
            parent[root(document)] = root(documents[0])
    groups: dict[tuple[str, str], list[str]] = {}
    for query, documents in relevant.items():
        key = ("document", root(documents[0])) if documents else ("query", query)
        groups.setdefault(key, []).append(query)
    return list(groups.values())


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
