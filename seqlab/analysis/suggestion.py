"""Suggested settings for a text, by simple rules, and an estimate of any training time on this machine."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from seqlab.analysis.scan import TextScan
from seqlab.config import RunSettings, build_settings, expand_short_names
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.text.corpus import Corpus
from seqlab.data.text.split import split_text
from seqlab.models.parameter_count import parameters
from seqlab.registry import TASKS
from seqlab.runs.load import build_model
from seqlab.runs.reopen import make_task
from seqlab.tasks.dataset import AnyDataset, text_dataset
from seqlab.threads import compute_threads, default_threads
from seqlab.training.baselines import MAX_BASELINE_TOKENS
from seqlab.training.budget import DEFAULT_STEPS, PATIENCE, most_steps
from seqlab.training.dropout import default_dropout
from seqlab.training.evaluations import EVALUATED_TOKENS, evaluation_count
from seqlab.training.matmul import with_measured_matmul
from seqlab.training.timing import (
    BASELINE_SECONDS,
    EVALUATION_SECONDS,
    RUN_SECONDS,
    STARTUP_SECONDS,
    disturbance,
    time_range,
    time_training,
    watch_other_programs,
)
from seqlab.wording import counted

MAX_DISTINCT = 500  # with more, as in Chinese or Japanese, there are too many characters to learn each
MAX_CHARACTERS = 20_000_000  # for a character tokenizer
LONG_TEXT = 5_000_000  # characters: a model that is twice as wide and trained twice as long does not memorize them


@dataclass(frozen=True)
class SuggestedSettings:
    """Settings by one-word names, as `seqlab.train` takes them, and the reasons."""

    settings: dict[str, Any]
    reasons: list[str]

    def command(self, source: Sequence[str]) -> str:
        """One line for the shell; an option with a list of values is repeated."""
        options = [
            (f"--{name.replace('_', '-')}", str(value))
            for name, given in self.settings.items()
            for value in (given if isinstance(given, list) else [given])
        ]
        return shlex.join(["seqlab", "train", *source, *chain.from_iterable(options)])


@dataclass(frozen=True)
class TrainingEstimate:
    """The time of the suggested training on this machine, from a few timed steps."""

    steps: int
    seconds: float
    seconds_per_step: float
    parameters: int
    threads: int
    disturbance: str | None = None  # why it is rough, if other programs use the machine
    seconds_range: tuple[float, float] | None = None  # if it is rough

    def __str__(self) -> str:
        rough = f" {self.disturbance}" if self.disturbance else ""
        duration = format_range(*self.seconds_range) if self.seconds_range else format_duration(self.seconds)
        return (
            f"{counted(self.steps, 'step')} of {self.parameters:,} parameters take about "
            f"{duration} on {counted(self.threads, 'thread')} of this machine.{rough}"
        )


def suggest_settings(scan: TextScan, documents: str, in_shards: bool = False) -> SuggestedSettings:
    """The settings that training takes by itself, and others where the length of the text, its characters or its
    lines are a reason: not the lines of a text `in_shards`, which is read by documents."""
    settings: dict[str, Any] = {"arch": "lstm", "tokenizer": "char"}
    reasons: list[str] = []
    distinct = scan.character_stats.distinct
    if distinct > MAX_DISTINCT or scan.characters > MAX_CHARACTERS:
        settings["tokenizer"] = "bpe"
        why = f"{distinct:,} distinct characters" if distinct > MAX_DISTINCT else f"{scan.characters:,} characters"
        reasons.append(f"{why}: byte pairs make the text shorter")
    else:
        reasons.append(f"{distinct:,} distinct characters: one token for each is enough")
    if documents == "lines" or (scan.looks_like_a_list and not in_shards):
        settings["documents"] = "lines"
        if documents != "lines":
            reasons.append("nearly all lines are short, as in a list: --documents lines makes each line a document")
    usual = build_settings({"corpus": {"source": ["sample"]}}, expand_short_names(settings))
    hidden, window = usual.backbone.settings.hidden, usual.task.settings.option("window", None)
    is_long = scan.characters > LONG_TEXT
    factor = 2 if is_long else 1
    settings |= {"hidden": factor * hidden, "window": window, "steps": factor * DEFAULT_STEPS}
    sizes = f"{settings['hidden']} hidden units, windows of {window} tokens"
    default = f"twice the default width and at most twice its steps: {sizes}" if is_long else f"{sizes}, the defaults"
    reasons.append(f"{scan.characters:,} characters: {default}")
    return SuggestedSettings(settings, reasons)


def estimate_training(
    suggestion: SuggestedSettings, scan: TextScan, sample: Corpus
) -> tuple[SuggestedSettings, TrainingEstimate]:
    """Time the suggested model on a sample of the text. Steps, early stopping and dropout are those of training."""
    settings = build_settings({"corpus": {"source": ["sample"]}}, expand_short_names(suggestion.settings))
    text = split_text(sample, settings.corpus)
    dataset, times_sample = text_dataset(text, settings), scan.characters / text.stats.characters
    estimate = estimate_run(settings, dataset, suggestion.settings["steps"], times_sample)
    tokens = round(len(dataset.splits["train"]) * times_sample)
    rate = default_dropout(estimate.steps, estimate.parameters, tokens, settings.backbone.settings.dropout_share)
    changes = {"steps": estimate.steps, "patience": PATIENCE, "dropout": rate}
    reason = f"dropout {rate:g}, by the parameters for each token of the text and the steps; early stopping"
    return SuggestedSettings({**suggestion.settings, **changes}, [*suggestion.reasons, reason]), estimate


def estimate_run(
    settings: RunSettings, dataset: AnyDataset, wanted_steps: int, times_sample: float = 1.0
) -> TrainingEstimate:
    """Time a model on a dataset, which may be a sample of data that is `times_sample` as long.

    It takes the wanted steps, or fewer if they are too many epochs."""
    settings = TASKS.load(settings.task.name).fit_settings(settings, dataset, lambda _: None)
    task = make_task(settings, dataset)
    model = build_model(settings, dataset.vocabulary.sizes)
    threads = settings.train.threads or default_threads()
    with compute_threads(threads), watch_other_programs() as others:
        settings = with_measured_matmul(settings, lambda _: None)
        timing = time_training(model, task, settings.train, rough=True)

    train, held_out = dataset.splits["train"], dataset.splits["validation"]
    steps = min(wanted_steps, most_steps(settings, task.steps_per_epoch * times_sample))
    evaluated = max(1.0, min(EVALUATED_TOKENS / len(held_out), times_sample))
    evaluations = evaluation_count(settings.train, steps) + 1  # and the final one
    seconds = steps * timing.step_seconds
    seconds += evaluations * (evaluated * timing.evaluation_seconds + EVALUATION_SECONDS)
    seconds += STARTUP_SECONDS + RUN_SECONDS
    if len(train) * times_sample <= MAX_BASELINE_TOKENS:
        tokens = train.tokens if isinstance(train, ExampleSplit) else len(train)
        seconds += BASELINE_SECONDS * tokens * times_sample
    count = parameters(settings, dataset.vocabulary.sizes)
    rough = disturbance(others, timing.spread, threads)
    between = time_range(seconds, others, timing.spread, threads) if rough else None
    return TrainingEstimate(steps, seconds, timing.step_seconds, count.total, threads, rough, between)


def format_duration(seconds: float) -> str:
    """75 to '75 s', 250 to '4 min', 10,000 to '2.8 h'."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def format_range(least: float, most: float) -> str:
    """120 and 420 to '2 to 7 min', 40 and 120 to '40 s to 2 min'."""
    low, high = format_duration(least), format_duration(most)
    if low == high:
        return low
    return f"{low.split()[0] if low.split()[1] == high.split()[1] else low} to {high}"
