"""Two processes compute what one does (promise R13): training, resuming, sharding, scores and vectors.

torchrun starts two processes once, which do everything that the tests look at; test_every_case.py has the rest.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import seqlab
from seqlab.runs.checkpoint import checkpoints, step_of
from tests.distributed.golden_worker import evaluate, resume, train_case
from tests.distributed.launching import finished, start_jobs
from tests.distributed.run_differences import apart, dtype_of, losses, norms, tensors_apart

FLOAT64, FLOAT32 = 1e-9, 1e-4
# dropout, a carried state, words that rows share, a loss across rows, numbers drawn for every row
CASES = (
    "lstm language dropout",
    "lstm language stream",
    "lstm tag",
    "gru embed residual",
    "gru translate scheduled",
)
SHARDED = "transformer language dropout"  # in float32, which torch reduces in another way than float64
SGD = {"train.optimizer": "sgd", "train.lr": 3e-2}  # whose update is as large as the gradient


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The runs of one process, and those of two."""
    one, two = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two")
    jobs = [{"do": "train", "folder": str(two), "case": case} for case in CASES]
    jobs += [
        {"do": "train", "folder": str(two), "case": SHARDED, "precision": "float32", "train.shard": True, **SGD},
        {"do": "evaluate", "run": str(two / SHARDED), "out": str(two / "scores")},
        {"do": "embed", "run": str(two / SHARDED), "source": str(two / "text.txt"), "out": str(two / "vectors")},
    ]
    process = start_jobs(2, jobs)
    for case in CASES:
        train_case(str(one), case)
    train_case(str(one), SHARDED, "float32", **SGD)
    finished(process)
    return one, two


@pytest.mark.parametrize("case", CASES)
def test_losses_and_weights_are_those_of_one(folders: tuple[Path, Path], case: str) -> None:
    one, two = (folder / case for folder in folders)
    assert str(dtype_of(two)) == "torch.float64"
    assert len(losses(two)) == 52  # fifty steps, two evaluations: written once
    assert max(apart(one, two)) < FLOAT64


@pytest.mark.parametrize("case", CASES)
def test_results_are_those_of_one(folders: tuple[Path, Path], case: str) -> None:
    first, second = (json.loads((folder / case / "results.json").read_text()) for folder in folders)
    assert second["validation"] == pytest.approx(first["validation"], rel=FLOAT64)
    assert [one["metrics"] for one in second["baselines"]] == [one["metrics"] for one in first["baselines"]]


def test_a_sharded_model_learns_the_same(folders: tuple[Path, Path]) -> None:
    """In float32, where torch would average gradients over processes unless told to sum them."""
    one, two = (folder / SHARDED for folder in folders)
    assert norms(two) == pytest.approx(norms(one), rel=FLOAT32)
    assert max(apart(one, two)) < FLOAT32
    first, second = (checkpoints(run / "checkpoints")[-1] / "optimizer.safetensors" for run in (one, two))
    assert tensors_apart(first, second) < FLOAT32  # whole tensors, whatever the number of processes


@pytest.mark.parametrize("case", CASES[:2])
def test_one_process_continues_what_two_began(folders: tuple[Path, Path], tmp_path: Path, case: str) -> None:
    one, run = folders[0] / case, tmp_path / "run"
    shutil.copytree(folders[1] / case, run)
    newest = checkpoints(run / "checkpoints")[-1]
    assert step_of(newest) == 50
    shutil.rmtree(newest)  # as if it had been stopped after step 25
    resume(str(run))
    assert max(apart(one, run)) < FLOAT64


def test_scores_are_those_of_one_on_every_process(folders: tuple[Path, Path], tmp_path: Path) -> None:
    run = folders[1] / SHARDED
    evaluate(str(run), str(tmp_path / "scores"))
    expected = json.loads((tmp_path / "scores.0").read_text())
    for rank in range(2):
        metrics, nats_U = json.loads((folders[1] / f"scores.{rank}").read_text())
        assert nats_U == expected[1]  # unit by unit, bit by bit: each is scored in the same batch
        assert metrics == pytest.approx(expected[0], rel=1e-12)


def test_vectors_are_those_of_one(folders: tuple[Path, Path], tmp_path: Path) -> None:
    alone = seqlab.embed(folders[1] / SHARDED, folders[1] / "text.txt", tmp_path / "vectors")
    vectors_ND = np.load(folders[1] / "vectors" / "vectors.npy")
    assert np.array_equal(vectors_ND, np.load(alone.vectors))
    assert not (folders[1] / "vectors" / "shards").exists()
