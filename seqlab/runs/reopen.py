"""The data, the task and the teacher of a run, opened again from its settings."""

from functools import cache, partial
from pathlib import Path
from typing import Any

from seqlab.config import RunSettings
from seqlab.errors import DataError, UsageError
from seqlab.registry import TASKS
from seqlab.runs.directory import RunDirectory
from seqlab.runs.load import load_parts, load_run
from seqlab.tasks.dataset import Dataset, DatasetChanged
from seqlab.tasks.text_settings import LanguageSettings
from seqlab.tokenization.vocabulary import Vocabulary


def make_task(settings: RunSettings, dataset: Dataset) -> Any:
    task = TASKS.load(settings.task.name).from_dataset(settings, dataset)
    own = settings.task.settings
    if isinstance(own, LanguageSettings) and own.teacher is not None and own.teacher_weight > 0:
        task.teacher = cache(partial(_teacher, own.teacher, settings, dataset))
    return task


def teacher_of(settings: RunSettings) -> str | None:
    own = settings.task.settings
    return own.teacher if isinstance(own, LanguageSettings) else None


def teacher_at(path: str | Path) -> tuple[RunSettings, Vocabulary]:
    """The settings and symbols of a run that can teach."""
    _, _, settings, vocabulary = load_parts(Path(path))
    if not TASKS.load(settings.task.name).generates:
        raise UsageError(f"the teacher '{path}' is no language model.")
    return settings, vocabulary


def teacher_vocabulary(settings: RunSettings) -> Vocabulary | None:
    """Those of the teacher, where there is one: what it doubts must be what the student reads."""
    path = teacher_of(settings)
    if path is None:
        return None
    own, vocabulary = teacher_at(path)
    ours, theirs = settings.resolved()["tokenizer"], own.resolved()["tokenizer"]
    if ours != theirs:
        raise UsageError(f"the teacher '{path}' reads symbols of {theirs}, and its student cannot read {ours}.")
    return vocabulary


def _teacher(path: str, settings: RunSettings, dataset: Dataset) -> Any:
    """The model of a run that reads the same symbols and has not read what is held out; its weights stay."""
    run = load_run(Path(path))
    if run.vocabulary.fingerprint != dataset.vocabulary.fingerprint:
        raise UsageError(f"the teacher '{path}' reads other symbols than this run: start anew with its tokenizer.")
    same = run.config["corpus"]["fingerprint"] == dataset.fingerprint
    before, now = run.settings.corpus.split_ratios, settings.corpus.split_ratios
    if same and before != now:
        raise UsageError(
            f"the teacher '{path}' has read the {before} split of this text, so it knows what {now} holds out from its "
            f"student. Use --split {before}, or train a teacher on {now}."
        )
    return run.model.to(settings.train.device).requires_grad_(False)


def reopen(directory: RunDirectory, config: dict[str, Any], settings: RunSettings, vocabulary: Vocabulary) -> Dataset:
    """The data of a run, if it is still the same."""
    task = TASKS.load(settings.task.name)
    try:
        return task.open_dataset(
            settings, lambda _: None, vocabulary, directory.stdin_copy, config["corpus"]["fingerprint"]
        )
    except DatasetChanged as found:
        raise DataError(
            f"'{', '.join(settings.corpus.source)}' is no longer the text that '{directory.path}' was trained on: "
            f"it has {found.characters:,} characters, then {config['corpus']['characters']:,}, and another SHA-256. "
            f"Bring the old text back, or start on the new one: seqlab train ... --init {directory.path}"
        ) from None
