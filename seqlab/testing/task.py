"""The public contract suite of tasks: what training, scoring, comparisons and reports rely on.

`check_task` accepts a class or a registered name, and trains nothing. The tasks of this package pass the same checks.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from seqlab.config import ExampleKind, RunSettings, build_settings
from seqlab.distributed.world import World
from seqlab.models.parameter_count import parameters
from seqlab.registry import TASKS
from seqlab.runs.load import build_model
from seqlab.tasks.dataset import AnyDataset
from seqlab.tasks.examples import ExampleTask
from seqlab.tasks.task import Task
from seqlab.testing.promises import Promises, require

tasks: "Promises[TaskCase]" = Promises()
WORDS = ("red", "green", "small", "old", "fish", "bird", "stone")
SENTENCES = [
    [*(WORDS[(3 * at + place * (at + 1)) % len(WORDS)] for place in range(1 + at % 5)), f"n{at}"] for at in range(48)
]


def _labeled(words: list[str]) -> str:
    return f"{' '.join(words)}\t{'warm' if 'red' in words else 'cold'}"


def _tagged(words: list[str]) -> str:
    return "".join(f"{word} {'B-x' if word == 'fish' else 'O'}\n" for word in words)


def _paired(words: list[str]) -> str:
    return f"{' '.join(words)}\t{' '.join(reversed(words))}"


def _document(words: list[str]) -> str:
    return json.dumps({"title": " ".join(words), "text": " ".join(reversed(words * 2))})


# by the kind of examples that the task reads: the name of a file, its header, and how a sentence becomes an example
EXAMPLES: dict[ExampleKind, tuple[str, list[str], Callable[[list[str]], str]]] = {
    "labeled": ("examples.tsv", ["text\tlabel"], _labeled),
    "tagged": ("examples.conll", [], _tagged),
    "pairs": ("examples.tsv", ["source\ttarget"], _paired),
    "documents": ("documents.jsonl", [], _document),
}
SMALL = {"backbone.hidden": 8, "model.embedding": 8, "task.batch_size": 6, "corpus.split_ratios": "80/10/10"}
# without regularization, the training loss equals the loss that is scored
PLAIN = {"model.embedding_dropout": 0.0, "model.output_dropout": 0.0}


@dataclass(frozen=True)
class TaskCase:
    """A task on a small dataset, with an untrained model in evaluation mode."""

    settings: RunSettings
    dataset: AnyDataset
    task: Task
    model: Any

    def __str__(self) -> str:
        return type(self.task).__name__


def check_task(task: str | type[Task], arch: str = "gru", source: str | None = None, **settings: Any) -> None:
    """AssertionError that names the broken promise.

    `source` is data of the task's kind, generated if it is not given; `settings` are dotted, with "__" for the dot."""
    name = task if isinstance(task, str) else f"{task.__module__}:{task.__qualname__}"
    with TemporaryDirectory() as folder:
        case = task_case(name, arch, source, Path(folder), settings)
        for check in tasks.checks.values():
            check(case)


def task_case(name: str, arch: str, source: str | None, folder: Path, changes: dict[str, Any]) -> TaskCase:
    task_class, task_settings = TASKS.load(name), TASKS.settings(name)()
    source = source or _source(task_settings.examples, folder)
    plain = PLAIN | {f"task.{key}": 0.0 for key in ("label_smoothing", "word_dropout") if task_settings.has(key)}
    dotted = {key.replace("__", "."): value for key, value in changes.items()}
    values = {"task.name": name, "backbone.name": arch, **SMALL, **plain, **dotted}
    settings = build_settings({"corpus": {"source": [source]}}, values.items())
    dataset = task_class.open_dataset(settings, lambda note: None)
    settings = task_class.fit_settings(settings, dataset, lambda note: None)
    torch.manual_seed(0)
    model = build_model(settings, dataset.vocabulary.sizes).eval()
    return TaskCase(settings, dataset, task_class.from_dataset(settings, dataset), model)


def _source(kind: ExampleKind | None, folder: Path) -> str:
    if kind is None:
        return "toy-words"
    name, head, row = EXAMPLES[kind]
    (folder / name).write_text("\n".join([*head, *map(row, SENTENCES)]) + "\n", encoding="utf-8")
    return str(folder / name)


# --- training -------------------------------------------------------------------------------------------------------


@tasks("a batch is a function of (split, seed, index), whatever was asked for before")
def batches_are_pure(case: TaskCase) -> None:
    task = case.task
    first = [task.batch("train", 1, index).tensors() for index in range(3)]
    task.batch("train", 2, 0)
    again = [task.batch("train", 1, index).tensors() for index in (2, 0, 1)]
    same = all(
        len(a) == len(b) and all(map(torch.equal, a, b)) for a, b in zip([first[2], *first[:2]], again, strict=True)
    )
    require(same, "batch(split, seed, index) depends on more than its arguments")
    require(task.steps_per_epoch >= 1, f"steps_per_epoch is {task.steps_per_epoch}, expected at least 1")


@tasks("a loss is a sum of nats and the number of predictions")
def a_loss_is_a_sum_and_a_count(case: TaskCase) -> None:
    batch = case.task.batch("train", 0, 0)
    loss, again = (case.task.loss(case.model, batch, None, 0) for _ in range(2))
    require(loss.total.dim() == 0 and torch.isfinite(loss.total), "loss.total is not a finite scalar")
    require(
        isinstance(loss.count, int) and loss.count > 0, f"loss.count is {loss.count!r}, expected how many predictions"
    )
    require(torch.equal(loss.total, again.total), "the loss of the same batch differs the second time")
    per_prediction = float(loss.total.detach()) / loss.count
    ceiling = 3 * math.log(max(2, *_sizes(case)))
    require(0 < per_prediction < ceiling, f"an untrained model has a loss of {per_prediction:.2f} nats: is it a sum?")


@tasks("the settings count the parameters, and every one gets a gradient")
def every_parameter_learns(case: TaskCase) -> None:
    model, task = case.model, case.task
    count = parameters(case.settings, case.dataset.vocabulary.sizes).total
    built = sum(parameter.numel() for parameter in model.parameters())
    require(count == built, f"the settings count {count} parameters, the model has {built}")
    batches = math.ceil(task.steps_per_epoch)
    losses = [task.loss(model, task.batch("train", 0, at), None, 0).total for at in range(batches)]
    torch.stack(losses).sum().backward()
    idle = [name for name, parameter in model.named_parameters() if parameter.grad is None]
    model.zero_grad(set_to_none=True)
    require(not idle, f"no gradient reaches {', '.join(idle)}")


# --- scoring --------------------------------------------------------------------------------------------------------


@tasks("scores repeat, agree with their units, and with the loss of training")
def scores_count_every_unit_once(case: TaskCase) -> None:
    task, model = case.task, case.model
    for mode in task.modes:
        scores, again = (task.score(model, "validation", mode) for _ in range(2))
        require(np.array_equal(scores.nats_U, again.nats_U), f"scoring twice in mode '{mode}' gives two results")
        units = task.unit_sums(scores)
        require(int(units.tokens_U.sum()) == scores.tokens, f"units in mode '{mode}' do not hold every token once")
        require(len(units.sums_UK) == len(units.tokens_U), "unit_sums has not one row of sums for each unit")
    if not isinstance(task, ExampleTask):
        return
    scores = task.score(model, "train")
    losses = [task.loss(model, task.batch("train", 0, at), None, 0) for at in range(math.ceil(task.steps_per_epoch))]
    total = sum(float(loss.total.detach()) for loss in losses)
    require(sum(loss.count for loss in losses) == scores.tokens, "an epoch does not hold every prediction once")
    require(math.isclose(total, scores.nats, rel_tol=1e-4), f"an epoch's loss is {total}, its score {scores.nats}")


@tasks("the parts of a batch, as several processes take them, add up to its loss")
def parts_add_up(case: TaskCase) -> None:
    task, batch = case.task, case.task.batch("train", 0, 0)
    if type(task).loss_of_rows is not Task.loss_of_rows:  # a loss across rows, which asks the other processes
        return
    spans = [World(rank, 2).rows(len(batch.tensors()[0])) for rank in range(2)]
    whole = task.loss(case.model, batch, None, 0)
    parts = [task.loss_of_rows(case.model, batch, span, None, 0) for span in spans]
    expected, total = float(whole.total.detach()), sum(float(part.total.detach()) for part in parts)
    require(sum(part.count for part in parts) == whole.count, "the parts of a batch have other predictions than it has")
    require(
        math.isclose(total, expected, rel_tol=1e-4),
        f"a batch has a loss of {expected}, its parts of {total}: override loss_of_rows or Batch.part",
    )


@tasks("padding changes no loss")
def padding_changes_nothing(case: TaskCase) -> None:
    if not isinstance(case.task, ExampleTask):
        return
    split = case.task.splits["validation"]
    with torch.inference_mode():
        together = case.task.nats(case.model, split, np.arange(len(split)))
        alone = [case.task.nats(case.model, split, np.array([row]))[0] for row in range(len(split))]
    require(np.allclose(together, alone, rtol=1e-4), "the loss of an example depends on the others in its batch")


@tasks("the declared metrics are computed, and agree with their unit sums")
def metrics_are_declared(case: TaskCase) -> None:
    task = case.task
    scores = task.score(case.model, "validation")
    metrics = task.metrics(scores)
    require(task.headline_metric.key in metrics, f"metrics lack the headline metric '{task.headline_metric.key}'")
    value = float(task.metric.value(task.unit_sums(scores).sums_UK.sum(0)))
    given = metrics.get(task.metric.key, value)
    require(math.isclose(given, value, rel_tol=1e-6), f"{task.metric.key} is {given}, but its unit sums give {value}")
    deciding = task.metrics(task.score(case.model, "test")) if "test" in task.splits else metrics
    missing = [key for key in task.reported_metrics if key not in deciding]
    require(not missing, f"reported_metrics names {', '.join(missing)}, which metrics() lacks")
    sentence = task.result_sentence(metrics)
    require(sentence and not sentence.endswith("."), f"the result in words is {sentence!r}, expected no period")


@tasks("baselines are scored on the same units")
def baselines_are_on_the_same_units(case: TaskCase) -> None:
    task = case.task
    units = task.unit_sums(task.score(case.model, "validation"))
    baselines = task.score_baselines(case.dataset, "validation", units)
    require(sum(baseline.role == "main" for baseline in baselines) <= 1, "more than one baseline is the main one")
    for baseline in baselines:
        name = baseline.name
        require(task.headline_metric.key in baseline.metrics, f"the baseline '{name}' lacks the headline metric")
        if baseline.sums_UK is not None:
            require(baseline.sums_UK.shape == units.sums_UK.shape, f"the baseline '{name}' is on other units")
            value = float(task.metric.value(baseline.sums_UK.sum(0)))
            require(math.isclose(value, baseline.value, rel_tol=1e-6), f"the sums of '{name}' do not give its value")


# --- use ------------------------------------------------------------------------------------------------------------


@tasks("predictions keep the order of their texts, and do not depend on each other")
def predictions_keep_their_order(case: TaskCase) -> None:
    command, call = type(case.task).usage("RUN")
    require(isinstance(command, str) and "run." in call, "usage() is no command line and no call of `run`")
    if not isinstance(case.task, ExampleTask):
        return
    texts = [" ".join(words) for words in SENTENCES[:7]]
    vocabulary = case.dataset.vocabulary
    together = case.task.predict(case.model, texts, vocabulary, case.settings)
    require([prediction.text for prediction in together] == texts, "predictions are not in the order of their texts")
    for text, prediction in zip(texts, together, strict=True):
        (alone,) = case.task.predict(case.model, [text], vocabulary, case.settings)
        same = alone.lines(80)[0] == prediction.lines(80)[0]
        require(same, f"the prediction for {text!r} depends on the other texts")
        json.dumps(prediction.as_dict())


def _sizes(case: TaskCase) -> tuple[int, ...]:
    sizes = case.dataset.vocabulary.sizes
    return sizes.vocab_size, sizes.target, sizes.labels
