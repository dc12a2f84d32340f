"""Hard negatives: documents that a ranker finds for a query, although they are not relevant to it.

A document is taken if its rank is within a range and its score at most a share of the relevant document's: what scores
as high as the relevant one may be relevant, too, and nobody has said so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqlab.baselines.ranker import SCORES, Ranker
from seqlab.data.documents.encoded import PairSplit

NO_ROWS = np.zeros(0, dtype=int)
SHOWN = 100  # pairs that the file in the run directory lists


@dataclass(frozen=True)
class MiningRule:
    """Ranks count from 1, relevant documents left out of the count."""

    first: int
    last: int
    margin: float

    def __str__(self) -> str:
        share = f"at most {1 - self.margin:.0%} of the score of the relevant document"
        return f"ranks {self.first:,} to {self.last:,}, {share}"


@dataclass(frozen=True)
class MinedNegatives:
    """`rows`: for each given pair of the training split, the rows of its negatives in the table of documents."""

    rows: Mapping[int, np.ndarray]
    ranker: str
    rule: MiningRule
    similar: int  # documents in the range of ranks that score too high
    positive: float  # the mean score of relevant documents
    negative: float  # and of negatives

    def lines(self) -> list[str]:
        """A table for the log."""
        counts = np.array([len(rows) for rows in self.rows.values()] or [0])
        within = len(self.rows) * (self.rule.last - self.rule.first + 1)
        table = {
            "pairs": f"{len(self.rows):,}",
            "pairs with negatives": f"{(counts > 0).sum():,}",
            "negatives of a pair": f"{counts.mean():.1f} on average, {counts.min():,} to {counts.max():,}",
            "documents in these ranks": f"{within:,}, of which {self.similar:,} are too similar",
            "mean score": f"{self.positive:.3f} of relevant documents, {self.negative:.3f} of negatives",
        }
        width = max(map(len, table))
        return [f"hard negatives by {self.ranker}, {self.rule}"] + [f"  {key:{width}}  {table[key]}" for key in table]

    def as_dict(self, split: PairSplit) -> dict[str, Any]:
        """The same and the negatives of the first pairs, for a file."""
        names = split.table.names
        return {
            "table": self.lines(),
            "first": [
                {
                    "query": split.examples[pair].text,
                    "relevant": names[split.rows[pair]],
                    "negatives": [names[row] for row in rows.tolist()],
                }
                for pair, rows in list(self.rows.items())[:SHOWN]
            ],
        }

    def draw(self, split: PairSplit, rows_B: Sequence[int], count: int, draw: np.random.Generator) -> list[int]:
        """Rows of `count` negatives for each given pair of a batch, none of which is relevant to another or there
        already: every one is a negative of all."""
        taken = {key for row in rows_B for key in split.relevant[row]}
        drawn: list[int] = []
        for row in rows_B:
            left = count
            for negative in draw.permutation(self.rows.get(row, NO_ROWS)).tolist():
                if not left:
                    break
                if split.table.keys[negative] not in taken:
                    taken.add(split.table.keys[negative])
                    drawn.append(negative)
                    left -= 1
        return drawn


def mine(split: PairSplit, ranker: Ranker, rule: MiningRule) -> MinedNegatives:
    """The negatives of all given pairs; `ranker` ranks the documents of the split's table."""
    given = [row for row, kind in enumerate(split.kinds) if kind == "given"]
    found: dict[int, np.ndarray] = {}
    similar, positives, negatives = 0, [], []
    keys_N = np.array(split.table.keys)
    at_once = max(1, SCORES // max(1, len(keys_N)))  # the memory of one matrix of scores
    for first in range(0, len(given), at_once):
        pairs = given[first : first + at_once]
        scores_QN = ranker.scores([split.examples[row].text for row in pairs])
        for pair, scores_N in zip(pairs, scores_QN, strict=True):
            own = float(scores_N[split.rows[pair]])
            order_N = np.argsort(-scores_N, kind="stable")
            order_N = order_N[(scores_N[order_N] > ranker.floor) & ~np.isin(keys_N[order_N], [*split.relevant[pair]])]
            range_K = order_N[rule.first - 1 : rule.last]
            kept_K = range_K[scores_N[range_K] <= own - rule.margin * abs(own)]
            similar += len(range_K) - len(kept_K)
            found[pair] = kept_K
            positives.append(own)
            negatives += scores_N[kept_K].tolist()
    means = (float(np.mean(scores)) if scores else 0.0 for scores in (positives, negatives))
    return MinedNegatives(found, ranker.about, rule, similar, *means)
