"""R10: Ctrl-C and termination leave a complete checkpoint and end the process soon; a second one ends it at once."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from reliability_runs import TINY_OPTIONS, apart, environment, outcome, resume, train

from seqlab.runs.checkpoint import checkpoints

SETTINGS = {"steps": 60, "evaluate_every": 25, "batching": "stream", "dropout": 0.2}
OPTIONS = ["--steps", "60", "--evaluate-every", "25", "--batching", "stream", "--dropout", "0.2", *TINY_OPTIONS]

# the command itself, with something slow in it so that a signal finds it at work
SLOW_STEPS = "progress.LogReporter.step = lambda *_: time.sleep(0.05)"
LONG_STEP = "progress.LogReporter.step = lambda *_: time.sleep(60)"
LONG_END = "finish.measure_baselines = lambda *_: (finish.write_atomic(pathlib.Path('ending'), b''), time.sleep(60))"
PROGRAM = """
import pathlib, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests in the background ignores it
from seqlab.training import finish, progress
from seqlab.storage import write_atomic
finish.write_atomic = write_atomic
finish.draw_curves = lambda *_: None
{slow}
from seqlab.__main__ import main
main()
"""


class Command:
    """`seqlab train` in a process of its own, in a folder of its own."""

    def __init__(self, text: Path, folder: Path, slow: str):
        self.run, self.folder = folder / "run", folder
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM.format(slow=slow), "train", str(text), "--out", str(self.run), *OPTIONS],
            cwd=folder, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def wait_for_steps(self, count: int) -> None:
        log = self.run / "metrics.jsonl"
        self.wait_until(lambda: log.is_file() and log.read_bytes().count(b"\n") >= count)

    def wait_until(self, ready) -> None:
        until = time.monotonic() + 60
        while not ready():
            assert self.process.poll() is None and time.monotonic() < until, "it ended, or never began"
            time.sleep(0.005)

    def send(self, *numbers: int) -> tuple[int, str, float]:
        """Send signals one after the other: exit code, what it said, and the seconds it still took."""
        for number in numbers[:-1]:
            self.process.send_signal(number)
            time.sleep(0.3)
        began = time.monotonic()
        self.process.send_signal(numbers[-1])
        _, err = self.process.communicate(timeout=30)
        return self.process.returncode, err, time.monotonic() - began


@pytest.fixture(scope="module")
def whole(text: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    with apart(folder):
        return train(text, folder / "run", **SETTINGS)


@pytest.fixture
def start(text: Path, tmp_path: Path) -> Iterator:
    begun: list[Command] = []

    def begin(slow: str) -> Command:
        begun.append(Command(text, tmp_path, slow))
        return begun[-1]

    yield begin
    for command in begun:
        command.process.kill()
        command.process.communicate()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_saves_and_stops(number: int, code: int, start, whole: Path) -> None:
    command = start(SLOW_STEPS)
    command.wait_for_steps(5)
    ended, err, seconds = command.send(number)
    assert ended == code, err
    assert seconds < 10
    assert f"seqlab resume {command.run}" in err and "Traceback" not in err and "error" not in err
    reached = json.loads((command.run / "metrics.jsonl").read_text().splitlines()[-1])["step"]
    assert checkpoints(command.run / "checkpoints")[-1].name == f"step-{reached}"
    assert f"step {reached}" in err and reached < 60
    assert outcome(resume(command.run)) == outcome(whole)


@pytest.mark.parametrize(("numbers", "code"), [((signal.SIGINT, signal.SIGTERM), 143)])
def test_the_second_ends_it_at_once(numbers: tuple[int, int], code: int, start, whole: Path) -> None:
    """In the middle of a step that takes a minute."""
    command = start(LONG_STEP)
    command.wait_for_steps(1)
    ended, err, seconds = command.send(*numbers)
    assert ended == code, err
    assert seconds < 2
    assert outcome(resume(command.run)) == outcome(whole)


def test_while_the_results_are_written(start, whole: Path) -> None:
    command = start(LONG_END)
    command.wait_until((command.folder / "ending").exists)
    ended, err, seconds = command.send(signal.SIGINT)
    assert ended == 130, err
    assert seconds < 10 and "Traceback" not in err
    assert outcome(resume(command.run)) == outcome(whole)
