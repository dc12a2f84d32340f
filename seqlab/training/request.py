"""The settings of a run from recipe, TOML, options and the data itself. Nothing here needs torch."""

from collections.abc import Callable, Mapping, Sequence
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
    source_items,
)
from seqlab.data.corpora.source import form_and_packing
from seqlab.data.documents.collection_layout import is_collection
from seqlab.data.examples.example_folders import TAGGED
from seqlab.data.examples.lines import TABLES, column_word, suffix
from seqlab.data.examples.table_sample import can_be_joined
from seqlab.data.split_files import find_split_files, has_folders, joined_files, joined_splits, unwrapped
from seqlab.data.task_inference import infer_task, plain_text_note, unclear_layout
from seqlab.errors import UsageError
from seqlab.registry import CORPORA, TASKS
from seqlab.tasks.text_settings import TextSettings
from seqlab.training.task_choice import class_folders_note, which_task
from seqlab.training.unused_settings import refuse_unused
from seqlab.typed_command import command_again


def least_sizes(settings: RunSettings) -> VocabSizes:
    """The smallest possible vocabulary sizes, before the data is read."""
    vocab_size = settings.tokenizer.settings.expected_vocab_size
    return VocabSizes(vocab_size, vocab_size, 1, 2)


def settings_of(path: Path) -> dict[str, Any]:
    """The settings of a run, or of the best run of a comparison, for a new training run on a 90/10 split."""
    tables = _run_tables(path)
    measured = {"bf16_speed": None, "muon_precision": "auto", "matmul": "auto"}  # on the machine of that run
    train = {**tables["train"], "seed": 0, "start_step": 0, "threads": None, **measured}
    return {**tables, "corpus": {**tables["corpus"], "split_ratios": "90/10", "split": "contiguous"}, "train": train}


def _run_tables(path: Path) -> dict[str, Any]:
    """The settings of a run with trainable (float32) weights."""
    from seqlab.runs.load import load_parts

    settings = load_parts(path)[2]
    idle = settings.backbone.settings.has("dropout") and not settings.backbone.settings.has_dropout
    dropout = {"backbone.dropout": 0.0} if idle else {}
    return settings.with_values(**{"model.precision": "float32", **dropout}).resolved()


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
    changes = [*dotted_settings(settings), *_expanded(short, settings)]
    if source is not None:
        changes.append(_as_argument(source, changes))
        held_out = {"validation", "test"}  # those of the base belong to its own source
        base = {**base, "corpus": {key: v for key, v in base.get("corpus", {}).items() if key not in held_out}}
    files = ("corpus.source", "corpus.validation", "corpus.test")  # one file may be given as it is
    changes = [(key, [str(v)] if key in files and isinstance(v, str | Path) else v) for key, v in changes]
    for key, _ in changes:
        if key.count(".") != 1:
            raise UsageError(f"'{key}' is not a setting: write section.key, such as train.lr.")
    if init is not None:
        base = _from_init(dict(base), changes, init)
    if "source" not in base.get("corpus", {}) and not any(key == "corpus.source" for key, _ in changes):
        raise UsageError("no text was given. Name a file, a folder or a built-in corpus, such as python-docs.")
    changes += _split_files(base, changes, log)
    inferred: list[str] = []  # said with an error, too: the user has named no task
    if "name" not in base.get("task", {}) and not any(key == "task.name" for key, _ in changes):
        changes += _inferred_task(base, changes, inferred.append)
    try:
        resolved = _with_dropout(short.get("dropout"), base, changes, init)
        _refuse_for_others(resolved, short)
        refuse_unused(resolved, dict(changes))
    except UsageError as error:
        if inferred:
            error.args = (". ".join([str(error).removesuffix("."), *inferred]),)
        raise
    for note in inferred:
        log(note)
    _log_replaced(base, dict(changes), resolved, log)
    _log_left_counts(init, resolved, log)
    return resolved


def _log_left_counts(init: Path | None, resolved: RunSettings, log: Callable[[str], None]) -> None:
    """A network starts from the weights of a mixed run, and counts are made of the new text or not at all."""
    mixed_with = _run_tables(init)["task"].get("mix", "none") if init is not None else "none"
    task = resolved.task.settings
    if mixed_with != "none" and task.option("mix", "none") == "none":
        anew = f"; --mix {mixed_with} makes new ones" if task.has("mix") else ""
        log(f"the {mixed_with} of '{init}' are not taken over{anew}")


def _refuse_for_others(resolved: RunSettings, short: Mapping[str, Any]) -> None:
    """UsageError for options of other tasks and corpora."""
    if resolved.corpus.split == "scattered" and not isinstance(resolved.task.settings, TextSettings):
        raise UsageError(
            f"corpus.split=scattered is for running text, and the task is {resolved.task.name}: leave it out. "
            f"Examples are shuffled before they are split."
        )
    if short.get("encoder") is not None and resolved.decoder is None:
        raise UsageError(
            f"--encoder is for --task translate, and the task is {resolved.task.name}: use --arch {short['encoder']}."
        )
    generated = [name for name in resolved.corpus.source if name in CORPORA and _has_examples(name)]
    if resolved.corpus.difficulty is not None and not generated:
        raise UsageError("corpus.difficulty is for generated corpora: leave it out for your own files and for texts.")


def _expanded(short: Mapping[str, Any], settings: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """One-word settings as dotted ones. They overrule the tables of a file, not what was typed by its full name."""
    expanded = expand_short_names({word: value for word, value in short.items() if value is not None})
    for key, value in expanded:
        if key in settings and settings[key] != value:
            raise UsageError(f"{key} is given as {settings[key]!r} and, by an option, as {value!r}: give it once.")
    return expanded


def _log_replaced(
    base: Mapping[str, Any], given: Mapping[str, Any], resolved: RunSettings, log: Callable[[str], None]
) -> None:
    """Where another architecture or tokenizer than that of a recipe or run was asked for, what changes with it."""
    for section, now in resolved.resolved().items():
        before = {key: value for key, value in base.get(section, {}).items() if f"{section}.{key}" not in given}
        name = base.get(section, {}).get("name")
        if given.get(f"{section}.name", name) == name or not before:
            continue
        changed = [f"{key} {now[key]} instead of {old}" for key, old in before.items() if now.get(key, old) != old]
        values = f": {', '.join(changed)}" if changed else ""
        log(f"{section} is {now['name']} instead of {name}, whose settings do not apply{values}")


def _with_dropout(
    rate: float | None, base: Mapping[str, Any], changes: list[tuple[str, Any]], init: Path | None
) -> RunSettings:
    """The settings; `--dropout` is also the rate between layers, where there are several."""
    resolved = build_settings(base, changes)
    if rate is None or not resolved.backbone.settings.has_dropout:
        return resolved
    between_layers = [("backbone.dropout", rate)]
    base = base if init is None else _from_init(dict(base), between_layers, init)
    return build_settings(base, [*changes, *between_layers])


def _has_examples(corpus: str) -> bool:
    return "task.name" in CORPORA.default_overrides(corpus)


def _as_argument(source: DataSource, changes: Sequence[tuple[str, Any]]) -> tuple[str, Any]:
    if any(key == "corpus.source" for key, _ in changes):
        raise UsageError("the text is given as an argument and by corpus.source: give it once.")
    return "corpus.source", source_items(source)


def _split_files(
    base: Mapping[str, Any], changes: list[tuple[str, Any]], log: Callable[[str], None]
) -> list[tuple[str, Any]]:
    """The files of a folder that are named after its splits, unless the user names them; refuses useless ratios."""
    corpus = {**base.get("corpus", {}), **{key.removeprefix("corpus."): v for key, v in changes if "corpus." in key}}
    source = corpus["source"]
    asked = {key.removeprefix("corpus."): v for key, v in changes if key in ("corpus.split", "corpus.split_ratios")}
    if corpus.get("validation"):
        for key, value in asked.items():
            raise UsageError(
                f"corpus.{key} is {value}, but the splits are given as files: leave out --{key.replace('_', '-')}."
            )
    if corpus.get("test") and asked.get("split_ratios", "90/10") != "90/10":
        raise UsageError(
            f"corpus.split_ratios is {asked['split_ratios']}, but the test split is given as a file: leave it out, and "
            f"a tenth of the training data is held out for validation."
        )
    given = [split for split in ("validation", "test") if corpus.get(split)]
    without = [f"corpus.{key}" for key in asked]
    if len(source) > 1 and (joined := joined_files(source, given, without)):
        log(joined)
    if len(source) != 1 or source[0] in CORPORA or not _is_folder(source[0]):
        return []
    folder, inner = Path(source[0]), unwrapped(Path(source[0]))
    found = None if given or asked else find_split_files(inner, folder)
    wraps = inner != folder and (found is not None or has_folders(inner))
    if wraps:
        log(f"{folder}: all that it has is in {inner}, which is read instead")
    if found is None:
        if not _is_collection(inner, base, changes) and (
            joined := joined_splits(folder, given, [f"corpus.{key}" for key in asked])
        ):
            log(joined)
        return [("corpus.source", [str(inner)])] if wraps else []
    task = _asked_task(base, changes)
    log(f"{inner}: {found}{_splits_anew(folder, [*found.files.values()], task)}")
    return [(f"corpus.{'source' if split == 'train' else split}", [str(path)]) for split, path in found.files.items()]


def _asked_task(base: Mapping[str, Any], changes: Sequence[tuple[str, Any]]) -> Any:
    return dict(changes).get("task.name", base.get("task", {}).get("name"))


def _is_collection(folder: Path, base: Mapping[str, Any], changes: Sequence[tuple[str, Any]]) -> bool:
    """Whether a folder is read as documents and queries, whose judgments keep their splits."""
    task = _asked_task(base, changes)
    reads_documents = task is None or (task in TASKS and TASKS.settings(task).examples == "documents")
    return reads_documents and is_collection([str(folder)])


def _splits_anew(folder: Path, files: Sequence[Path], task: Any) -> str:
    """How to split the data of a folder in another way, if its files can be joined."""
    ratios = ["--set", "corpus.split_ratios=90/10"]  # as doctor takes it, too
    if all(path.is_file() and suffix(path) in (*TABLES, *TAGGED) for path in files):
        if not can_be_joined([path for path in files if suffix(path) in TABLES]):
            return ""
        train = ["train", str(folder)]
        return f" (to join these files and split them anew: {command_again(train, ratios, [folder, *files])})"
    is_text = task is None or (task in TASKS and TASKS.settings(task).examples is None)
    return f" ({' '.join(ratios)} reads the folder as one text)" if is_text else ""


def _is_folder(item: str) -> bool:
    try:
        return Path(item).is_dir()
    except (OSError, ValueError):
        return False


def dotted_settings(settings: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Nested tables and dotted settings as dotted settings."""
    if not isinstance(settings, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"the settings are {settings!r}: expected a mapping, such as {{'train.lr': 0.003}}.")
    changes: list[tuple[str, Any]] = []
    for key, value in settings.items():
        if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"{key!r} is not a setting: write section.key, such as train.lr.")
        nested = isinstance(value, Mapping) and "." not in key
        changes += [(f"{key}.{inner}", v) for inner, v in value.items()] if nested else [(key, value)]
    return changes


def _inferred_task(
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
        if layout := unclear_layout(corpus["source"]):
            raise UsageError(which_task(layout, corpus, changes))
        if note := plain_text_note(corpus["source"]) or class_folders_note(corpus, changes):
            log(note)
        return []
    if corpus["source"][0] not in CORPORA:
        are_rows = form_and_packing(str(corpus["source"][0]))[0] != "text"
        text = f"the texts of one {column_word(Path(corpus['source'][0]))}" if are_rows else "it as plain text"
        log(f"{task.reason}: the task is {task.name} (--task language reads {text})")
    return [("task.name", task.name)]


def _from_init(base: dict[str, Any], changes: list[tuple[str, Any]], init: Path) -> dict[str, Any]:
    """Settings with the model and the tokenizer of the run that training starts from."""
    tables = _run_tables(init)
    sections = ("backbone", "decoder", "model", "tokenizer")  # they determine what the weights mean
    inherited = {section: tables[section] for section in sections if section in tables}
    of_recipe = {f"{section}.{key}": value for section in inherited for key, value in base.get(section, {}).items()}
    for key, value in {**of_recipe, **dict(changes)}.items():
        section, _, name = key.partition(".")
        if section in inherited and inherited[section].get(name) != value:
            raise UsageError(f"--init uses {key} = {inherited[section].get(name)!r}, and {value!r} contradicts it.")
    corpus = {"documents": tables["corpus"]["documents"], **base.get("corpus", {})}
    return {**base, "corpus": corpus, **inherited}
