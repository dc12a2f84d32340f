"""Training examples that are longer than task.max_length: what is left of each label, and who learns from the rest."""

import re
from pathlib import Path

import numpy as np
import pytest

import seqlab
from seqlab.analysis.doctor import diagnose
from seqlab.analysis.example_doctor import ExampleDiagnosis
from seqlab.comparison.plan.data import ComparisonData
from seqlab.comparison.plan.planning import tokens_per_step
from seqlab.config import build_settings
from seqlab.errors import DataError
from seqlab.registry import TASKS
from seqlab.runs.reopen import make_task
from seqlab.tasks.task import UnitSums

LONG = 15


def write_labeled(folder: Path) -> Path:
    """Essays are long; nothing else is."""
    rows = [f"good film number {at}\tpos\nbad film number {at}\tneg" for at in range(40)]
    rows += [f"{' '.join(f'word{at % 7}' for _ in range(LONG - 2))} essay {at}\tessay" for at in range(20)]
    path = folder / "texts.tsv"
    path.write_text("\n".join(["text\tlabel", *rows]) + "\n", encoding="utf-8")
    return path


def write_tagged(folder: Path) -> Path:
    """Only long sentences have a place."""
    short = [f"a O\nfox{at} B-animal\n" for at in range(40)]
    long = ["".join(f"w{place} O\n" for place in range(LONG - 1)) + f"Rome{at} B-place\n" for at in range(20)]
    path = folder / "words.conll"
    path.write_text("\n".join([*short, *long]), encoding="utf-8")
    return path


WRITERS = {"classify": (write_labeled, "label 'essay'"), "tag": (write_tagged, "tag 'B-place'")}


def opened(task: str, path: Path, limit: int, said: list[str]):
    settings = build_settings({"task": {"name": task, "max_length": limit}, "corpus": {"source": [str(path)]}}, [])
    kind = TASKS.load(task)
    dataset = kind.open_dataset(settings, said.append)
    return kind.fit_settings(settings, dataset, said.append), dataset


@pytest.mark.parametrize("task", WRITERS)
def test_a_label_that_is_lost_comes_with_the_limit_that_keeps_it(task: str, tmp_path: Path) -> None:
    write, lost = WRITERS[task]
    path, said = write(tmp_path), []
    opened(task, path, 10, said)
    (warning,) = [note for note in said if note.startswith("warning: no training example is left of")]
    assert lost in warning
    (left,) = [note for note in said if note.startswith("left to train on: ")]
    assert lost.split()[1] not in left
    enough = int(re.search(r"--set task\.max_length=(\d+)", warning)[1])
    said.clear()
    opened(task, path, enough, said)
    assert not [note for note in said if "left" in note]


@pytest.mark.parametrize("task", WRITERS)
def test_the_doctor_counts_what_is_left(task: str, tmp_path: Path) -> None:
    write, lost = WRITERS[task]
    found = diagnose([str(write(tmp_path))], None, task, (), (), ["task.max_length=10"], lambda _: None)
    assert isinstance(found, ExampleDiagnosis)
    assert {label.label: label.train for label in found.labels}[lost.split("'")[1]] == 0
    assert any(lost in warning and "task.max_length=" in warning for warning in found.warnings)


def test_one_label_that_is_left_is_not_enough(tmp_path: Path) -> None:
    path = tmp_path / "texts.tsv"
    rows = [f"good {at}\tpos\n{'long ' * 20}{at}\tneg" for at in range(30)]
    path.write_text("\n".join(["text\tlabel", *rows]) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"'neg'.*task\.max_length=2\d.*at least two"):
        opened("classify", path, 10, [])


def test_baselines_learn_from_the_same_examples(tmp_path: Path) -> None:
    settings, dataset = opened("classify", write_labeled(tmp_path), 10, [])
    held_out = dataset.data.splits["validation"]
    task = make_task(settings, dataset)
    units = UnitSums(np.zeros((len(held_out), 1)), np.ones(len(held_out), int))
    scores = task.score_baselines(dataset, "validation", units)
    essays = sum(example.label == "essay" for example in held_out)
    assert essays
    assert scores[-1].metrics["accuracy"] <= 100 * (1 - essays / len(held_out))


def test_the_plan_counts_the_tokens_that_are_read(tmp_path: Path) -> None:
    settings, dataset = opened("classify", write_labeled(tmp_path), 10, [])
    data = ComparisonData({"lstm": settings}, dataset)
    trained = [len(ids) for ids in dataset.splits["train"].inputs if len(ids) <= 10]
    assert data.left_out == len(dataset.splits["train"]) - len(trained)
    steps = data.task(settings).steps_per_epoch
    assert tokens_per_step(data, "lstm") == pytest.approx(sum(trained) / steps)
    assert data.sequence_length(settings) == round(sum(trained) / len(trained))


def test_the_card_says_what_was_trained_on(tmp_path: Path) -> None:
    path, out = write_labeled(tmp_path), tmp_path / "run"
    run = seqlab.train(str(path), steps=1, out=str(out), settings={"task.max_length": 10, "backbone.hidden": 8})
    given = run.config["corpus"]["examples"]["train"]
    too_long = sum(line.endswith("\tessay") for line in path.read_text("utf-8").splitlines())
    assert 0 < run.config["corpus"]["left_out"] <= too_long
    card = " ".join((out / "README.md").read_text("utf-8").split())
    kept = given - run.config["corpus"]["left_out"]
    assert f"trained on {kept} examples ({run.config['corpus']['left_out']} more have more than 10 tokens" in card
