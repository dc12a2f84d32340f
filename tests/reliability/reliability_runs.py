"""Small runs that are stopped in every way, and what is compared of them."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from seqlab import api
from seqlab.registry import BACKBONES
from seqlab.runs.checkpoint import checkpoints
from seqlab.training.progress import Reporter
from seqlab.training.resuming import TrainingInterrupted

NOUNS, PLACES = ("cat", "dog", "hen", "fox", "owl"), ("mat", "hut", "sea", "oak")
TEXT = "".join(
    f"the {noun} sat by the {place} and saw {n} of them.\n" for n in range(4) for noun in NOUNS for place in PLACES
)
TINY: dict[str, Any] = {"hidden": 16, "embedding": 8, "window": 16, "batch_size": 4, "threads": 1, "sample_tokens": 0}
TINY_OPTIONS = ["--hidden", "16", "--embedding", "8", "--window", "16", "--batch-size", "4", "--threads", "1"]
HERE = Path(__file__).parent


@contextmanager
def apart(folder: Path) -> Iterator[None]:
    """For what tests share: a cache of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQLAB_CACHE", str(folder / "cache"))
        yield


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


Command = Callable[..., Answer]  # the fixture `command`


def refused(answer: Answer, code: int, *words: str) -> None:
    assert answer.code == code, answer
    assert "\nerror: " in f"\n{answer.err}" or code == 2, answer.err
    assert "Traceback" not in answer.err
    for word in words:
        assert word in answer.err, (word, answer.err)


class Stopped(Exception):
    """Raised in the middle of training, as a crash would be."""


@dataclass
class At(Reporter):
    """A reporter that does something after a step."""

    number: int
    action: Callable[[], None]

    def step(self, step: int, loss: float, units_per_second: float) -> None:
        if step == self.number:
            self.action()


def crash() -> None:
    raise Stopped


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


ARCHITECTURES = list(BACKBONES)


def hard(arch: str) -> dict[str, Any]:
    """Settings of an architecture that leave nothing to luck: two layers and dropout wherever it has them."""
    own = BACKBONES.settings(arch).model_fields
    dropped = {"model.embedding_dropout": 0.3, "model.output_dropout": 0.3}
    dropped |= {"backbone.dropout": 0.3} if "dropout" in own else {}
    return {
        "arch": arch,
        "task": "language" if BACKBONES.settings(arch)().causal else "masked",
        "accumulate": 2,
        "settings": {**dropped, **({"backbone.layers": 2} if "layers" in own else {})},
    }


def train(source: Path, out: Path, reporter: Reporter | None = None, **settings: Any) -> Path:
    return api.train(source, out=out, reporter=reporter or Reporter(), **{**TINY, **settings}).path


def resume(path: Path, more: int | None = None, reporter: Reporter | None = None) -> Path:
    return api.resume(path, more, reporter or Reporter()).path


def train_with_stops(
    source: Path, out: Path, stops: Sequence[tuple[int, Callable[[], None]]], more: int | None = None, **settings: Any
) -> Path:
    """Like `train`, but stopped after each of the given steps and resumed; with `more`, so is the further training."""
    begin: Callable[[Reporter], Path] = lambda reporter: train(source, out, reporter, **settings)  # noqa: E731
    if more is not None:
        train(source, out, **settings)
        begin = lambda reporter: resume(out, more, reporter)  # noqa: E731
    for step, action in stops:
        try:
            begin(At(step, action))
        except (Stopped, TrainingInterrupted):
            begin = lambda reporter: resume(out, reporter=reporter)  # noqa: E731
        else:
            raise AssertionError(f"not stopped at step {step}")
    return begin(Reporter())


# --- what is compared -----------------------------------------------------------------------------------------------


def only_checkpoint(run: Path) -> Path:
    """The newest one, without others that training could go back to."""
    *older, newest = checkpoints(run / "checkpoints")
    for checkpoint in older:
        shutil.rmtree(checkpoint)
    return newest


def outcome(run: Path) -> dict[str, Any]:
    """Everything that two equal runs have in common, to the bit: weights, optimizer, carried state, log and results."""
    newest = checkpoints(run / "checkpoints")[-1]
    tensors = {path.name: path.read_bytes() for path in [*newest.glob("*.safetensors"), run / "model.safetensors"]}
    results = json.loads((run / "results.json").read_text())
    return {
        "newest": newest.name,
        **tensors,
        "log": lines(run),
        "results": {key: value for key, value in results.items() if key not in ("seconds", "date")},
    }


def lines(run: Path) -> list[dict[str, Any]]:
    """The log, timings and samples aside."""
    result = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in ("seconds", "sample")} for line in result]


# --- other processes ------------------------------------------------------------------------------------------------


def environment(**more: str | Path) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", **{key: str(value) for key, value in more.items()}}


def run_script(name: str, *arguments: str | Path, timeout: float = 280) -> Any:
    """What a script of this folder prints as JSON."""
    command = [sys.executable, str(HERE / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
