"""R27: one run, one hand. What others write, train or link to is neither disturbed nor destroyed."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from reliability_runs import (
    TINY,
    TINY_OPTIONS,
    At,
    Command,
    Stopped,
    crash,
    environment,
    outcome,
    refused,
    resume,
    train,
)

import seqlab
from seqlab.errors import DataError, UsageError
from seqlab.runs.lock import LOCK, RunLocked, locked_run
from seqlab.training.progress import Reporter

# --- the lock -------------------------------------------------------------------------------------------------------


def test_resume_while_a_run_is_trained_is_refused_with_who_trains_it(text: Path, tmp_path: Path) -> None:
    refusals: list[str] = []

    def second() -> None:
        with pytest.raises(RunLocked) as raised:
            resume(tmp_path / "run")
        refusals.append(str(raised.value))
        with pytest.raises(RunLocked):
            train(text, tmp_path / "run", overwrite=True, steps=1)

    train(text, tmp_path / "run", At(2, second), steps=4)
    (message,) = refusals
    assert f"process {os.getpid()}, since 20" in message and "'" + str(tmp_path / "run") in message
    assert outcome(tmp_path / "run") == outcome(train(text, tmp_path / "alone", steps=4))


HOLDER = """
import sys, time
from pathlib import Path
from seqlab.runs.lock import locked_run
with locked_run(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_keeps_every_command_out_until_it_is_gone(tiny_run: Path, command: Command) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tiny_run)],
        env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    try:
        refused(command("resume", tiny_run, "--more", "2"), 2, f"process {holder.pid}, since", "in use")
        assert command("evaluate", tiny_run).code == 0, "reading is not training"
    finally:
        holder.kill()  # it cannot clean up
        holder.communicate()
    assert command("resume", tiny_run, "--more", "2").code == 0


def test_a_run_that_failed_is_free_again(text: Path, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        train(text, tmp_path / "run", At(2, crash), steps=4)
    with locked_run(tmp_path / "run"):
        pass
    resume(tmp_path / "run")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"pid": 1}'])
def test_a_lock_that_does_not_tell_who_holds_it(content: bytes, tmp_path: Path) -> None:
    with locked_run(tmp_path):
        (tmp_path / LOCK).write_bytes(content)
        with pytest.raises(RunLocked, match="trained by another process"), locked_run(tmp_path):
            pass


def test_no_lock_is_left_in_a_folder_that_is_not_a_run(tmp_path: Path, command: Command) -> None:
    (tmp_path / "thesis.txt").write_text("years of it")
    assert command("resume", tmp_path).code == 66
    assert command("train", "toy-words", "--out", tmp_path, "--overwrite", *TINY_OPTIONS).code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


# --- links ----------------------------------------------------------------------------------------------------------


def test_checkpoints_of_another_run_are_not_removed_through_a_link(text: Path, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        train(text, tmp_path / "run", At(7, crash), steps=10, evaluate_every=2)
    other = Path(shutil.copytree(tmp_path / "run", tmp_path / "other")) / "checkpoints"
    before = sorted(path.name for path in other.iterdir())
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    (tmp_path / "run" / "checkpoints").symlink_to(other)
    with pytest.raises(DataError, match="is a link to"):
        resume(tmp_path / "run")
    assert sorted(path.name for path in other.iterdir()) == before


# --- threads --------------------------------------------------------------------------------------------------------


class Loader(threading.Thread):
    """Loads a run again and again while others train."""

    def __init__(self, run: Path):
        super().__init__(daemon=True)
        self.run_path, self.done = run, threading.Event()

    def run(self) -> None:
        while not self.done.is_set():
            seqlab.load(self.run_path)


@pytest.mark.filterwarnings("ignore:another thread")
def test_threads_of_one_process_do_not_change_what_is_trained(finished: Path, text: Path, tmp_path: Path) -> None:
    """Dropout draws from the generator that all threads of a process share."""
    options = {"steps": 12, "evaluate_every": 6, "settings": {"model.embedding_dropout": 0.5}}
    alone = outcome(train(text, tmp_path / "alone", **options))
    threads = [
        threading.Thread(target=train, args=(text, tmp_path / name), kwargs=options) for name in ("one", "two", "three")
    ]
    loader = Loader(finished)
    for thread in (loader, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    loader.done.set()
    loader.join()
    for name in ("one", "two", "three"):
        assert outcome(tmp_path / name) == alone, name


def test_a_thread_that_has_to_wait_says_so(text: Path, tmp_path: Path) -> None:
    warned = threading.Event()

    def second() -> None:
        with pytest.warns(seqlab.errors.SeqlabWarning, match="another thread of this process"):
            train(text, tmp_path / "second", steps=1)
        warned.set()

    waiting = threading.Thread(target=second)

    class Slow(Reporter):
        def begin(self, step: int, steps: int) -> None:
            waiting.start()
            waiting.join(0.5)
            assert waiting.is_alive() and not (tmp_path / "second").exists()

    seqlab.train(text, out=tmp_path / "first", reporter=Slow(), steps=1, **TINY)
    waiting.join()
    assert warned.is_set()


# --- comparisons ----------------------------------------------------------------------------------------------------


def test_a_run_of_a_comparison_is_not_trained_further(tiny_run: Path, tmp_path: Path, command: Command) -> None:
    comparison = tmp_path / "my comparison"
    run = comparison / "runs" / "lstm-0"
    shutil.copytree(tiny_run, run)
    (comparison / "plan.json").write_text("{}")
    (comparison / "best").symlink_to("runs/lstm-0")
    before = outcome(run)
    for place in (comparison, run, comparison / "best"):
        refused(command("resume", place, "--more", "2"), 2, "contradict the report", "cp -r '")
    refused(command("resume", comparison), 2, "Repeat the 'seqlab compare' command")
    assert outcome(run) == before
    with pytest.raises(UsageError, match="comparison"):
        resume(comparison, 3)
