"""The data doctor for examples: a report on a table, tagged words or pairs of texts before training.

Everything is read, split, encoded and scored as training does it.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from seqlab.analysis.diagnosis import Diagnosis
from seqlab.analysis.suggestion import SuggestedSettings, TrainingEstimate, estimate_run
from seqlab.config import RunSettings
from seqlab.data.content_notes import notes_on_content
from seqlab.data.examples.checks import (
    alike_inputs,
    count_answers,
    count_labels_of,
    few_examples_note,
    never_scored_notes,
)
from seqlab.data.examples.columns import LABELED, PAIRS, find_columns
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.examples.example import Examples, TaggedSentence
from seqlab.data.examples.giveaways import giveaway_notes
from seqlab.data.examples.lines import TABLES, Location, quote_list, suffix
from seqlab.data.examples.table_sample import sample_table
from seqlab.data.file_names import shorten
from seqlab.data.near_copies import reworded_notes
from seqlab.data.overlap import example_overlap
from seqlab.errors import DataError
from seqlab.metrics.metric import Metric
from seqlab.registry import CORPORA, TASKS
from seqlab.runs.directory import free_run_path
from seqlab.runs.reopen import make_task
from seqlab.tasks.as_read import reading_notes, unfit_words
from seqlab.tasks.task import UnitSums
from seqlab.tasks.too_long import lost_labels_note
from seqlab.training.baselines import measure_baselines
from seqlab.training.budget import DEFAULT_STEPS
from seqlab.training.evaluations import FINAL_TOKENS
from seqlab.wording import counted

RARE = 10  # a label with fewer training examples is rare
IMBALANCE = 10  # how many times as frequent as the rarest the most frequent label is, from which on this is said


@dataclass(frozen=True)
class LabelCount:
    """A label or tag: how often the splits have it, and its share of what is trained on."""

    label: str
    train: int
    share: float
    validation: int


@dataclass(frozen=True)
class TokenLengths:
    """Lengths of the training examples in tokens, of the longer side in pairs; `over` of them exceed the limit."""

    median: int
    longest: int
    limit: int
    over: int


@dataclass(frozen=True)
class RepeatedInputs:
    """Examples whose input an earlier one has, inputs that are alike an earlier one, inputs with several answers, and
    inputs that training has too."""

    repeated: int
    alike: int
    contradicting: int
    in_training: dict[str, int]  # by held-out split


@dataclass(frozen=True, kw_only=True)
class ExampleDiagnosis(Diagnosis):
    """The result of `examine_examples`."""

    task: str
    columns: tuple[str, str] | None = None
    splits: dict[str, int] = field(default_factory=dict)
    rule: str = ""
    labels: list[LabelCount] = field(default_factory=list)  # the most frequent first
    lengths: TokenLengths | None = None
    inputs: RepeatedInputs | None = None
    warnings: list[str] = field(default_factory=list)
    metric: Metric | None = None


def examine_examples(
    source: Sequence[str],
    settings: RunSettings,
    options: Mapping[str, Any],
    notes: Sequence[str],
    log: Callable[[str], None],
) -> ExampleDiagnosis:
    """Examine what these settings read; `options` are those that the command repeats, `notes` what was inferred."""
    try:
        return _examine(tuple(source), settings, options, notes, log)
    except DataError as error:
        name = Path(source[0]).name
        about = {"name": name, "source": tuple(source), "task": settings.task.name}
        return ExampleDiagnosis(**about, notes=[*notes], refusal=str(error))


def _examine(
    source: tuple[str, ...],
    settings: RunSettings,
    options: Mapping[str, Any],
    notes: Sequence[str],
    log: Callable[[str], None],
) -> ExampleDiagnosis:
    task_type = TASKS.load(settings.task.name)
    log("reading the examples")
    data = task_type.read(settings)
    assert isinstance(data, Examples)
    dataset = task_type.encode_splits(data, settings)
    unfit = unfit_words(dataset.splits, dataset.vocabulary)
    if unfit:
        settings = settings.with_values(**{"tokenizer.name": "char"})
        dataset = task_type.encode_splits(data, settings)
        options = {**options, "tokenizer": "char"}
    fitted = task_type.fit_settings(settings, dataset, lambda _: None)
    task, held_out = make_task(fitted, dataset), dataset.splits["validation"]
    scored = held_out.count_within(FINAL_TOKENS)
    train, limit = dataset.splits["train"], fitted.task.settings.sequence_length
    labels = _count_labels(data, train.up_to(limit))
    warnings = [unfit.removeprefix("warning: ")] if unfit else []
    warnings += [lost] if (lost := lost_labels_note(train, limit)) else []
    few = few_examples_note({name: len(split) for name, split in dataset.splits.items()})
    warnings += [*_label_warnings(data, labels), *never_scored_notes(data.splits), *few]
    warnings += [*reworded_notes(data.splits), *giveaway_notes(data.splits)]
    log("timing training steps")
    estimate = estimate_run(fitted, dataset, DEFAULT_STEPS)
    log("scoring baselines")
    return ExampleDiagnosis(
        name=data.name,
        source=source,
        task=settings.task.name,
        columns=_columns(settings),
        notes=[*notes, *data.notes, *notes_on_content(data), *reading_notes(dataset.splits, dataset.vocabulary)],
        splits={split: len(examples) for split, examples in data.splits.items()},
        rule=data.rule,
        labels=labels,
        lengths=_lengths(train, limit),
        inputs=_repeated_inputs(data),
        warnings=warnings,
        metric=task.headline_metric,
        baselines=measure_baselines(fitted, dataset, task, UnitSums(np.zeros((scored, 1)), np.ones(scored, int))),
        baselines_on=f"the {'first ' * (scored < len(held_out))}{counted(scored, 'validation example')}",
        suggestion=_suggestion(data.name, settings, options, estimate, len(train.up_to(limit))),
        estimate=estimate,
    )


def _columns(settings: RunSettings) -> tuple[str, str] | None:
    """The columns of the table that training reads; None for other files."""
    corpus, kind = settings.corpus, settings.task.settings.examples
    path = Path(corpus.source[0])
    is_table = kind != "tagged" and not path.is_dir() and (suffix(path) in TABLES or len(corpus.source) == 1)
    if corpus.columns or not is_table or kind == "documents" or corpus.source[0] in CORPORA:
        return corpus.columns
    with suppress(DataError, ValueError, csv.Error, RecursionError):  # a broken first line, which reading skipped
        return find_columns(sample_table(path).names, LABELED if kind == "labeled" else PAIRS, None, Location(path, 1))
    return None


def _count_labels(data: Examples, trained: ExampleSplit) -> list[LabelCount]:
    """Labels of the training split, some of which no example may have that is short enough to be trained on."""
    train, validation = count_labels_of(trained.examples), count_labels_of(data.splits["validation"])
    train.update(dict.fromkeys(count_labels_of(data.splits["train"]), 0))
    return [LabelCount(label, count, count / train.total(), validation[label]) for label, count in train.most_common()]


def _label_warnings(data: Examples, labels: Sequence[LabelCount]) -> list[str]:
    if not labels:
        return []
    of_words = isinstance(data.splits["train"][0], TaggedSentence)
    what, unit = ("tags", "words") if of_words else ("labels", "examples")
    warnings: list[str] = []
    most, least = labels[0], [label for label in labels if label.train][-1]
    if not of_words and most.train >= IMBALANCE * least.train:  # most words are of no entity, as they should be
        warnings.append(
            f"'{shorten(most.label, 40)}' is {most.train / least.train:,.0f} times as frequent as "
            f"'{shorten(least.label, 40)}': accuracy says little about rare labels, macro F1 more"
        )
    if rare := [f"{label.label} ({label.train})" for label in labels if label.train < RARE]:
        warnings.append(
            f"{what} with fewer than {RARE} training {unit}, too few to learn from: {len(rare):,} of {len(labels):,} "
            f"({quote_list(rare, 5)})"
        )
    return warnings


def _lengths(train: ExampleSplit, limit: int) -> TokenLengths:
    lengths_N = train.longest_N
    return TokenLengths(int(np.median(lengths_N)), int(lengths_N.max()), limit, int((lengths_N > limit).sum()))


def _repeated_inputs(data: Examples) -> RepeatedInputs:
    """Counts over all splits."""
    answers = count_answers(example for examples in data.splits.values() for example in examples)
    in_training = {
        split: example_overlap(examples, data.splits["train"]).repeated
        for split, examples in data.splits.items()
        if split != "train"
    }
    repeated = sum(map(len, data.splits.values())) - len(answers)
    alike = sum(len(some) - 1 for some in alike_inputs(answers))
    return RepeatedInputs(repeated, alike, sum(len(given) > 1 for given in answers.values()), in_training)


def _suggestion(
    name: str, settings: RunSettings, options: Mapping[str, Any], estimate: TrainingEstimate, examples: int
) -> SuggestedSettings:
    """The defaults of the task, for as many steps as training takes by itself."""
    arch, task, tokenizer = settings.backbone.name, settings.task.name, settings.tokenizer.name
    chosen = {"task": task, **options, "arch": arch, "steps": estimate.steps, "out": str(free_run_path(name, arch))}
    usual = "" if "tokenizer" in options else f", the defaults of --task {task}"
    reason = f"{counted(examples, 'training example')}: {arch} and {tokenizer} tokens{usual}"
    return SuggestedSettings(chosen, [reason])
