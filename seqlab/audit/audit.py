"""All checks of one run, on the model, task, tokenizer and text that it really has."""

from typing import cast

from seqlab.api import Run
from seqlab.audit import data, examples, model, scoring, training
from seqlab.audit.result import CheckResult
from seqlab.data.tokens import TokenPart
from seqlab.models.language import LanguageModel
from seqlab.tasks.examples import ExampleTask
from seqlab.tasks.material import Material
from seqlab.tasks.text import TextTask
from seqlab.tasks.translate import TranslateTask
from seqlab.training.prepare import make_task

WRITES_NOTHING = "of a model that writes nothing"
BOTH_WAYS = "of a model that reads both ways"


def audit(run: Run) -> list[CheckResult]:
    """One line per check, always the same ones in the same order. Nothing of the run is changed."""
    material = run.material()
    task = make_task(run.settings, material)
    if isinstance(task, ExampleTask):
        return _of_examples(run, task, material)
    assert isinstance(task, TextTask)
    return [
        *_of_the_model(run, task.parts["validation"]),
        training.carried(task, run.model),
        data.vocabulary(run.tokenizer, material.data, run.settings, task.parts),
        data.overlap_of_splits(material.data),
        training.same_seed(run.settings, run.lexicon, task, run.directory),
        scoring.scored_twice(task, run.model),
        scoring.counted_once(task, run.model),
        scoring.by_hand(task, run.model),
    ]


def _of_examples(run: Run, task: ExampleTask, material: Material) -> list[CheckResult]:
    """Of a translator also what its decoder may know, and whether all ways of running it agree."""
    writer = task if isinstance(task, TranslateTask) else None
    decoding = (examples.future, examples.steps, examples.generation)
    return [
        *(check(writer, run.model) if writer else check.left_out(WRITES_NOTHING) for check in decoding),
        examples.padding(task, run.model),
        examples.symbols(run.settings, material),
        examples.overlap_of_parts(material),
        training.same_seed(run.settings, run.lexicon, task, run.directory),
        scoring.scored_twice(task, run.model),
        examples.counted_once(task, run.model),
        examples.by_hand(task, run.model),
    ]


def _of_the_model(run: Run, part: TokenPart) -> list[CheckResult]:
    tokens_BT = model.held_out(run.model, part)
    padding = model.padding(run.model, tokens_BT, run.writes)
    if not run.writes:
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
