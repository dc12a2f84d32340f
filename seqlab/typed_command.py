"""The command that the user typed, for messages that say how to type it better."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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


def command_again(otherwise: Sequence[str], added: Sequence[str], renamed: tuple[Path, Path] | None = None) -> str:
    """The typed command with more options, perhaps with another path; `otherwise` if none was typed."""
    words = [str(renamed[1]) if renamed and Path(word) == renamed[0] else word for word in _typed or otherwise]
    return shlex.join(["seqlab", *words, *added])
