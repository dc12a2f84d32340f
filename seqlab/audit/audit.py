"""All checks of one run, on the model, task, tokenizer and text that it really has."""

from typing import cast

from seqlab.api import Run
from seqlab.audit import data, model, scoring, training
from seqlab.audit.result import CheckResult
from seqlab.data.tokens import TokenPart
from seqlab.models.language import LanguageModel
from seqlab.training.prepare import reopen

BOTH_WAYS = "of a model that reads both ways"


def audit(run: Run) -> list[CheckResult]:
    """One line per check, always the same ones in the same order. Nothing of the run is changed."""
    task, split = run.task(), reopen(run.directory, run.config, run.settings)
    return [
        *_of_the_model(run, task.parts["validation"]),
        training.carried(task, run.model),
        data.vocabulary(run.tokenizer, split, run.settings, task.parts),
        data.overlap_of_splits(split),
        training.same_seed(run.settings, run.tokenizer.vocabulary, task, run.directory),
        scoring.scored_twice(task, run.model),
        scoring.counted_once(task, run.model),
        scoring.by_hand(task, run.model),
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
