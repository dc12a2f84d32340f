"""All checks of one run, on the model, task, tokenizer and text that it really has."""

from typing import cast

from seqlab.audit import data, examples, model, scoring, training
from seqlab.audit.result import CheckResult
from seqlab.data.text.tokens import TokenSplit
from seqlab.models.language_model import LanguageModel
from seqlab.runs.reopen import make_task
from seqlab.runs.run import Run
from seqlab.tasks.dataset import Dataset
from seqlab.tasks.examples import ExampleTask
from seqlab.tasks.text import TextTask
from seqlab.tasks.translate import TranslateTask

WRITES_NOTHING = "of a model that writes nothing"
BOTH_WAYS = "of a model that reads both ways"


def audit(run: Run) -> list[CheckResult]:
    """One line per check, always the same ones in the same order. Nothing of the run is changed."""
    dataset = run.dataset()
    task = make_task(run.settings, dataset)
    if isinstance(task, ExampleTask):
        return _of_examples(run, task, dataset)
    assert isinstance(task, TextTask)
    return [
        *_of_the_model(run, task.splits["validation"]),
        training.carried(task, run.model),
        data.vocabulary(run.tokenizer, dataset.data, run.settings, task.splits),
        data.overlap_of_splits(dataset.data),
        training.same_seed(run.settings, run.vocabulary, task),
        scoring.scored_twice(task, run.model),
        scoring.counted_once(task, run.model),
        scoring.by_hand(task, run.model),
    ]


def _of_examples(run: Run, task: ExampleTask, dataset: Dataset) -> list[CheckResult]:
    """Of a translator also what its decoder may know, and whether all ways of running it agree."""
    writer = task if isinstance(task, TranslateTask) else None
    decoding = (examples.future, examples.steps, examples.generation)
    return [
        *(check(writer, run.model) if writer else check.left_out(WRITES_NOTHING) for check in decoding),
        examples.padding(task, run.model),
        examples.symbols(run.settings, dataset),
        examples.overlap_of_parts(dataset),
        training.same_seed(run.settings, run.vocabulary, task),
        scoring.scored_twice(task, run.model),
        examples.counted_once(task, run.model),
        examples.by_hand(task, run.model),
    ]


def _of_the_model(run: Run, part: TokenSplit) -> list[CheckResult]:
    tokens_BT = model.held_out(run.model, part)
    padding = model.padding(run.model, tokens_BT, run.generates)
    if not run.generates:
        asked_of_writers = (model.future, model.steps, model.chunks, model.generation)
        return [*(check.left_out(BOTH_WAYS) for check in asked_of_writers), padding]
    writer = cast(LanguageModel, run.model)
    return [
        model.future(writer, tokens_BT),
        model.steps(writer, tokens_BT),
        model.chunks(writer, tokens_BT),
        model.generation(writer, tokens_BT.flatten().tolist(), run.tokenizer.never_sampled),
        padding,
    ]
