"""The audit of runs on labelled examples: green where all is well, red where a mistake was planted."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from example_files import labelled, write_examples
from pytest import MonkeyPatch

from seqlab import api
from seqlab.audit import examples
from seqlab.audit.audit import audit
from seqlab.data.examples.example import LabeledText
from seqlab.registry import BACKBONES, TASKS
from seqlab.tasks.classify import ClassifyTask
from seqlab.training.progress import NullReporter

TINY = {"steps": 2, "hidden": 8, "embedding": 8, "batch_size": 4, "threads": 1, "evaluate_every": 1}


def trained(task: str, folder: Path, **short: Any) -> api.Run:
    source = write_examples(task, folder)
    settings = {"task.beam": 1, "task.max_target_length": 12} if task == "translate" else {}
    return api.train(
        source, out=folder / "run", task=task, reporter=NullReporter(), settings=settings, **{**TINY, **short}
    )


EXAMPLE_TASKS = [name for name in TASKS if TASKS.settings(name)().reads == "everything"]


@pytest.mark.parametrize("arch", [*BACKBONES])
@pytest.mark.parametrize("task", EXAMPLE_TASKS)
def test_every_architecture_passes(task: str, arch: str, tmp_path: Path) -> None:
    found = audit(trained(task, tmp_path, arch=arch))
    assert len(found) == 10
    assert [one for one in found if not one.passed] == []


def failing(run: api.Run) -> list[str]:
    return [one.name for one in audit(run) if not one.passed]


def test_a_decoder_that_sees_the_future_is_found(tmp_path: Path) -> None:
    run = trained("translate", tmp_path, arch="gru")
    forward = run.model.forward

    def ahead(source: Any, inputs_BT: torch.Tensor, mask_BT: Any = None, trace: Any = None) -> torch.Tensor:
        return forward(source, inputs_BT, mask_BT, trace) + inputs_BT.float().sum(1)[:, None, None] * 1e-3

    run.model.forward = ahead
    assert "a future token changes nothing before it" in failing(run)


def test_padding_that_counts_is_found(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    run = trained("classify", tmp_path)
    forward = run.model.forward
    monkeypatch.setattr(
        run.model, "forward", lambda tokens_BT, mask_BT=None, trace=None: forward(tokens_BT, None, trace)
    )
    assert "a padded row equals the row alone" in failing(run)


def test_a_vocabulary_from_held_out_examples_is_found(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    learn = ClassifyTask.build_vocabulary.__func__

    def leaking(cls: type[ClassifyTask], given: list[LabeledText], settings: Any) -> Any:
        return learn(cls, everything, settings)

    everything = [LabeledText(*line.split("\t")) for line in labelled().splitlines()[1:]]
    with monkeypatch.context() as patch:
        patch.setattr(ClassifyTask, "build_vocabulary", classmethod(leaking))
        run = trained("classify", tmp_path)
    assert failing(run) == ["vocabulary from the training text only"]


def test_inputs_on_both_sides_are_found(tmp_path: Path) -> None:
    run = trained("classify", tmp_path)
    dataset = run.dataset()
    parts = {**dataset.data.splits, "validation": dataset.data.splits["train"][:6]}
    found = examples.split_overlap(replace(dataset, data=replace(dataset.data, splits=parts)))
    assert not found.passed and "6 of 6" in found.detail


def test_an_example_that_is_scored_twice_is_found(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    run = trained("tag", tmp_path)
    scoring_batches = examples.scoring_batches
    monkeypatch.setattr(
        examples, "scoring_batches", lambda part, count: [*scoring_batches(part, count), *scoring_batches(part, 1)]
    )
    assert "evaluation counts every example once" in failing(run)


def test_generation_with_another_state_is_found(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    run = trained("translate", tmp_path, arch="lstm")
    step = run.model.step

    def stale(token_B: torch.Tensor, state: Any, trace: Any = None) -> Any:
        logits_BV, after = step(token_B, state, trace)
        return logits_BV, replace(after, inner=state.inner)

    monkeypatch.setattr(run.model, "step", stale)
    found = failing(run)
    assert "step by step equals parallel" in found and "cached equals uncached generation" in found
