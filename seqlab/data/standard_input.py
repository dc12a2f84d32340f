"""Standard input as a file: it can be read only once, and reading takes several looks. Messages name it in words."""

import atexit
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seqlab.cache import cache_directory
from seqlab.errors import SeqlabError, StorageError

NAME = "standard input"
_copies: set[str] = set()  # of this process


def copy_stdin() -> Path:
    """Copy standard input to a file, which is removed at the end of the process."""
    with tempfile.NamedTemporaryFile(dir=cache_directory("stdin"), suffix=".txt", delete=False) as copy:
        try:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        except OSError as error:
            Path(copy.name).unlink()
            raise StorageError(f"{NAME} cannot be copied to '{copy.name}': {error.strerror}.") from None
    atexit.register(Path(copy.name).unlink, missing_ok=True)  # also if it cannot be used
    _copies.add(copy.name)
    return Path(copy.name)


def as_json_lines(copy: Path) -> Path:
    """The copy under a name that tells its format."""
    named = copy.replace(copy.with_suffix(".jsonl"))
    atexit.register(named.unlink, missing_ok=True)
    _copies.add(str(named))
    return named


def is_copy(name: str) -> bool:
    """Whether a file is a copy of standard input, which no command can name."""
    return name in _copies


def in_words(message: str, copy: Path) -> str:
    """A message with the words for standard input in place of the name of its copy."""
    return message.replace(str(copy), NAME).replace(copy.name, NAME)


@contextmanager
def called_by_name(copy: Path) -> Iterator[None]:
    """Errors say standard input where they would name its copy."""
    try:
        yield
    except SeqlabError as error:
        error.args = (in_words(str(error), copy),)
        raise
