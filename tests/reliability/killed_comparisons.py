"""Comparisons as commands in processes of their own, killed and started again, and what of their results must agree."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from in_process_workers import in_process_workers
from reliability_runs import environment

from seqlab.__main__ import main
from seqlab.comparison.results import Ledger, Results, read_comparison
from seqlab.runs.log import read_log

SIZES = ["--window", "16", "--batch-size", "8", "--embedding", "8", "--set", "train.sample_tokens=0"]

# the command itself; neither it nor its workers draw
PROGRAM = f"""
import sys
sys.path.append({str(Path(__file__).parents[1])!r})
from quick_workers import command_without_drawing
from seqlab.comparison import report
from seqlab.comparison.execution import pool
pool.worker_command, report.write_figures = command_without_drawing, lambda *_: None
from seqlab.__main__ import main
main()
"""


def words(folder: Path, archs: str, seeds: int, steps: int, tune: int) -> list[str]:
    options = ["--archs", archs, "--seeds", str(seeds), "--budget", f"steps={steps}", "--match", "params=1500"]
    options += ["--tune", str(tune), "--set", "train.checkpoint_seconds=0.05", *SIZES]
    return ["seqlab", "compare", "toy-words", "--out", str(folder), *options]


def start(command: list[str], folder: Path) -> subprocess.Popen[bytes]:
    with (folder.parent / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *command[1:]], env=environment(), stdout=log, stderr=log
        )


def survive(
    command: list[str], folder: Path, kill: Callable[[int], int | None], pauses: Callable[[], float], seconds: float
) -> None:
    """Start the command again until it is done; `kill` names one of its processes or itself, if one is to be killed."""
    process = start(command, folder)
    seen: dict[Path, int] = {}
    until = time.monotonic() + seconds
    try:
        while process.poll() != 0:
            assert time.monotonic() < until, (folder.parent / "log").read_text()[-3000:]
            for scored in folder.glob("runs/*/scores.json"):
                assert seen.setdefault(scored, scored.stat().st_mtime_ns) == scored.stat().st_mtime_ns, "done twice"
            if process.returncode is not None:
                assert process.returncode == -signal.SIGKILL, (folder.parent / "log").read_text()[-3000:]
                process = start(command, folder)
            elif (victim := kill(process.pid)) is not None:
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
            time.sleep(pauses())
    finally:
        process.kill()
        process.wait()


def done_at_once(command: list[str]) -> None:
    """The same comparison in this process, without interruption."""
    with in_process_workers(), pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(sys, "argv", command)
        patch.setattr("seqlab.comparison.report.write_figures", lambda *_: None)
        main()
    assert ended.value.code in (0, None)


def agree(actual_folder: Path, expected_folder: Path) -> None:
    """The results are the same, and every step was logged once."""
    actual, expected = read_comparison(actual_folder), read_comparison(expected_folder)
    assert table(actual) == table(expected)
    for run in actual.runs:
        steps = [line["step"] for line in read_log(actual_folder / run.path / "metrics.jsonl") if "loss" in line]
        assert steps == list(range(1, run.steps + 1))


def table(results: Results) -> Results:
    """Without what is measured in time and memory."""
    entrants = [replace(entrant, step_seconds=0.0, step_spread=0.0, generation={}) for entrant in results.entrants]
    runs = [replace(run, seconds=0.0, peak_memory=None) for run in results.runs]
    pairs = [replace(pair, sentence="") for pair in results.pairs]
    ledger = Ledger(dict(results.ledger.equal), dict(results.ledger.unequal))
    ledger.equal.pop("training seconds", None)
    ledger.unequal.pop("training seconds", None)
    return replace(
        results, entrants=entrants, runs=runs, pairs=pairs, recommendation=[], command="", plan={}, date="",
        ledger=ledger, warnings=[warning for warning in results.warnings if "machine is busy" not in warning],
    )  # fmt: skip
