"""What is to be trained, from everything that was said. Nothing here needs torch."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from seqlab.config import (
    CorpusSettings,
    DataSource,
    RunSettings,
    VocabSizes,
    build_settings,
    checked,
    expand_short_names,
)
from seqlab.data.task_inference import infer_task, plain_text_note
from seqlab.errors import UsageError
from seqlab.registry import CORPORA


def least_sizes(settings: RunSettings) -> VocabSizes:
    """What a model has at least, before the data was looked at."""
    vocab_size = settings.tokenizer.settings.expected_vocab_size
    return VocabSizes(vocab_size, vocab_size, 1, 2)


def settings_of(path: Path) -> dict[str, Any]:
    """The settings of a run, or of the one that a comparison recommends, to be trained on 90/10 from the start."""
    found = _of_run(path)
    train = {**found["train"], "seed": 0, "start_step": 0, "threads": None}
    return {**found, "corpus": {**found["corpus"], "split_ratios": "90/10"}, "train": train}


def _of_run(path: Path) -> dict[str, Any]:
    """The settings of a run, to be trained: with weights that can move."""
    from seqlab.runs.load import load_parts

    return load_parts(path)[2].with_values(**{"model.precision": "float32"}).resolved()


def settings_from_request(
    source: DataSource | None,
    base: Mapping[str, Any],
    settings: Mapping[str, Any],
    short: Mapping[str, Any],
    init: Path | None = None,
    log: Callable[[str], None] = lambda _: None,
) -> RunSettings:
    """The tables of a recipe or a run, then tables and dotted settings, then one-word settings: the later wins.

    Where no task is named, it follows from the file if that is safe, and is said aloud."""
    changes: list[tuple[str, Any]] = []
    for key, value in settings.items():
        nested = isinstance(value, Mapping)
        changes += [(f"{key}.{inner}", v) for inner, v in value.items()] if nested else [(key, value)]
    changes += expand_short_names({word: value for word, value in short.items() if value is not None})
    if source is not None:
        given = [source] if isinstance(source, str | Path) else source
        changes.append(("corpus.source", [str(item) for item in given]))
    for key, _ in changes:
        if key.count(".") != 1:
            raise UsageError(f"'{key}' is not a setting: write section.key, such as train.lr.")
    if init is not None:
        base = _from_init(dict(base), changes, init)
    if "source" not in base.get("corpus", {}) and not any(key == "corpus.source" for key, _ in changes):
        raise UsageError("no text was given. Name a file, a folder or a built-in corpus, such as python-docs.")
    if "name" not in base.get("task", {}) and not any(key == "task.name" for key, _ in changes):
        changes += _guessed(base, changes, log)
    wanted = build_settings(base, changes)
    if wanted.corpus.difficulty is not None and not all(item in CORPORA for item in wanted.corpus.source):
        raise UsageError("corpus.difficulty is of generated corpora: leave it out for files of your own.")
    return wanted


def _guessed(
    base: Mapping[str, Any], changes: list[tuple[str, Any]], log: Callable[[str], None]
) -> list[tuple[str, Any]]:
    corpus = {**base.get("corpus", {}), **{key.removeprefix("corpus."): value for key, value in changes}}
    columns = checked(CorpusSettings, {"source": corpus["source"], "columns": corpus.get("columns")}, "corpus").columns
    task = infer_task(corpus["source"], columns)
    if task is None:
        if columns:
            raise UsageError(
                f"corpus.columns names {' and '.join(map(repr, columns))}, but the files do not tell the task: give "
                f"--task classify or --task translate."
            )
        if note := plain_text_note(corpus["source"]):
            log(note)
        return []
    if corpus["source"][0] not in CORPORA:
        log(f"{task.reason}: the task is {task.name} (--task language reads it as plain text)")
    return [("task.name", task.name)]


def _from_init(base: dict[str, Any], changes: list[tuple[str, Any]], init: Path) -> dict[str, Any]:
    """The model and the tokenizer are those of the run that training starts from."""
    taken = _of_run(init)
    for key, value in changes:
        section, _, name = key.partition(".")
        if section in _taken(taken) and taken[section].get(name) != value:
            own = f"{section}.{name} = {taken[section].get(name)!r}"
            raise UsageError(f"--init takes over {own}, and {value!r} contradicts it.")
    corpus = {"documents": taken["corpus"]["documents"], **base.get("corpus", {})}
    return {**base, "corpus": corpus, **{section: taken[section] for section in _taken(taken)}}


def _taken(tables: Mapping[str, Any]) -> list[str]:
    """The sections that decide what the weights mean."""
    return [section for section in ("backbone", "decoder", "model", "tokenizer") if section in tables]
