"""Files that are named after the splits of a data set: wiki.train.tokens, ptb.valid.txt, dev.txt, test/."""

import re
from dataclasses import dataclass
from pathlib import Path

from seqlab.errors import StorageError, UsageError
from seqlab.typed_command import command_again

SPLIT_WORDS = {
    **dict.fromkeys(("train", "training", "trn"), "train"),
    **dict.fromkeys(("valid", "validation", "val", "dev", "development"), "validation"),
    **dict.fromkeys(("test", "testing", "tst"), "test"),
}
# the word of a split as a component of a name: not "latest" or "trains"
WORD = re.compile(rf"(?<![^\W\d_])({'|'.join(sorted(SPLIT_WORDS, key=len, reverse=True))})(?![^\W\d_])", re.IGNORECASE)


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
    splits = {SPLIT_WORDS[word.lower()] for word in WORD.findall(name)}
    return splits.pop() if len(splits) == 1 else None


def find_split_files(folder: Path) -> SplitFiles | None:
    """The files or subfolders named after splits; None without a training file and another; UsageError for a choice."""
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise StorageError(f"'{folder}' cannot be read: {error.strerror}.") from None
    layouts: dict[str, dict[str, Path]] = {}
    ambiguous = False
    for path in paths:
        if split := split_named(path.name):
            layout = layouts.setdefault(WORD.sub("*", path.name), {})
            ambiguous |= split in layout
            layout.setdefault(split, path)
    complete = [layout for layout in layouts.values() if "train" in layout and len(layout) > 1]
    if not complete:
        return None
    if len(complete) > 1 or ambiguous:
        commands = "".join(f"\n  {_command(folder, layout)}" for layout in complete)
        raise UsageError(f"'{folder}' has more than one set of files named after splits. Name the files:{commands}")
    files = {split: complete[0][split] for split in ("train", "validation", "test") if split in complete[0]}
    return SplitFiles(files, [path.name for path in paths if path not in files.values()])


def _command(folder: Path, layout: dict[str, Path]) -> str:
    """The command with the files of the splits instead of their folder."""
    options: list[str] = []
    for split in ("validation", "test"):
        options += [f"--{split}", str(layout[split])] if split in layout else []
    return command_again(["train", str(folder)], options, (folder, layout["train"]))


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
