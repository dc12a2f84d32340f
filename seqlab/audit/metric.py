"""Check of the metric that models are judged by: predicted again, counted again, and equal."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from seqlab.audit.counting import Count, metric_of
from seqlab.audit.predictions import Predict, predictor
from seqlab.audit.result import check
from seqlab.audit.tolerance import largest, within_tolerance
from seqlab.data.examples.example import Example, LabeledText, TaggedSentence
from seqlab.runs.run import Run
from seqlab.tasks.dataset import ExampleDataset
from seqlab.tasks.examples import ExampleTask

MAX_TOKENS = 20_000  # ids of inputs and targets, predicted one example at a time
MAX_SEARCHED = 3_000  # the same where every output is searched for
ROUNDING = 1e-6  # in the units of the metric
RECORDED = 0.01  # a recorded value, relative: another machine may settle near-ties in another way


@check("the metric equals an independent count")
@torch.inference_mode()
def metric(run: Run, task: ExampleTask, dataset: ExampleDataset) -> tuple[bool | None, str]:
    """Every held-out example is predicted alone and counted plainly; the task must report the same number."""
    predict = predictor(run.model, run.vocabulary, run.settings)
    if predict is None:
        return None, f"there is no independent way to run a {task.model_kind}"
    name, count = metric_of(task.settings, run.vocabulary.labels)
    held_out = [split for split in task.splits if split != "train"]
    results = [
        _recount(run, task, split, dataset.data.splits[split], partial(_counted, predict, count)) for split in held_out
    ]
    return all(passed for passed, _ in results), f"{name}; " + "; ".join(detail for _, detail in results)


def _counted(predict: Predict, count: Count, model: Any, examples: Sequence[Example]) -> float:
    return count([_gold(example) for example in examples], [predict(model, example) for example in examples])


def _recount(
    run: Run,
    task: ExampleTask,
    split: str,
    given: Sequence[Example],
    counted: Callable[[Any, Sequence[Example]], float],
) -> tuple[bool, str]:
    """Whether the task reports what is counted for a split, and the numbers."""
    limit = MAX_SEARCHED if run.settings.task.settings.decodes else MAX_TOKENS
    examples = given[: task.splits[split].count_within(limit)]

    def measure(model: Any) -> float:
        expected = counted(model, examples)
        return largest([abs(value - expected) for value in _reported(task, model, split, limit, len(examples))])

    passed, _ = within_tolerance(run.model, measure, ROUNDING)
    expected = counted(run.model, examples)
    shown = f"{expected:.4g}" if split != "test" or not passed else "the same"  # to print it would be a look at it
    detail = f"{split}: {shown} counted over {len(examples):,} of {len(given):,} examples"
    if not passed:
        detail += f", {_reported(task, run.model, split, limit, len(examples))[0]:.4g} reported"
    if split == "validation" and len(examples) == len(given) and run.results:
        recorded = run.results.validation[task.metric.key]
        one_example = (task.metric.span or 0.0) / len(given)
        if abs(recorded - expected) > max(one_example, RECORDED * max(1.0, abs(expected))):
            return False, f"{detail}, {recorded:.4g} in results.json"
    return passed, detail


def _reported(task: Any, model: Any, split: str, limit: int, examples: int) -> list[float]:
    """The metric that tables show, and the one that verdicts follow from; infinite if examples are missing."""
    scores = task.score(model, split, limit=limit)
    sums_UK = task.unit_sums(scores).sums_UK
    if len(sums_UK) != examples:
        return [float("inf")]
    return [task.metrics(scores)[task.metric.key], float(task.metric.value(sums_UK.sum(0)))]


def _gold(example: Example) -> Any:
    if isinstance(example, LabeledText):
        return example.label
    return list(example.tags) if isinstance(example, TaggedSentence) else example.target
