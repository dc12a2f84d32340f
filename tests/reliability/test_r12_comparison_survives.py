"""R12: workers and the command are killed at random; no run is lost, none is done twice, the table is the same."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
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


def words(folder: Path, archs: str, seeds: int, jobs: int, steps: int, tune: int) -> list[str]:
    options = ["--archs", archs, "--seeds", str(seeds), "--jobs", str(jobs), "--budget", f"steps={steps}"]
    options += ["--match", "params=1500", "--tune", str(tune), "--set", "train.checkpoint_seconds=0.05", *SIZES]
    return ["seqlab", "compare", "toy-words", "--out", str(folder), *options]


def command(folder: Path, **options) -> subprocess.Popen[bytes]:
    with (folder.parent / "log").open("ab") as log:
        program = [sys.executable, "-c", PROGRAM, *words(folder, **options)[1:]]
        return subprocess.Popen(program, env=environment(), stdout=log, stderr=log)


def survive(folder: Path, kills: int, draw: random.Random, **options) -> int:
    """Kill and start again until it is done; how many were killed."""
    process = command(folder, **options)
    killed = 0
    seen: dict[Path, int] = {}
    until = time.monotonic() + 280
    while time.monotonic() < until:
        time.sleep(draw.uniform(0.1, 1.5))
        for scored in folder.glob("runs/*/scores.json"):
            assert seen.setdefault(scored, scored.stat().st_mtime_ns) == scored.stat().st_mtime_ns, "done twice"
        if process.poll() is not None:
            if process.returncode == 0:
                return killed
            assert process.returncode == -signal.SIGKILL, (folder.parent / "log").read_text()[-3000:]
            process = command(folder, **options)
        elif killed < kills:
            killed += kill_one(process, draw)
    raise AssertionError((folder.parent / "log").read_text()[-3000:])


def kill_one(process: subprocess.Popen[bytes], draw: random.Random) -> int:
    """A worker, or now and then the command that started it."""
    try:
        workers = psutil.Process(process.pid).children()
        victim = draw.choice(workers).pid if workers and draw.random() < 0.75 else process.pid
        os.kill(victim, signal.SIGKILL)
    except (psutil.NoSuchProcess, ProcessLookupError):
        return 0
    return 1


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


def check(tmp_path: Path, kills: int, seed: int, **options) -> None:
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    with in_process_workers(), pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(sys, "argv", words(tmp_path / "whole" / "c", **options))
        patch.setattr("seqlab.comparison.report.write_figures", lambda *_: None)
        main()
    assert ended.value.code in (0, None)
    killed = survive(tmp_path / "killed" / "c", kills, random.Random(seed), **options)
    assert killed >= kills // 2
    expected, actual = (read_comparison(tmp_path / name / "c") for name in ("whole", "killed"))
    assert table(actual) == table(expected)
    for run in actual.runs:
        steps = [
            line["step"] for line in read_log(tmp_path / "killed" / "c" / run.path / "metrics.jsonl") if "loss" in line
        ]
        assert steps == list(range(1, run.steps + 1))


def test_a_comparison_survives(tmp_path: Path) -> None:
    check(tmp_path, kills=2, seed=1, archs="rnn", seeds=2, jobs=2, steps=150, tune=0)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_comparison_of_eight_workers_survives(tmp_path: Path) -> None:
    check(tmp_path, kills=40, seed=2, archs="rnn,gru,lstm,transformer", seeds=4, jobs=8, steps=300, tune=2)
