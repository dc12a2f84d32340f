"""Promise R13 in full: every golden case on two and on four processes, sharded, resumed by another number of them."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from seqlab.registry import TASKS
from seqlab.runs.checkpoint import checkpoints
from tests.distributed.golden_worker import train_case
from tests.distributed.launching import finished, start_jobs
from tests.distributed.run_differences import apart, losses, norms
from tests.golden.golden_cases import CASES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
FLOAT64, FLOAT32 = 1e-9, 1e-4
# chunks of a batch draw other masks on several processes, which is refused: see test_refusals.py
NO_DROPOUT = {"model.embedding_dropout": 0.0, "model.output_dropout": 0.0}
WITHOUT_ROWS: dict[str, Any] = {"task.batch_size": 2}  # fewer than four processes
ONE_FOR_EACH_TASK = [
    *("lstm language dropout", "transformer-encoder masked", "lstm classify", "lstm tag", "transformer translate"),
    *("gru embed residual", "lstm language stream", "gru language distilled", "lstm language accumulate"),
]


def changes(case: str) -> dict[str, Any]:
    return NO_DROPOUT if "task.cache_batch" in CASES[case].settings else {}


def jobs(folder: Path, cases: list[str], precision: str = "float64", **more: Any) -> list[dict[str, Any]]:
    common = {"do": "train", "folder": str(folder), "precision": precision}
    return [{**common, "case": case, **changes(case), **more} for case in cases]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one")
    for case in CASES:
        train_case(str(folder), case, **changes(case))
    return folder


def test_every_task_is_among_them() -> None:
    assert {CASES[case].task for case in ONE_FOR_EACH_TASK} == {*TASKS.builtin()}


@pytest.mark.parametrize("processes", [2, 4])
def test_every_case_equals_one_process(alone: Path, tmp_path: Path, processes: int) -> None:
    finished(start_jobs(processes, jobs(tmp_path, list(CASES))))
    wrong = {case: apart(alone / case, tmp_path / case) for case in CASES}
    assert not {case: found for case, found in wrong.items() if not max(found) < FLOAT64}


def test_losses_in_float32(tmp_path: Path) -> None:
    finished(start_jobs(2, jobs(tmp_path / "two", ONE_FOR_EACH_TASK, "float32")))
    for case in ONE_FOR_EACH_TASK:
        train_case(str(tmp_path / "one"), case, "float32", **changes(case))
        first, second = losses(tmp_path / "one" / case), losses(tmp_path / "two" / case)
        assert second == pytest.approx(first, abs=FLOAT32), case


def test_processes_without_rows_take_part(tmp_path: Path) -> None:
    cases = [case for case in ONE_FOR_EACH_TASK if "accumulate" not in case]
    finished(start_jobs(4, jobs(tmp_path / "four", cases, **WITHOUT_ROWS)))
    for case in cases:
        train_case(str(tmp_path / "one"), case, **{**changes(case), **WITHOUT_ROWS})
        assert max(apart(tmp_path / "one" / case, tmp_path / "four" / case)) < FLOAT64, case


@pytest.mark.parametrize("batch", [{}, WITHOUT_ROWS], ids=["rows for all", "rows for some"])
def test_every_task_that_can_be_sharded_equals_one_process(tmp_path: Path, batch: dict[str, Any]) -> None:
    cases = [case for case in ONE_FOR_EACH_TASK if CASES[case].task != "embed"]
    finished(start_jobs(4, jobs(tmp_path / "four", cases, "float32", **{"train.shard": True, **batch})))
    for case in cases:
        train_case(str(tmp_path / "one"), case, "float32", **changes(case), **batch)
        first, second = tmp_path / "one" / case, tmp_path / "four" / case
        assert losses(second) == pytest.approx(losses(first), abs=FLOAT32), case
        assert norms(second) == pytest.approx(norms(first), rel=1e-3), case


def test_four_processes_continue_what_one_began(alone: Path, tmp_path: Path) -> None:
    cases = ["lstm language dropout", "lstm language stream"]
    for case in cases:
        shutil.copytree(alone / case, tmp_path / case)
        shutil.rmtree(checkpoints(tmp_path / case / "checkpoints")[-1])
    finished(start_jobs(4, [{"do": "resume", "run": str(tmp_path / case)} for case in cases]))
    for case in cases:
        assert max(apart(alone / case, tmp_path / case)) < FLOAT64
