"""Workers that are fed jobs: what becomes of failures, of jobs that another process has, and of signals."""

import json
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seqlab.comparison.execution.jobs import Job, claimed
from seqlab.comparison.execution.pool import Pool, Stopped
from seqlab.comparison.execution.progress import JobProgress, ProgressView
from seqlab.config import resolve
from seqlab.errors import SeqlabError, TrainingFailed
from seqlab.runs.directory import RunDirectory
from seqlab.runs.results import read_results


def job(place: str, split: str | None = "validation", **train: Any) -> Job:
    tables = {
        "corpus": {"source": ["toy-words"]},
        "backbone": {"name": "rnn", "hidden": 8},
        "model": {"embedding": 8},
        "task": {"window": 16, "batch_size": 4},
        "train": {"steps": 5, "threads": 1, "sample_tokens": 0, **train},
    }
    return Job(place, resolve(tables).resolved(), split, 1.0)


class Told(ProgressView):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[str, str]] = []

    def event(self, job: Job, event: Any) -> JobProgress:
        self.heard.append((job.place, event["kind"]))
        return super().event(job, event)


def test_jobs_are_done_once(tmp_path: Path):
    view = Told()
    jobs = [job(f"runs/rnn-{seed}", seed=seed) for seed in range(3)]
    with Pool(tmp_path, 2, 1, view) as pool:
        pool.run(jobs, "runs")
        assert all(one.is_done(tmp_path) for one in jobs)
        pool.run(jobs, "runs")
    assert [what for _, what in view.heard].count("done") == 3
    assert [what for _, what in view.heard].count("scoring") == 3


def test_a_run_that_fails_leaves_the_others_be(tmp_path: Path):
    bad, good = job("runs/bad", lr=1e38, max_skipped=0, clip_norm=None, optimizer="sgd", steps=9), job("runs/good")
    view, longest = Told(), replace(bad, seconds=2.0)
    with Pool(tmp_path, 1, 1, view) as pool, pytest.raises(TrainingFailed, match="runs/bad") as failed:
        pool.run([good, longest], "runs")
    assert view.heard[0][0] == "runs/bad", "the longest comes first"
    assert failed.value.exit_code == 70 and good.is_done(tmp_path) and not bad.is_done(tmp_path)


def test_a_trial_that_fails_is_an_answer(tmp_path: Path):
    bad = job("tuning/bad", None, lr=1e38, max_skipped=0, clip_norm=None, optimizer="sgd", steps=9)
    with Pool(tmp_path, 1, 1, ProgressView()) as pool:
        pool.run([bad], "tuning")
    assert bad.is_done(tmp_path) and "finite" in (bad.failure(tmp_path) or "")


def test_whatever_else_goes_wrong_stops_all(tmp_path: Path):
    wrong = job("runs/wrong")
    wrong.settings["corpus"]["source"] = ["nowhere.txt"]
    with Pool(tmp_path, 1, 1, ProgressView()) as pool, pytest.raises(SeqlabError, match=r"nowhere\.txt") as failed:
        pool.run([wrong], "runs")
    assert failed.value.exit_code == 66


def test_what_another_process_has_in_hand_is_waited_for(tmp_path: Path):
    one, view = job("runs/rnn-0"), Told()

    def work() -> None:
        with Pool(tmp_path, 1, 1, view) as pool:
            pool.run([one], "runs")

    with claimed(one, tmp_path) as ours:
        with claimed(one, tmp_path) as again:
            assert ours and not again
        thread = threading.Thread(target=work)
        thread.start()
        until = time.monotonic() + 60
        while ("runs/rnn-0", "taken") not in view.heard and time.monotonic() < until:
            time.sleep(0.05)
        assert not one.is_done(tmp_path)
    thread.join(60)
    assert one.is_done(tmp_path) and ("runs/rnn-0", "done") in view.heard


def test_a_lock_dies_with_its_process(tmp_path: Path):
    one = job("runs/rnn-0")
    program = (
        "import sys, time, json\nfrom pathlib import Path\nfrom seqlab.comparison.execution.jobs import Job, claimed\n"
        "with claimed(Job(**json.loads(sys.argv[2])), Path(sys.argv[1])) as ours:\n"
        "    print(ours, flush=True); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), json.dumps(vars(one))],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "True\n"
    with claimed(one, tmp_path) as ours:
        assert not ours
    process.kill()
    process.wait()
    process.stdout.close()
    with claimed(one, tmp_path) as ours:
        assert ours


def test_a_worker_that_keeps_dying_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("seqlab.comparison.execution.pool.DEATHS", 2)
    monkeypatch.setattr("seqlab.runs.machine.sys.executable", "/bin/false")
    with Pool(tmp_path, 1, 1, ProgressView()) as pool, pytest.raises(SeqlabError, match="died 2 times"):
        pool.run([job("runs/rnn-0")], "runs")


def test_a_signal_stops_all_with_checkpoints(tmp_path: Path):
    """In a process of its own, since a signal reaches a whole process."""
    program = (
        "import sys, json\nfrom pathlib import Path\nfrom seqlab.comparison.execution.pool import Pool\n"
        "from seqlab.comparison.execution.jobs import Job\n"
        "from seqlab.comparison.execution.progress import LogView\n"
        "from seqlab.errors import SeqlabError\n"
        "job = Job(**json.loads(sys.argv[2]))\n"
        "try:\n    with Pool(Path(sys.argv[1]), 1, 1, LogView()) as pool: pool.run([job], 'runs')\n"
        "except SeqlabError as error: print(error); sys.exit(error.exit_code)"
    )
    one = job("runs/rnn-0", steps=10**6, checkpoint_seconds=10**4, evaluate_every=10**6)
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), json.dumps(vars(one))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    log = tmp_path / "runs" / "rnn-0" / "metrics.jsonl"
    until = time.monotonic() + 60
    while time.monotonic() < until and not (log.is_file() and log.stat().st_size > 2000):
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    said, log_lines = process.communicate(timeout=30)
    assert "runs/rnn-0 stopped" in log_lines and "failed" not in log_lines
    assert process.returncode == 128 + signal.SIGTERM and "The same command resumes it" in said
    run = RunDirectory(tmp_path / "runs" / "rnn-0")
    saved = sorted(run.checkpoints.glob("step-*"), key=lambda path: int(path.name[5:]))
    assert int(saved[-1].name[5:]) > 0 and read_results(run) is None


def test_stopping_has_the_signal_in_its_exit_code(tmp_path: Path):
    assert Stopped(tmp_path, signal.SIGINT).exit_code == 130
