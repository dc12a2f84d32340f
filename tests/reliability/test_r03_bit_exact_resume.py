"""R3: a run that was stopped and resumed ends with the same bits as one that never was.

Stops are exceptions from inside the loop and signals; test_r01_atomic_save.py has those by `kill -9`.
"""

import random
from pathlib import Path
from typing import Any

import pytest
from reliability_runs import (
    ARCHITECTURES,
    At,
    Stopped,
    crash,
    hard,
    outcome,
    resume,
    terminate,
    train,
    train_with_stops,
)

from seqlab import api
from seqlab.errors import DataError, MissingInput, SeqlabWarning, UsageError
from seqlab.training.progress import Reporter


class Said(Reporter):
    """Keeps the messages."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def log(self, message: str) -> None:
        self.messages.append(message)


BATCHINGS = {
    "windows": {"batching": "windows"},
    "stream": {"batching": "stream"},
    "lines": {"documents": "lines"},
}


def assert_equal_to_an_uninterrupted_run(
    text: Path, folder: Path, stops: list[tuple[int, Any]], more: int | None = None, **settings: Any
) -> None:
    whole = train(text, folder / "whole", **settings)
    if more is not None:
        resume(whole, more)
    stopped = train_with_stops(text, folder / "stopped", stops, more, **settings)
    assert outcome(stopped) == outcome(whole)


@pytest.mark.parametrize("batching", BATCHINGS)
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_architecture_and_batching(arch: str, batching: str, text: Path, tmp_path: Path) -> None:
    draw = random.Random(f"{arch} {batching}")
    stops = [(draw.randint(1, 6), crash), (draw.randint(7, 13), terminate)]
    settings = {"steps": 14, "evaluate_every": 5, **BATCHINGS[batching], **hard(arch)}
    assert_equal_to_an_uninterrupted_run(text, tmp_path, stops, **settings)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_in_bf16(arch: str, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also on a processor where it is slow."""
    monkeypatch.setattr("seqlab.training.precision.bf16_speed", lambda *_: 1.5)
    settings = {"steps": 12, "evaluate_every": 5, "batching": "stream", "precision": "bf16", **hard(arch)}
    assert_equal_to_an_uninterrupted_run(text, tmp_path, [(3, crash), (8, terminate)], **settings)
    stored = api.load(tmp_path / "stopped")
    assert (stored.settings.train.precision, stored.settings.train.bf16_speed) == ("bf16", 1.5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("batching", BATCHINGS)
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_many_stops(arch: str, batching: str, seed: int, text: Path, tmp_path: Path) -> None:
    draw = random.Random(f"{arch} {batching} {seed}")
    stops = [(step, draw.choice([crash, terminate])) for step in sorted(draw.sample(range(1, 40), 5))]
    often = {"checkpoint_seconds": draw.choice([1e-9, 60.0]), "evaluate_every": draw.randint(3, 50)}
    settings = {"steps": 40, "seed": seed, **often, **BATCHINGS[batching], **hard(arch)}
    assert_equal_to_an_uninterrupted_run(text, tmp_path, stops, **settings)


def test_the_weights_of_an_unfinished_run_are_said_to_be_the_best_so_far(text: Path, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        train(text, tmp_path / "run", At(8, crash), steps=14, evaluate_every=5)
    with pytest.warns(SeqlabWarning, match=r"is not finished \(step 5 of 14\): .* Continue training: seqlab resume"):
        api.load(tmp_path / "run")
    resume(tmp_path / "run")
    assert api.load(tmp_path / "run").results  # a warning would be an error


@pytest.mark.parametrize("damage", ["changed", "gone"])
def test_a_damaged_checkpoint_is_left_for_the_one_before_it(damage: str, text: Path, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"steps": 14, "evaluate_every": 5}
    whole = train(text, tmp_path / "whole", **settings)
    stopped = train(text, tmp_path / "stopped", **settings)
    file = stopped / "checkpoints" / "step-14" / "optimizer.safetensors"
    file.unlink() if damage == "gone" else file.write_bytes(file.read_bytes()[:-1])
    said = Said()
    api.resume(stopped, reporter=said)
    assert f"{file}' is {'missing' if damage == 'gone' else 'damaged'}" in said.messages[0]
    assert said.messages[0].endswith("Going back to the checkpoint of step 10.")
    assert outcome(stopped) == outcome(whole)
    with pytest.raises(Stopped):
        resume(stopped, 2, At(15, crash))
    file.write_bytes(b"")  # the one before it is of the training that was finished
    with pytest.raises(DataError, match="no earlier checkpoint to resume from"):
        resume(stopped)


@pytest.mark.parametrize(
    "settings",
    [
        {"optimizer": "sgd", "weight_decay": 0.1},
        {"optimizer": "sgd", "settings": {"train.momentum": 0.0}},
        {"optimizer": "rmsprop", "schedule": "linear", "clip_value": 0.01},
        {"optimizer": "adamw", "weight_decay": 0.1, "schedule": "constant", "clip_norm": None},
        {"optimizer": "muon", "weight_decay": 0.1},
        {"optimizer": "muon", "arch": "transformer", "accumulate": 2, "settings": {"model.tie_embeddings": True}},
        {"schedule": "plateau", "lr": 0.5, "evaluate_every": 1},
        {"schedule": "plateau", "lr": 0.5, "evaluate_every": 1, "patience": 5, "steps": 60},
        {"epochs": 1.5, "steps": None, "tokenizer": "bpe", "vocab_size": 300},
        {"settings": {"model.tie_embeddings": True}, "checkpoint_seconds": 1e-9, "sample_tokens": 5},
    ],
    ids=str,
)
def test_optimizers_schedules_and_budgets(settings: dict[str, Any], text: Path, tmp_path: Path) -> None:
    settings = {"steps": 12, "evaluate_every": 4, "batching": "stream", **settings}
    assert_equal_to_an_uninterrupted_run(text, tmp_path, [(3, terminate), (6, crash)], **settings)


@pytest.mark.parametrize(
    "stops", [[], [(11, crash)], [(14, terminate), (17, crash)]], ids=lambda stops: str(len(stops))
)
def test_further_training(stops: list[tuple[int, Any]], text: Path, tmp_path: Path) -> None:
    """The first crash comes before further training has saved anything."""
    settings = {"steps": 10, "evaluate_every": 6, "batching": "stream"}
    assert_equal_to_an_uninterrupted_run(text, tmp_path, stops, more=10, **settings)


def test_further_training_after_an_early_stop(text: Path, tmp_path: Path) -> None:
    settings = {"steps": 60, "evaluate_every": 1, "lr": 0.5, "patience": 3}
    assert_equal_to_an_uninterrupted_run(text, tmp_path, [], more=4, **settings)


def test_a_run_begun_from_another_is_stopped_before_its_first_evaluation(text: Path, tmp_path: Path) -> None:
    source = train(text, tmp_path / "source", steps=5)
    own = {
        "steps": 6,
        "evaluate_every": 6,
        "reporter": Reporter(),
        "threads": 1,
        "window": 16,
        "batch_size": 4,
        "sample_tokens": 0,
    }
    whole = api.train(text, out=tmp_path / "whole", init=source, **own).path
    with pytest.raises(Stopped):
        api.train(text, out=tmp_path / "stopped", init=source, **{**own, "reporter": At(2, crash)})
    assert outcome(resume(tmp_path / "stopped")) == outcome(whole)


@pytest.mark.parametrize("last", [10, 5])
def test_stopped_by_a_signal_at_an_evaluation(last: int, text: Path, tmp_path: Path) -> None:
    """At the last step, training is over but the results are not written."""
    settings = {"steps": 10, "evaluate_every": 5}
    assert_equal_to_an_uninterrupted_run(text, tmp_path, [(last, terminate)], **settings)


def test_stopped_while_the_results_are_written(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = train(text, tmp_path / "whole", steps=6)
    with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr("seqlab.training.finish.measure_baselines", lambda *_: 1 / 0)
        train(text, tmp_path / "stopped", steps=6)
    assert outcome(resume(tmp_path / "stopped")) == outcome(whole)
    more = [resume(path, 4) for path in (whole, tmp_path / "stopped")]
    assert outcome(more[0]) == outcome(more[1])


def test_what_cannot_be_resumed_is_refused(tiny_run: Path, text: Path) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        resume(tiny_run, more=0)
    before = text.read_bytes()
    try:
        text.write_bytes(before + b"one line more\n")
        with pytest.raises(DataError, match="no longer the text"):
            resume(tiny_run, more=2)
    finally:
        text.write_bytes(before)
    for checkpoint in (tiny_run / "checkpoints").iterdir():
        checkpoint.rename(checkpoint.with_name(f"my-{checkpoint.name}"))
    with pytest.raises(MissingInput, match="no checkpoint to resume from"):
        resume(tiny_run)
