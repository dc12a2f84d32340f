"""The data, the task and the teacher of a run, opened again from its settings."""

import shlex
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from seqlab.config import CorpusSettings, RunSettings
from seqlab.data.corpora.large_text import LargeText
from seqlab.data.corpora.source import is_address
from seqlab.data.examples.columns import columns_option
from seqlab.data.examples.example import LabeledText, TaggedSentence
from seqlab.data.examples.groups import AUTO
from seqlab.data.examples.lines import TABLES, suffix
from seqlab.data.files import STANDARD_INPUT
from seqlab.errors import DataError, MissingInput, UsageError
from seqlab.registry import CORPORA, TASKS
from seqlab.runs.changed_data import changed_data
from seqlab.runs.directory import WEIGHTS, RunDirectory
from seqlab.runs.load import load_parts, load_run
from seqlab.tasks.dataset import AnyDataset
from seqlab.tasks.embed_settings import EmbedSettings
from seqlab.tasks.examples import ExampleTask
from seqlab.tasks.text_settings import LanguageSettings
from seqlab.tokenization.vocabulary import Vocabulary


def make_task(settings: RunSettings, dataset: AnyDataset) -> Any:
    task = TASKS.load(settings.task.name).from_dataset(settings, dataset)
    task_settings = settings.task.settings
    if isinstance(task_settings, LanguageSettings) and task_settings.teacher and task_settings.teacher_weight > 0:
        task.teacher = cache(partial(_teacher, task_settings.teacher, settings, dataset))
    if isinstance(task_settings, EmbedSettings) and task_settings.mining_run:
        from seqlab.runs.run_ranker import RunRanker  # imports scipy

        task.miner = partial(RunRanker.load, task_settings.mining_run, dataset.data.documents["train"])
    return task


def teacher_at(path: str | Path) -> tuple[RunSettings, Vocabulary]:
    """The settings and the vocabulary of a run that can be a teacher."""
    _, _, settings, vocabulary = load_parts(Path(path))
    if not TASKS.load(settings.task.name).generates:
        raise UsageError(f"the teacher '{path}' is not a language model.")
    return settings, vocabulary


def teacher_path(settings: RunSettings) -> str:
    """The run that is distilled, if there is one."""
    return settings.task.settings.option("teacher", None) or ""


def teacher_vocabulary(settings: RunSettings) -> Vocabulary | None:
    """The vocabulary of the teacher, if there is one: both must predict the same tokens."""
    path = teacher_path(settings)
    if not path:
        return None
    teacher_settings, vocabulary = teacher_at(path)
    ours, theirs = settings.resolved()["tokenizer"], teacher_settings.resolved()["tokenizer"]
    if ours != theirs:
        raise UsageError(f"the teacher '{path}' has the tokenizer {theirs}, its student {ours}: they must be equal.")
    return vocabulary


def _teacher(path: str, settings: RunSettings, dataset: AnyDataset) -> Any:
    """The frozen model of a run with the same vocabulary that has not seen the held-out data."""
    run = load_run(Path(path))
    if run.vocabulary.fingerprint != dataset.vocabulary.fingerprint:
        raise UsageError(f"the teacher '{path}' has another vocabulary than this run: start a new run.")
    same = run.config["corpus"]["fingerprint"] == dataset.fingerprint
    (ratios, split), now = ((one.corpus.split_ratios, one.corpus.split) for one in (run.settings, settings))
    if same and (ratios, split) != now:
        raise UsageError(
            f"the teacher '{path}' was trained on the {ratios} {split} split of this text, so it has seen what "
            f"{' '.join(now)} holds out. Use --split-ratios {ratios} --split {split}, or train a teacher on this split."
        )
    return run.model.to(settings.train.device).requires_grad_(False)


def reopen(
    directory: RunDirectory, config: dict[str, Any], settings: RunSettings, vocabulary: Vocabulary
) -> AnyDataset:
    """The data of a run, encoded; MissingInput if it is gone, DataError if it has changed."""
    data, dataset = read_again(directory, config, settings, vocabulary)
    return dataset or TASKS.load(settings.task.name).encode_splits(data, settings, vocabulary)


def read_again(
    directory: RunDirectory, config: dict[str, Any], settings: RunSettings, vocabulary: Vocabulary
) -> tuple[Any, AnyDataset | None]:
    """The data of a run as text, and encoded if its fingerprint needs that; errors as in `reopen`."""
    task = TASKS.load(settings.task.name)
    path, corpus = directory.path, settings.corpus
    present = _locate(corpus, Path(config.get("folder", "")), path)  # a run of an older version has none
    try:
        data = task.read(settings.model_copy(update={"corpus": present}), directory.stdin_copy)
    except DataError as error:
        raise DataError(f"the data that '{path}' was trained on can no longer be read. {error}") from None
    # a large text is read once: its fingerprint is known when it is encoded
    dataset = task.encode_splits(data, settings, vocabulary) if isinstance(data, LargeText) else None
    data = dataset.data if dataset else data
    before, now = config["corpus"], data.facts()
    if now["fingerprint"] != before["fingerprint"]:
        known = {*(vocabulary.labels or ())}
        starts = (path / WEIGHTS).exists() and (not known or _labels(data) <= known)
        start = _train_again(present, path, settings.task.name, starts)
        changed = changed_data(present, before, now)
        number = f"{changed.characters:,} characters instead of {changed.characters_before:,}"
        are, they_have, their = ("is", "it has", "its")
        if len(changed.files) > 1:
            are, they_have, their = ("together are", "they have", "their")
        if changed.characters == changed.characters_before:
            number = f"as many characters in {their} inputs" if known else "as many characters"
        raise DataError(
            f"{_in_words(changed.files)} {are} no longer the text that '{path}' "
            f"{'was trained on' if changed.is_trained_on else 'holds out'}: {they_have} {number}, and another SHA-256. "
            f"Restore the old text, or train {start}"
        )
    return data, dataset


def _in_words(files: Sequence[str]) -> str:
    *others, last = [f"'{file}'" for file in files]
    return f"{', '.join(others)} and {last}" if others else last


def _labels(data: Any) -> set[str]:
    """The labels or tags of examples."""
    examples = [example for some in data.splits.values() for example in some]
    labels = {example.label for example in examples if isinstance(example, LabeledText)}
    return labels | {tag for example in examples if isinstance(example, TaggedSentence) for tag in example.tags}


def _train_again(corpus: CorpusSettings, run: Path, task: str, starts: bool) -> str:
    """How to train on the data as it is now; --from takes the task and the columns of the run, --init does not.

    `starts`: whether training can start from the run, which has weights and knows all labels."""
    held_out = {"--validation": corpus.validation, "--test": corpus.test}
    files = [word for option, items in held_out.items() for item in items for word in (option, item)]
    if not starts:
        return f"anew, with its settings: seqlab train {shlex.join((*corpus.source, '--from', str(run), *files))}"
    is_text = task == "language" and not any(suffix(Path(item)) in TABLES for item in corpus.source)
    command = shlex.join((*corpus.source, "--init", str(run), *files, *(() if is_text else ("--task", task))))
    columns = [columns_option(corpus.columns)] if corpus.columns else []
    others = {"groups": corpus.groups, "split_column": corpus.split_column}
    columns += [f"--set {shlex.quote(f'corpus.{key}={name}')}" for key, name in others.items() if name != AUTO]
    return f"on the new one: seqlab train {' '.join([command, *columns])}"


def open_other(
    config: dict[str, Any], settings: RunSettings, vocabulary: Vocabulary, sources: Sequence[str]
) -> AnyDataset:
    """Other data of the same kind as one split, `whole`; a table must have the answers that training read."""
    task = TASKS.load(settings.task.name)
    if issubclass(task, ExampleTask):
        return task.open_unsplit(tuple(sources), settings, vocabulary, config["corpus"].get("columns", ()))
    return task.open_unsplit(tuple(sources), settings, vocabulary)


def _locate(corpus: CorpusSettings, folder: Path, run: Path) -> CorpusSettings:
    """Files that are not where this command looks are taken from where the run was trained."""

    def locate(item: str) -> str:
        if item == STANDARD_INPUT or item in CORPORA or is_address(item) or Path(item).exists():
            return item
        there = folder / item
        if not there.exists():
            raise MissingInput(
                f"'{run}' was trained on '{there}', which is no longer there: put it back. "
                f"To score other data: seqlab evaluate {shlex.quote(str(run))} FILE"
            )
        return str(there)

    names = ("source", "validation", "test")
    return corpus.model_copy(update={name: tuple(map(locate, getattr(corpus, name))) for name in names})
