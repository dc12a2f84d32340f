"""Hard negatives: which documents are taken, what is said about them, and where they are in a batch."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from collection_files import SMALL_ENCODER, write_collection

from seqlab import api
from seqlab.baselines.bm25 import Bm25
from seqlab.data.documents.encoded import DocumentTable, PairSplit
from seqlab.data.documents.pairs import TrainingPair
from seqlab.errors import UsageError
from seqlab.tasks.embed import EmbedTask
from seqlab.tasks.mining import MiningRule, mine
from seqlab.training.progress import Reporter

SMALL: dict[str, Any] = {**SMALL_ENCODER, "train.steps": 2}


class Scored:
    """A ranker with fixed scores."""

    about, floor = "a table of scores", 0.0

    def __init__(self, **scores: list[float]):
        self.by_query = scores

    def scores(self, queries: Any) -> np.ndarray:
        return np.array([self.by_query[query] for query in queries], np.float32)


def given(queries: list[str], rows: list[int], documents: int, relevant: list[set[int]] | None = None) -> PairSplit:
    """Pairs of a query and a row of the table; document d has the id d."""
    texts = [np.array([row]) for row in range(documents)]
    return PairSplit(
        [TrainingPair("given", str(row), query) for query, row in zip(queries, rows, strict=True)],
        [np.array([0])] * len(rows),
        [texts[row] for row in rows],
        table=DocumentTable([str(row) for row in range(documents)], texts, list(range(documents))),
        kinds=["given"] * len(rows),  # pyright: ignore[reportArgumentType]
        anchors=list(range(len(rows))),
        rows=rows,
        relevant=[frozenset(some) for some in relevant or [{row} for row in rows]],
        longest=8,
    )


def test_ranks_and_margin_decide() -> None:
    split = given(["q"], [0], 7, [{0, 3}])
    ranker = Scored(q=[10, 12, 9.4, 11, 9.6, 2, 0])  # by score: 1, (3), (0), 4, 2, 5; document 6 is not found
    assert mine(split, ranker, MiningRule(1, 10, 0.05)).rows[0].tolist() == [2, 5]
    assert mine(split, ranker, MiningRule(1, 10, 0.0)).rows[0].tolist() == [4, 2, 5]
    assert mine(split, ranker, MiningRule(2, 3, 0.0)).rows[0].tolist() == [4, 2]
    mined = mine(split, ranker, MiningRule(1, 3, 0.05))
    assert mined.rows[0].tolist() == [2] and mined.similar == 2
    assert (mined.positive, mined.negative) == (10.0, pytest.approx(9.4))


def test_margins_of_negative_scores_point_the_same_way() -> None:
    ranker = Scored(q=[-1.0, -1.02, -1.2])
    ranker.floor = -np.inf
    assert mine(given(["q"], [0], 3), ranker, MiningRule(1, 2, 0.05)).rows[0].tolist() == [2]


def test_the_table_counts() -> None:
    split = given(["q", "r"], [0, 1], 4)
    mined = mine(split, Scored(q=[5, 4, 3, 2], r=[0, 1, 0, 0]), MiningRule(1, 3, 0.05))
    assert mined.lines() == [
        "hard negatives by a table of scores, ranks 1 to 3, at most 95% of the score of the relevant document",
        "  pairs                     2",
        "  pairs with negatives      1",
        "  negatives of a pair       1.5 on average, 0 to 3",
        "  documents in these ranks  6, of which 0 are too similar",
        "  mean score                3.000 of relevant documents, 3.000 of negatives",
    ]
    assert mined.as_dict(split)["first"][0] == {"query": "q", "relevant": "0", "negatives": ["1", "2", "3"]}


def test_a_negative_is_one_for_all_anchors_of_the_batch() -> None:
    split = given(["q", "r"], [0, 1], 6, [{0}, {1, 2}])
    mined = mine(split, Scored(q=[9, 8, 7, 6, 5, 4], r=[6, 9, 8, 7, 1, 1]), MiningRule(1, 5, 0.0))
    for seed in range(20):
        drawn = mined.draw(split, [0, 1], 2, np.random.default_rng(seed))
        assert len(set(drawn)) == len(drawn) and not {0, 1, 2} & {*drawn} and 2 <= len(drawn) <= 4
    assert mined.draw(replace(split, kinds=["title"] * 2), [], 2, np.random.default_rng(0)) == []


# --- training -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_collection(tmp_path_factory.mktemp("data") / "collection")


class Heard(Reporter):
    def __init__(self) -> None:
        self.said: list[str] = []

    def log(self, message: str) -> None:
        self.said.append(message)


def test_a_run_trains_with_mined_negatives_and_keeps_the_table(collection: Path, tmp_path: Path) -> None:
    heard = Heard()
    settings = {**SMALL, "task.negatives": 2, "task.negative_ranks": "1,20", "task.pairs": "given"}
    run = api.train(collection, out=tmp_path / "run", settings=settings, reporter=heard)
    kept = json.loads((run.path / "negatives.json").read_text(encoding="utf-8"))
    assert kept["table"] and set(kept["table"]) <= set(heard.said)
    task: Any = run.task()
    assert isinstance(task, EmbedTask)
    batch: Any = task.batch("train", 0, 0)
    assert len(batch.anchors_BT) == 8 and 8 < len(batch.documents_NT) <= 24
    again: Any = run.task().batch("train", 0, 0)
    assert all(map(np.array_equal, batch.tensors(), again.tensors()))
    ranks = Bm25.fit(run.dataset().data.documents["train"]).scores([kept["first"][0]["query"]])[0].argsort()[::-1]
    names = [f"d{row}" for row in ranks.tolist()]
    assert set(kept["first"][0]["negatives"]) <= set(names[:21])


def test_a_run_can_mine(collection: Path, tmp_path: Path) -> None:
    first = api.train(collection, out=tmp_path / "first", settings=SMALL, reporter=Reporter())
    settings = {**SMALL, "task.negatives": 1, "task.miner": str(first.path), "task.negative_margin": 0}
    run = api.train(collection, out=tmp_path / "run", settings=settings, reporter=Reporter())
    kept = json.loads((run.path / "negatives.json").read_text(encoding="utf-8"))
    assert "hard negatives by the run" in kept["table"][0]
    assert [origin["role"] for origin in run.config["origins"]] == ["miner"]


@pytest.mark.parametrize(("key", "value"), [("miner", "bm25"), ("negative_ranks", "1,5"), ("negative_margin", 0.1)])
def test_options_of_mining_need_negatives(collection: Path, key: str, value: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"task.{key} does nothing: task.negatives is 0"):
        api.train(collection, out=tmp_path / "run", settings={**SMALL, f"task.{key}": value}, reporter=Reporter())


@pytest.mark.parametrize("ranks", ["0,5", "5,4"])
def test_ranks_are_in_order(collection: Path, ranks: str, tmp_path: Path) -> None:
    settings = {**SMALL, "task.negatives": 1, "task.negative_ranks": ranks}
    with pytest.raises(UsageError, match="expected the first rank, from 1, and the last"):
        api.train(collection, out=tmp_path / "run", settings=settings, reporter=Reporter())


def test_negatives_need_given_pairs(collection: Path, tmp_path: Path) -> None:
    settings = {**SMALL, "task.negatives": 1, "task.pairs": "title"}
    with pytest.raises(UsageError, match=r"task\.negatives are mined for given pairs, and there is none"):
        api.train(collection, out=tmp_path / "run", settings=settings, reporter=Reporter())


class Stopped(Exception):
    """Ends training from within."""


class StopsAt(Reporter):
    def __init__(self, step: int) -> None:
        self.last = step

    def step(self, step: int, loss: float, units_per_second: float) -> None:
        if step >= self.last:
            raise Stopped


def test_a_stopped_run_goes_on_with_the_same_bits(collection: Path, tmp_path: Path) -> None:
    """Although pairs are drawn, negatives mined and gradients cached: all of it follows from the seed and the step."""
    settings = {**SMALL, "task.negatives": 2, "task.cache_batch": 3, "task.pairs": "given,spans,twins"}
    settings |= {"train.steps": 6, "train.evaluate_every": 6, "train.checkpoint_seconds": 1e-6}
    whole = api.train(collection, out=tmp_path / "whole", settings=settings, reporter=Reporter())
    with pytest.raises(Stopped):
        api.train(collection, out=tmp_path / "halves", settings=settings, reporter=StopsAt(4))
    halves = api.resume(tmp_path / "halves", reporter=Reporter())
    assert all(map(torch.equal, whole.model.parameters(), halves.model.parameters()))
