"""Workers that are fed jobs: what becomes of failures, of jobs that another process has, and of signals."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from quick_workers import command_without_drawing

from seqlab.comparison.execution.jobs import Job, claimed
from seqlab.comparison.execution.launcher import Stopped
from seqlab.comparison.execution.pool import Pool
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


@pytest.fixture(scope="module", autouse=True)
def quick_workers() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("seqlab.comparison.execution.pool.worker_command", command_without_drawing)
        yield


@pytest.fixture(scope="module")
def one_worker(quick_workers: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    """A pool for several tests, since a worker takes seconds to start; each test has a view and jobs of its own."""
    with Pool(tmp_path_factory.mktemp("pool"), 1, 1, ProgressView()) as pool:
        yield pool


def test_jobs_are_done_once(tmp_path: Path):
    view = Told()
    jobs = [job(f"runs/rnn-{seed}", seed=seed) for seed in range(3)]
    with Pool(tmp_path, 2, 1, view) as pool:
        pool.run(jobs, "runs")
        assert all(job.is_done(tmp_path) for job in jobs)
        pool.run(jobs, "runs")
    assert [what for _, what in view.heard].count("done") == 3
    assert [what for _, what in view.heard].count("scoring") == 3


def test_a_run_that_fails_leaves_the_others_be(one_worker: Pool):
    bad, good = job("runs/bad", lr=1e38, max_skipped=0, clip_norm=None, optimizer="sgd", steps=9), job("runs/good")
    one_worker.view = view = Told()
    longest = replace(bad, seconds=2.0)
    with pytest.raises(TrainingFailed, match="runs/bad") as failed:
        one_worker.run([good, longest], "runs")
    assert view.heard[0][0] == "runs/bad", "the longest comes first"
    folder = one_worker.directory
    assert failed.value.exit_code == 70 and good.is_done(folder) and not bad.is_done(folder)


def test_a_trial_that_fails_is_an_answer(one_worker: Pool):
    bad = job("tuning/bad", None, lr=1e38, max_skipped=0, clip_norm=None, optimizer="sgd", steps=9)
    one_worker.run([bad], "tuning")
    assert bad.is_done(one_worker.directory) and "finite" in (bad.failure(one_worker.directory) or "")


def test_what_another_process_has_in_hand_is_waited_for(one_worker: Pool):
    waited_for, folder = job("runs/taken"), one_worker.directory
    one_worker.view = view = Told()
    with claimed(waited_for, folder) as ours:
        with claimed(waited_for, folder) as again:
            assert ours and not again
        thread = threading.Thread(target=one_worker.run, args=([waited_for], "runs"))
        thread.start()
        until = time.monotonic() + 60
        while ("runs/taken", "taken") not in view.heard and time.monotonic() < until:
            time.sleep(0.05)
        assert not waited_for.is_done(folder)
    thread.join(60)
    assert waited_for.is_done(folder) and ("runs/taken", "done") in view.heard


def test_whatever_else_goes_wrong_stops_all(one_worker: Pool):
    wrong = job("runs/wrong")
    wrong.settings["corpus"]["source"] = ["nowhere.txt"]
    with pytest.raises(SeqlabError, match=r"nowhere\.txt") as failed:
        one_worker.run([wrong], "runs")
    assert failed.value.exit_code == 66


def test_a_lock_dies_with_its_process(tmp_path: Path):
    held = job("runs/rnn-0")
    program = (
        "import sys, time, json\nfrom pathlib import Path\nfrom seqlab.comparison.execution.jobs import Job, claimed\n"
        "with claimed(Job(**json.loads(sys.argv[2])), Path(sys.argv[1])) as ours:\n"
        "    print(ours, flush=True); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), json.dumps(vars(held))],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "True\n"
    with claimed(held, tmp_path) as ours:
        assert not ours
    process.kill()
    process.wait()
    process.stdout.close()
    with claimed(held, tmp_path) as ours:
        assert ours


def test_a_worker_that_keeps_dying_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("seqlab.comparison.execution.launcher.DEATHS", 2)
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
    endless = job("runs/rnn-0", steps=10**6, checkpoint_seconds=10**4, evaluate_every=10**6)
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), json.dumps(vars(endless))],
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
