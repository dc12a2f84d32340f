"""Suggested settings for a text, by simple rules, and an estimate of the training time on this machine."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from seqlab.analysis.scan import TextScan
from seqlab.config import build_settings, expand_short_names
from seqlab.data.text.corpus import Corpus
from seqlab.data.text.split import split_text
from seqlab.models.parameter_count import parameters
from seqlab.runs.load import build_model
from seqlab.runs.reopen import make_task
from seqlab.tasks.dataset import text_dataset
from seqlab.tasks.language import LanguageTask
from seqlab.threads import compute_threads, default_threads
from seqlab.training.baselines import MAX_BASELINE_TOKENS
from seqlab.training.budget import DEFAULT_STEPS, PATIENCE, most_steps
from seqlab.training.dropout import default_dropout
from seqlab.training.evaluations import EVALUATED_TOKENS, evaluation_count
from seqlab.training.timing import (
    BASELINE_SECONDS,
    EVALUATION_SECONDS,
    RUN_SECONDS,
    STARTUP_SECONDS,
    disturbance,
    time_training,
    watch_other_programs,
)

MAX_DISTINCT = 500  # with more, as in Chinese or Japanese, there are too many characters to learn each
MAX_CHARACTERS = 20_000_000  # for a character tokenizer
LINE_BATCH_SIZE = 64  # lines are short, so a step can take more of them


@dataclass(frozen=True)
class SizePreset:
    """Settings for texts of at most `characters` characters."""

    characters: float
    name: str
    hidden: int
    window: int
    steps: int
    vocab_size: int


SIZES = (
    SizePreset(100_000, "a short text", 128, 64, DEFAULT_STEPS, 1000),
    SizePreset(5_000_000, "a text of medium length", 256, 128, DEFAULT_STEPS, 2000),
    SizePreset(50_000_000, "a long text", 512, 128, 2 * DEFAULT_STEPS, 2000),
    SizePreset(float("inf"), "a very long text", 512, 128, 2 * DEFAULT_STEPS, 4000),
)


@dataclass(frozen=True)
class SuggestedSettings:
    """Settings by one-word names, as `seqlab.train` takes them, and the reasons."""

    settings: dict[str, Any]
    reasons: list[str]

    def command(self, source: Sequence[str]) -> str:
        options = [(f"--{name.replace('_', '-')}", str(value)) for name, value in self.settings.items()]
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

    def __str__(self) -> str:
        plural = "s" if self.threads > 1 else ""
        rough = f" {self.disturbance}" if self.disturbance else ""
        return (
            f"{self.steps:,} steps of {self.parameters:,} parameters take about {format_duration(self.seconds)} "
            f"on {self.threads} thread{plural} of this machine.{rough}"
        )


def suggest_settings(scan: TextScan, documents: str) -> SuggestedSettings:
    """Tokenizer and sizes by the length of the text, its characters and its lines."""
    size = next(size for size in SIZES if scan.characters <= size.characters)
    settings: dict[str, Any] = {"arch": "lstm"}
    reasons: list[str] = []
    distinct = scan.character_stats.distinct
    if distinct > MAX_DISTINCT or scan.characters > MAX_CHARACTERS:
        settings |= {"tokenizer": "bpe", "vocab_size": size.vocab_size}
        why = f"{distinct:,} distinct characters" if distinct > MAX_DISTINCT else f"{scan.characters:,} characters"
        reasons.append(f"{why}: {size.vocab_size:,} byte pairs make the text shorter")
    else:
        settings["tokenizer"] = "char"
        reasons.append(f"{distinct:,} distinct characters: one token for each is enough")
    if documents == "lines" or scan.looks_like_a_list:
        settings |= {"documents": "lines", "batch_size": LINE_BATCH_SIZE}
        if documents != "lines":
            reasons.append("nearly all lines are short, as in a list: --documents lines makes each line a document")
    settings |= {"hidden": size.hidden, "window": size.window, "steps": size.steps}
    reasons.append(f"{size.name}: {size.hidden} hidden units, windows of {size.window} tokens")
    return SuggestedSettings(settings, reasons)


def estimate_training(
    suggestion: SuggestedSettings, scan: TextScan, sample: Corpus
) -> tuple[SuggestedSettings, TrainingEstimate]:
    """Time the suggested model on a sample of the text. Steps, early stopping and dropout are those of training."""
    settings = build_settings({"corpus": {"source": ["sample"]}}, expand_short_names(suggestion.settings))
    text = split_text(sample, settings.corpus)
    dataset = text_dataset(text, settings)
    settings = LanguageTask.fit_settings(settings, dataset, lambda _: None)
    task = make_task(settings, dataset)
    model = build_model(settings, dataset.vocabulary.sizes)
    threads = settings.train.threads or default_threads()
    with compute_threads(threads), watch_other_programs() as others:
        timing = time_training(model, task, settings.train)

    times_sample = scan.characters / text.stats.characters
    steps = min(suggestion.settings["steps"], most_steps(task.steps_per_epoch * times_sample))
    count = parameters(settings, dataset.vocabulary.sizes)
    rate = default_dropout(steps, count.total, round(len(dataset.splits["train"]) * times_sample))
    changes = {"steps": steps, "patience": PATIENCE, "dropout": rate}
    reason = f"dropout {rate:g}, by the parameters for each token of the text and the steps; early stopping"
    held_out = len(dataset.splits["validation"])
    evaluated = min(EVALUATED_TOKENS, held_out * times_sample) / held_out
    evaluations = evaluation_count(settings.train, steps) + 1  # and the final one
    seconds = steps * timing.step_seconds
    seconds += evaluations * (evaluated * timing.evaluation_seconds + EVALUATION_SECONDS)
    counted = len(dataset.splits["train"]) * times_sample
    seconds += STARTUP_SECONDS + RUN_SECONDS
    seconds += BASELINE_SECONDS * counted if counted <= MAX_BASELINE_TOKENS else 0.0
    rough = disturbance(others, timing.spread, threads)
    estimate = TrainingEstimate(steps, seconds, timing.step_seconds, count.total, threads, rough)
    return SuggestedSettings({**suggestion.settings, **changes}, [*suggestion.reasons, reason]), estimate


def format_duration(seconds: float) -> str:
    """75 to '75 s', 250 to '4 min', 10,000 to '2.8 h'."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
