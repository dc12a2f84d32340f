"""How many threads compute, where no setting says it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from seqlab import threads
from seqlab.config.sections import MAX_THREADS
from seqlab.runs.directory import RunDirectory
from seqlab.threads import available_cores, compute_threads, default_threads


@pytest.mark.parametrize(("value", "expected"), [("1", 1), ("3", 3), (" 2 ", 2), ("2,4", 2), ("99999999", MAX_THREADS)])
def test_the_environment_gives_the_default(monkeypatch: pytest.MonkeyPatch, value: str, expected: int) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert default_threads() == expected


@pytest.mark.parametrize("value", [None, "", "0", "many", "-1", "²"])
def test_without_a_number_it_is_all_cores(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if value is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert default_threads() == available_cores()


def test_a_setting_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setattr(threads, "default_threads", default_threads)  # the own one, not that of tests
    with compute_threads(1):
        assert torch.get_num_threads() == 1
    with compute_threads(None):
        assert torch.get_num_threads() == 2


WAITING = "import os, seqlab; print(os.environ.get('GOMP_SPINCOUNT'))"


@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, "1000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "None")],
)
def test_threads_wait_briefly_unless_the_user_says_how(given: dict[str, str], expected: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    done = subprocess.run(
        [sys.executable, "-c", WAITING], env=environment | given, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == expected


@pytest.mark.parametrize(
    ("asked", "words"), [(["--threads", "2"], "2 threads, as the run was given"), ([], "1 thread\n")]
)
def test_a_run_keeps_its_threads_with_another_number_of_processes(
    seqlab: Callable[..., Any], tmp_path: Path, asked: list[str], words: str
) -> None:
    (tmp_path / "my.txt").write_text("the cat sat on the mat. " * 40, encoding="utf-8")
    run = str(tmp_path / "run")
    small = ["--arch", "rnn", "--hidden", "8", "--steps", "2", "--set", "train.sample_tokens=0"]
    assert seqlab("train", str(tmp_path / "my.txt"), *small, *asked, "--out", run).code == 0
    directory = RunDirectory(tmp_path / "run")
    config = directory.config()
    config["processes"], config["settings"]["train"]["shard"] = 2, True  # as if two had begun it
    directory.write_config(config)
    answer = seqlab("resume", run, "--more", "1")
    assert answer.code == 0, answer.err
    assert f"begun by 2 processes, continued by 1 on {words}" in answer.err
    assert "one process has the whole model: train.shard does nothing here" in answer.err
