"""The command that the user typed, for messages that say how to type it better."""

import shlex
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

_typed: list[str] = []


@contextmanager
def typed_command(arguments: Sequence[str]) -> Iterator[None]:
    """While this is open, the user has typed `seqlab` and these arguments."""
    _typed[:] = arguments
    try:
        yield
    finally:
        _typed.clear()


def command_again(
    otherwise: Sequence[str],
    added: Sequence[str],
    renamed: Sequence[Path] = (),
    without: Collection[str] = (),
    without_paths: Collection[Path] = (),
) -> str:
    """The typed command with more options, perhaps with other paths instead of the first of `renamed`, and without some
    settings ("task.window") and paths; `otherwise` if none was typed."""
    words: list[str] = []
    for word in _typed or otherwise:
        if Path(word) in without_paths:
            continue
        words += map(str, renamed[1:]) if renamed and Path(word) == renamed[0] else [word]
    return shlex.join(["seqlab", *_leave_out(words, without), *added])


def typed_folder(path: Path) -> Path | None:
    """The folder that was typed, if a file in it is meant."""
    return next((folder for folder in map(Path, _typed) if folder in path.parents and folder.is_dir()), None)


def _leave_out(words: Sequence[str], settings: Collection[str]) -> Iterator[str]:
    """The words without the options of these settings, `--window 32` as well as `--set task.window=32`."""
    options = {f"--{setting.partition('.')[2].replace('_', '-')}" for setting in settings}
    remaining = iter(words)
    for word in remaining:
        name, equals, value = word.partition("=")
        given = [word] if equals or name not in (*options, "--set") else [word, *islice(remaining, 1)]
        setting = (value if equals else given[-1]).partition("=")[0]
        if name not in options and (name != "--set" or setting not in settings):
            yield from given
