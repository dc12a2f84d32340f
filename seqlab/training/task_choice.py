"""Files that do not say what they are: the question, with the command for each answer."""

import json
from collections.abc import Mapping
from typing import Any

from seqlab.config import build_settings
from seqlab.config.sources import SHORT
from seqlab.data.examples.class_folders import labels_of_folders
from seqlab.data.examples.lines import quote_list
from seqlab.data.file_layout import FileLayout
from seqlab.data.files import existing_path
from seqlab.data.task_inference import possible_tasks
from seqlab.errors import UsageError
from seqlab.registry import CORPORA
from seqlab.training.unused_settings import refuse_unused
from seqlab.typed_command import command_again

SPARE = 0.1  # more rows than among the first may lack a text


def class_folders_note(corpus: Mapping[str, Any], changes: list[tuple[str, Any]]) -> str:
    """How to classify the texts of a folder whose folders may be labels."""
    source = [str(item) for item in corpus["source"]]
    folder = existing_path(source[0]) if len(source) == 1 and source[0] not in CORPORA else None
    labels = labels_of_folders(folder) if folder is not None and folder.is_dir() else []
    if not labels:
        return ""
    unfit = _unfit(changes, ["classify", "language"])["classify"]
    command = command_again(_train_command(corpus), ["--task", "classify"], without=unfit)
    folders = f"the folders {quote_list(labels, 5)} of '{source[0]}'"
    return f"{source[0]}: read as one running text. If {folders} are the labels of the texts in them: {command}"


def _train_command(corpus: Mapping[str, Any]) -> list[str]:
    """The command, if Python called."""
    train = ["train", *map(str, corpus["source"])]
    for split in ("validation", "test"):
        train += [word for item in corpus.get(split) or () for word in (f"--{split}", str(item))]
    return train


def which_task(layout: FileLayout, corpus: Mapping[str, Any], changes: list[tuple[str, Any]]) -> str:
    """Ask what a file is, with the command for each answer."""
    train = _train_command(corpus)
    readings = possible_tasks(layout, corpus["source"])
    options = {task: ["--task", task] for task in (*readings, "language")}
    for task, columns in {"classify": layout.columns, "translate": layout.pair}.items():
        if task in readings and columns:
            options[task] += ["--set", f"corpus.columns={json.dumps(columns, ensure_ascii=False)}"]
    text = "running text"
    if layout.text_column is not None:
        text = f"the texts of {quote_list([layout.text_column])} as running text"
        if "corpus.text_column" not in dict(changes):
            options["language"] += ["--set", f"corpus.text_column={layout.text_column}"]
        if layout.missing and "corpus.skip_limit" not in dict(changes):
            limit = min(0.99, layout.missing + SPARE)
            options["language"] += ["--set", f"corpus.skip_limit={limit:.2f}"]
    meanings = {**readings, **({"language": text} if layout.is_text else {})}
    if not meanings:
        return f"{layout.reason}."
    unfit = _unfit(changes, list(meanings))
    commands = "".join(
        f"\n  {command_again(train, options[task], without=unfit[task])}   # {meaning}"
        + (f", without {' and '.join(map(_as_option, unfit[task]))}, which it refuses" if unfit[task] else "")
        for task, meaning in meanings.items()
    )
    as_text = "To read its texts:" if layout.text_column else "To read it as it is:"
    ask = "Say what it is with --task:" if readings else as_text
    return f"{layout.reason}. {ask}{commands}"


def _as_option(setting: str) -> str:
    word = setting.partition(".")[2]
    return f"--{word.replace('_', '-')}" if word in SHORT else setting


def _unfit(changes: list[tuple[str, Any]], tasks: list[str]) -> dict[str, list[str]]:
    """For each task, the settings that it refuses and another task takes."""

    def refuses(task: str, change: tuple[str, Any]) -> bool:
        try:
            refuse_unused(build_settings({}, [*source, ("task.name", task), change]), dict([change]))
        except UsageError:
            return True
        return False

    source = [(key, value) for key, value in changes if key == "corpus.source"]
    refused = {key: [task for task in tasks if refuses(task, (key, value))] for key, value in changes}
    return {task: [key for key, by in refused.items() if task in by and len(by) < len(tasks)] for task in tasks}
