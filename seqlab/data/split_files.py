"""Files that are named after the splits of a data set: wiki.train.tokens, ptb.valid.txt, dev.txt, test/."""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from seqlab.data.examples.lines import COLUMNS, CONLLU, TABLES, suffix
from seqlab.data.folders import files_below, is_result
from seqlab.errors import StorageError, UsageError
from seqlab.typed_command import command_again

FEW, SMALL = 0.25, 1 / 3  # shares of the files beside them, by number and by size: with less of both, they are no parts
PROGRAMS = {  # suffixes of source code and its settings
    *(".py", ".pyx", ".ipynb", ".sh", ".bash", ".bat", ".ps1", ".pl", ".rb", ".php", ".lua", ".r", ".jl", ".m", ".tcl"),
    *(".c", ".h", ".cc", ".cpp", ".hpp", ".cu", ".rs", ".go", ".java", ".kt", ".scala", ".swift", ".cs", ".js", ".ts"),
    *(".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf"),
}
MAX_IN_COMMAND = 8  # paths that a message repeats in a command
SPLITS = ("train", "validation", "test")
READ_AS_ONE = "read as one, although the names are those of splits"
SPLIT_WORDS = {
    **dict.fromkeys(("train", "training", "trn"), "train"),
    **dict.fromkeys(("valid", "validation", "val", "dev", "development"), "validation"),
    **dict.fromkeys(("test", "testing", "tst"), "test"),
    **dict.fromkeys(("holdout", "hold-out", "hold_out", "heldout", "held-out", "held_out"), "test"),
}
# tr and te are also codes of languages, Turkish and Telugu: these name splits only if there is a va, which is none
SHORT_WORDS = {"tr": "train", "va": "validation", "te": "test"}


def _component(words: Iterable[str]) -> re.Pattern[str]:
    """One of these words as a component of a name: not "latest" or "trains"."""
    longest_first = "|".join(sorted(words, key=len, reverse=True))
    return re.compile(rf"(?<![^\W\d_])({longest_first})(?![^\W\d_])", re.IGNORECASE)


WORD, SHORT_WORD = _component(SPLIT_WORDS), _component(SHORT_WORDS)


@dataclass(frozen=True)
class SplitFiles:
    """The files of a folder that hold its splits, and the names of its other files."""

    files: dict[str, Path]
    unused: list[str]

    def __str__(self) -> str:
        named = ", ".join(f"{split}: {path.name}" for split, path in self.files.items())
        return named + (f" (not used: {_some(self.unused)})" if self.unused else "")


def split_named(name: str) -> str | None:
    """The split that a file's name names, if it names exactly one."""
    return _split_named(name, WORD, SPLIT_WORDS)


def _split_named(name: str, word: re.Pattern[str], meaning: Mapping[str, str]) -> str | None:
    splits = {meaning[found.lower()] for found in word.findall(name)}
    return splits.pop() if len(splits) == 1 else None


def unwrapped(folder: Path) -> Path:
    """The innermost folder, where all above it have nothing but one folder, as unpacked archives do."""
    paths = _visible(folder)
    if len(paths) != 1 or not paths[0].is_dir() or paths[0].is_symlink() or is_result(paths[0]):
        return folder
    return unwrapped(paths[0])


def has_folders(folder: Path) -> bool:
    return any(path.is_dir() for path in _visible(folder))


def _visible(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise StorageError(f"'{folder}' cannot be read: {error.strerror}.") from None


def find_split_files(folder: Path, given: Path | None = None) -> SplitFiles | None:
    """The files or subfolders named after splits; None without a training file and another; UsageError for a choice.

    `given` is the folder that the user named, if it is not this one."""
    paths = _visible(folder)
    layouts, ambiguous = _layouts(paths, WORD, SPLIT_WORDS)
    complete = [layout for layout in layouts if "train" in layout and len(layout) > 1]
    if not complete:
        layouts, ambiguous = _layouts(paths, SHORT_WORD, SHORT_WORDS)
        complete = [layout for layout in layouts if "train" in layout and "validation" in layout]
    complete = [layout for layout in complete if not _are_few(folder, [*layout.values()])]
    if not complete:
        return None
    if len(complete) > 1 or ambiguous:
        commands = "".join(f"\n  {_command(given or folder, layout)}" for layout in complete)
        raise UsageError(f"'{folder}' has more than one set of files named after splits. Name the files:{commands}")
    files = {split: complete[0][split] for split in SPLITS if split in complete[0]}
    return SplitFiles(files, [path.name for path in paths if path not in files.values()])


def _are_few(folder: Path, files: Sequence[Path]) -> bool:
    """Whether these are a small part of the files with their suffix in a folder and below it, or if they are programs,
    as train.py and test.py, of all its files. Tables are not counted: nobody calls anything else so."""
    kind = suffix(files[0])
    if kind in (*TABLES, *COLUMNS, CONLLU) or not all(map(Path.is_file, files)):
        return False
    beside = [path for path in files_below(folder) if kind in PROGRAMS or suffix(path) == kind]
    size, whole = (sum(path.stat().st_size for path in some) for some in (files, beside))
    return len(files) < FEW * len(beside) and size < SMALL * whole


def _layouts(
    paths: Sequence[Path], word: re.Pattern[str], meaning: Mapping[str, str]
) -> tuple[list[dict[str, Path]], bool]:
    """Files whose names differ in nothing but the word of the split, by split, and whether two name the same one."""
    layouts: dict[str, dict[str, Path]] = {}
    ambiguous = False
    for path in paths:
        if split := _split_named(path.name, word, meaning):
            layout = layouts.setdefault(word.sub("*", path.name), {})
            ambiguous |= split in layout
            layout.setdefault(split, path)
    return [*layouts.values()], ambiguous


def joined_splits(folder: Path, given: Collection[str], without: Collection[str]) -> str:
    """What is read together although its names say train, validation or test, at any depth, and the command that keeps
    it apart; nothing if there is none. `given` are splits that the user named, `without` settings that join them."""
    found: dict[str, list[Path]] = {}
    for place, folders, names in os.walk(folder):
        inner = [name for name in folders if not name.startswith(".") and not Path(place, name).is_symlink()]
        inner = [name for name in inner if not is_result(Path(place, name))]
        for name in sorted((*inner, *(name for name in names if not name.startswith(".")))):
            if split := split_named(name):
                found.setdefault(split, []).append(Path(place, name))
        folders[:] = [name for name in inner if split_named(name) is None]
    if not _are_splits(found):
        return ""
    named = _some([str(path.relative_to(folder)) for split in SPLITS for path in found.get(split, [])])
    apart = "name those to train on, and give the others with --validation and --test"
    if sum(map(len, found.values())) <= MAX_IN_COMMAND:
        options = _held_out_options(found, given)
        apart = command_again(["train", str(folder)], options, (folder, *found["train"]), without)
    return f"{folder}: {READ_AS_ONE}: {named}. To keep them apart: {apart}"


def joined_files(source: Sequence[str], given: Collection[str], without: Collection[str]) -> str:
    """The same for files and folders that were named one by one, in any order, as a shell lists them."""
    found: dict[str, list[Path]] = {}
    for item in source:
        if split := split_named(Path(item).name):
            found.setdefault(split, []).append(Path(item))
    if not _are_splits(found):
        return ""
    named = _some([str(path) for split in SPLITS for path in found.get(split, [])])
    apart = "give those that are not for training with --validation and --test"
    if sum(map(len, found.values())) <= MAX_IN_COMMAND:
        options = _held_out_options(found, given)
        held_out = [*map(Path, options[1::2])]
        apart = command_again(["train", *source], options, without=without, without_paths=held_out)
    return f"{READ_AS_ONE}: {named}. To keep them apart: {apart}"


def _are_splits(found: Collection[str]) -> bool:
    return "train" in found and len(found) > 1


def _held_out_options(found: Mapping[str, Sequence[Path]], given: Collection[str]) -> list[str]:
    """The options for the held-out files, except those of splits that the user has given."""
    held_out = [(split, path) for split in SPLITS[1:] if split not in given for path in found.get(split, [])]
    return [word for split, path in held_out for word in (f"--{split}", str(path))]


def _command(folder: Path, layout: dict[str, Path]) -> str:
    """The command with the files of the splits instead of their folder."""
    options: list[str] = []
    for split in SPLITS[1:]:
        options += [f"--{split}", str(layout[split])] if split in layout else []
    return command_again(["train", str(folder)], options, (folder, layout["train"]))


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
