"""The settings of a run from recipe, TOML, options and the data itself. Nothing here needs torch."""

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
    """The smallest possible vocabulary sizes, before the data is read."""
    vocab_size = settings.tokenizer.settings.expected_vocab_size
    return VocabSizes(vocab_size, vocab_size, 1, 2)


def settings_of(path: Path) -> dict[str, Any]:
    """The settings of a run, or of the best run of a comparison, for a new training run on a 90/10 split."""
    tables = _of_run(path)
    train = {**tables["train"], "seed": 0, "start_step": 0, "threads": None}
    return {**tables, "corpus": {**tables["corpus"], "split_ratios": "90/10"}, "train": train}


def _of_run(path: Path) -> dict[str, Any]:
    """The settings of a run with trainable (float32) weights."""
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

    If no task is named, it is inferred from the file when unambiguous, and logged."""
    changes: list[tuple[str, Any]] = []
    for key, value in settings.items():
        nested = isinstance(value, Mapping)
        changes += [(f"{key}.{inner}", v) for inner, v in value.items()] if nested else [(key, value)]
    changes += expand_short_names({word: value for word, value in short.items() if value is not None})
    if source is not None:
        items = [source] if isinstance(source, str | Path) else source
        changes.append(("corpus.source", [str(item) for item in items]))
    for key, _ in changes:
        if key.count(".") != 1:
            raise UsageError(f"'{key}' is not a setting: write section.key, such as train.lr.")
    if init is not None:
        base = _from_init(dict(base), changes, init)
    if "source" not in base.get("corpus", {}) and not any(key == "corpus.source" for key, _ in changes):
        raise UsageError("no text was given. Name a file, a folder or a built-in corpus, such as python-docs.")
    if "name" not in base.get("task", {}) and not any(key == "task.name" for key, _ in changes):
        changes += _guessed(base, changes, log)
    resolved = build_settings(base, changes)
    if resolved.corpus.difficulty is not None and not all(item in CORPORA for item in resolved.corpus.source):
        raise UsageError("corpus.difficulty is for generated corpora: leave it out for your own files.")
    return resolved


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
    """Settings with the model and the tokenizer of the run that training starts from."""
    taken = _of_run(init)
    for key, value in changes:
        section, _, name = key.partition(".")
        if section in _taken(taken) and taken[section].get(name) != value:
            initial = f"{section}.{name} = {taken[section].get(name)!r}"
            raise UsageError(f"--init uses {initial}, and {value!r} contradicts it.")
    corpus = {"documents": taken["corpus"]["documents"], **base.get("corpus", {})}
    return {**base, "corpus": corpus, **{section: taken[section] for section in _taken(taken)}}


def _taken(tables: Mapping[str, Any]) -> list[str]:
    """The sections that determine what the weights mean."""
    return [section for section in ("backbone", "decoder", "model", "tokenizer") if section in tables]
