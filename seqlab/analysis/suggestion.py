"""Which settings suit a text, by simple rules that are said aloud, and how long training with them takes here."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seqlab.analysis.scan import Scan
from seqlab.config import build_settings, expand_short_names
from seqlab.data.text.corpus import Corpus
from seqlab.data.text.split import split_text
from seqlab.models.parameter_count import parameters
from seqlab.runs.load import build_model
from seqlab.runs.reopen import make_task
from seqlab.tasks.dataset import text_dataset, train_tokenizer
from seqlab.tasks.language import LanguageTask
from seqlab.threads import compute_threads, default_threads
from seqlab.tokenization.vocabulary import Vocabulary
from seqlab.training.budget import DEFAULT_STEPS, MAX_EPOCHS
from seqlab.training.evaluations import EVALUATED_TOKENS, evaluation_count
from seqlab.training.timing import time_training

MOST_SYMBOLS = 500  # beyond that, as in Chinese or Japanese, characters are too many to learn one by one
LARGEST_BY_CHARACTER = 20_000_000  # characters
BATCH_OF_LINES = 64  # lines are short, so that more of them fit into a step


@dataclass(frozen=True)
class Size:
    """What suits texts of up to so many characters."""

    characters: float
    name: str
    hidden: int
    window: int
    steps: int
    vocab_size: int


SIZES = (
    Size(100_000, "a short text", 128, 64, DEFAULT_STEPS, 1000),
    Size(5_000_000, "a text of middling length", 256, 128, DEFAULT_STEPS, 2000),
    Size(50_000_000, "a long text", 512, 128, 2 * DEFAULT_STEPS, 2000),
    Size(float("inf"), "a very long text", 512, 128, 2 * DEFAULT_STEPS, 4000),
)


@dataclass(frozen=True)
class Suggestion:
    """Settings by one word, as `seqlab.train` takes them, and why."""

    settings: dict[str, Any]
    reasons: list[str]

    def command(self, source: Sequence[str]) -> str:
        options = [
            word for name, value in self.settings.items() for word in (f"--{name.replace('_', '-')}", str(value))
        ]
        return shlex.join(["seqlab", "train", *source, *options])


@dataclass(frozen=True)
class Expected:
    """How long the suggested training takes on this machine, from a few timed steps."""

    steps: int
    seconds: float
    seconds_per_step: float
    parameters: int
    threads: int

    def __str__(self) -> str:
        plural = "s" if self.threads > 1 else ""
        return (
            f"{self.steps:,} steps of {self.parameters:,} parameters take about {duration(self.seconds)} "
            f"on {self.threads} thread{plural} of this machine."
        )


def suggest(found: Scan, documents: str) -> Suggestion:
    """Tokenizer and sizes from the text's length, its symbols and the shape of its lines."""
    size = next(size for size in SIZES if found.characters <= size.characters)
    settings: dict[str, Any] = {"arch": "lstm"}
    reasons: list[str] = []
    distinct = found.symbols.distinct
    if distinct > MOST_SYMBOLS or found.characters > LARGEST_BY_CHARACTER:
        settings |= {"tokenizer": "bpe", "vocab_size": size.vocab_size}
        why = f"{distinct:,} distinct characters" if distinct > MOST_SYMBOLS else f"{found.characters:,} characters"
        reasons.append(f"{why}: byte pairs, {size.vocab_size:,} of them, make the text shorter")
    else:
        settings["tokenizer"] = "char"
        reasons.append(f"{distinct:,} distinct characters: one symbol for each is enough")
    if documents == "lines" or found.looks_like_a_list:
        settings |= {"documents": "lines", "batch_size": BATCH_OF_LINES}
        if documents != "lines":
            reasons.append("nearly all lines are short, as in a list: with --documents lines each stands for itself")
    settings |= {"hidden": size.hidden, "window": size.window, "steps": size.steps}
    reasons.append(f"{size.name}: a state of {size.hidden}, windows of {size.window} tokens")
    return Suggestion(settings, reasons)


def expect(suggestion: Suggestion, found: Scan, sample: Corpus) -> tuple[Suggestion, Expected]:
    """Time the suggested model on a sample of the text; its steps come down where they pass over it too often."""
    settings = build_settings({"corpus": {"source": ["sample"]}}, expand_short_names(suggestion.settings))
    split = split_text(sample, settings.corpus)
    dataset = text_dataset(split, Vocabulary(train_tokenizer(split, settings)))
    settings = LanguageTask.fit_settings(settings, dataset, lambda _: None)
    task = make_task(settings, dataset)
    model = build_model(settings, dataset.vocabulary.sizes)
    with compute_threads(settings.train.threads):
        timing = time_training(model, task, settings.train)

    times_sample = found.characters / split.stats.characters
    steps = min(suggestion.settings["steps"], max(1, round(MAX_EPOCHS * task.steps_per_epoch * times_sample)))
    held_out = len(dataset.splits["validation"])
    evaluated = min(EVALUATED_TOKENS, held_out * times_sample) / held_out
    evaluations = evaluation_count(settings.train, steps) + 1  # and the final one
    seconds = steps * timing.step_seconds + evaluations * evaluated * timing.evaluation_seconds
    count = parameters(settings, dataset.vocabulary.sizes)
    expected = Expected(steps, seconds, timing.step_seconds, count.total, settings.train.threads or default_threads())
    return Suggestion({**suggestion.settings, "steps": steps}, suggestion.reasons), expected


def duration(seconds: float) -> str:
    """75 to '75 s', 250 to '4 min', 10,000 to '2.8 h'."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
