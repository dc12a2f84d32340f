"""Retrieval data as ids, and batches in which every text occurs once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import Any

import numpy as np

from seqlab.data.batching import LengthBuckets, batch_generator
from seqlab.data.documents.pairs import PairKind
from seqlab.data.examples.encoded import ExampleBatches, ExampleSplit
from seqlab.wording import counted

DRAWS = 1 << 40  # apart from the generators that shuffle epochs
PATIENCE = 20  # batches of pairs that are tried for one batch before it stays smaller
MIN_JUDGED = 20  # unseen queries that suffice to judge by them alone
SHORTEST_SPAN = 4  # tokens, where the document has as many


@dataclass(frozen=True)
class DocumentTable:
    """Documents that can be ranked, as ids."""

    names: Sequence[str]  # their ids in the collection
    texts: Sequence[np.ndarray]  # title and text, whole
    keys: Sequence[int]  # equal for equal texts

    @cached_property
    def rows(self) -> Mapping[str, int]:
        return {name: row for row, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class PairSplit(ExampleSplit):
    """`inputs` are the ids that anchors are made of, `targets` those of their documents.

    In training, example n is a pair: `kinds` says how it is drawn. In other splits it is a query, with its first
    relevant document as target, and `relevant` are the rows of all of them."""

    examples: Sequence[Any]  # pyright: ignore[reportIncompatibleVariableOverride]
    table: DocumentTable = field(kw_only=True)
    kinds: Sequence[PairKind] = field(kw_only=True)
    anchors: Sequence[int] = field(kw_only=True)  # a key of each anchor, equal for equal texts
    rows: Sequence[int] = field(kw_only=True)  # of each document in the table
    relevant: Sequence[frozenset[int]] = field(kw_only=True)  # keys of the documents that belong to an anchor
    longest: int = field(kw_only=True)  # tokens of a text that are read
    seen_N: np.ndarray | None = field(default=None, kw_only=True)  # queries with a document that training had, too
    unanswered: int = field(default=0, kw_only=True)  # queries that are left out, since no relevant document is there

    @cached_property
    def input_lengths_N(self) -> np.ndarray:
        return np.array([min(len(ids), self.longest) for ids in self.inputs])

    @cached_property
    def target_lengths_N(self) -> np.ndarray:
        return np.array([min(len(ids), self.longest) for ids in self.targets])

    @property
    def tokens(self) -> int:
        """Of anchors and documents: both are read."""
        return int(self.lengths_N.sum())

    @property
    def scored_tokens(self) -> int:
        """Of the queries, and of the documents that they rank."""
        return int(self.input_lengths_N.sum()) + sum(min(len(ids), self.longest) for ids in self.table.texts)

    @cached_property
    def judged_N(self) -> np.ndarray:
        """Queries that judge a model: the unseen ones, whose documents cannot be remembered, if there are enough."""
        seen_N = np.zeros(len(self), bool) if self.seen_N is None else self.seen_N
        return ~seen_N if (~seen_N).sum() >= MIN_JUDGED else np.ones(len(self), bool)

    @property
    def seen_note(self) -> str:
        """What queries judge, in words; empty if none is seen."""
        seen = 0 if self.seen_N is None else int(self.seen_N.sum())
        if not seen:
            return ""
        unseen = len(self) - seen
        all_judge = f"all judge, since fewer than {MIN_JUDGED} are others"
        judges = all_judge if self.judged_N.all() else f"the other {unseen:,} judge"
        return f"{seen:,} of {len(self):,} queries have a document that training queries had, too: {judges}"

    def unanswered_note(self, split: str) -> str:
        """How many queries are not scored, or not trained on, in words; empty if none is left out."""
        if not self.unanswered:
            return ""
        queries = f"{split}: {counted(self.unanswered, 'query', 'queries')} without a relevant document that exists"
        are = "is" if self.unanswered == 1 else "are"
        if split == "train":
            return f"{queries} {are} not trained on"
        return (
            f"{queries} {are} left out of the scores of this run, which are based on the other {len(self):,}; seqlab "
            f"evaluate INDEX --queries ... --qrels ... counts every such query as 0"
        )

    def key(self, row: int) -> int:
        """Of the document of a pair."""
        return self.table.keys[self.rows[row]]

    def draw(self, row: int, span: int, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The ids of anchor and document; generated pairs are another one each time."""
        anchor, document = self.inputs[row], self.targets[row]
        match self.kinds[row]:
            case "spans":
                return _span(document, span, draw), _span(document, span, draw)
            case "neighbors":
                if len(document) < 2:
                    return document, document
                least = min(SHORTEST_SPAN, len(document) // 2)
                at = int(draw.integers(least, len(document) - least + 1))
                return document[max(0, at - span) : at], document[at : at + span]
            case "title" if len(document) > 2 * self.longest:  # any part of a long text, not always its beginning
                at = int(draw.integers(len(document) - self.longest + 1))
                document = document[at:]
            case _:
                pass
        return anchor[: self.longest], document[: self.longest]


def _span(ids: np.ndarray, most: int, draw: np.random.Generator) -> np.ndarray:
    """A random span of random length."""
    longest = min(most, len(ids))
    length = int(draw.integers(min(SHORTEST_SPAN, longest), longest + 1))
    at = int(draw.integers(len(ids) - length + 1))
    return ids[at : at + length]


def pair_generator(seed: int, index: int) -> np.random.Generator:
    """Random numbers for the pairs of one batch."""
    return batch_generator(seed, DRAWS + index)


class PairBatches(ExampleBatches):
    """Pairs in random order, `batch_size` in a batch. No batch has an anchor or a document twice, by its name or by its
    text, or a document that is relevant to another anchor: such a pair waits for a later batch."""

    def __init__(self, split: PairSplit, batch_size: int):
        super().__init__(split, batch_size, None, split.longest)
        self.split = split
        # no buckets of length: negatives would always be texts of the same length, and mostly the same ones
        self._buckets = LengthBuckets(self.included_N, [self.longest_N * 0], self._cut, len(self.included_N))

    def _cut(self, pool_N: np.ndarray) -> list[np.ndarray]:
        batches = distinct_batches(self.split, pool_N.tolist(), self.batch_size)
        return [batch for batch in batches if len(batch) > 1] or batches  # a single pair has nothing to learn from

    def repeats(self) -> tuple[int, int]:
        """Of the first epoch: how many batches are smaller, and how many pairs left out, because texts repeat."""
        sizes = [len(batch) for batch in self._buckets.epoch(0, 0)]
        pairs = len(self.included_N)
        expected = 1 if pairs % self.batch_size else 0
        return max(0, sum(size < self.batch_size for size in sizes) - expected), pairs - sum(sizes)


def distinct_batches(split: PairSplit, rows: Sequence[int], size: int) -> list[np.ndarray]:
    """The rows in batches of `size`, in their order, except that a row waits while its batch has one of its texts."""
    batches: list[np.ndarray] = []
    waiting: list[int] = []
    coming = iter(rows)
    while True:
        batch: list[int] = []
        held: list[int] = []  # rows that cannot be in this batch
        anchors: set[int] = set()
        keys: set[int] = set()
        wanted: set[int] = set()  # documents that belong to an anchor of the batch
        first, waiting = waiting[: PATIENCE * size], waiting[PATIENCE * size :]
        for row in chain(first, islice(coming, PATIENCE * size)):
            if len(batch) == size:
                held.append(row)
                break
            anchor, key, relevant = split.anchors[row], split.key(row), split.relevant[row]
            if anchor in anchors or key in wanted or not keys.isdisjoint(relevant):
                held.append(row)
                continue
            batch.append(row)
            anchors.add(anchor)
            keys.add(key)
            wanted |= relevant
        if not batch:
            return batches
        batches.append(np.array(batch))
        seen = {*batch, *held}
        waiting = [*held, *(row for row in first if row not in seen), *waiting]
