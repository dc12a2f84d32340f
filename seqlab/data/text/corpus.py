"""A corpus: a text that can be read in blocks as often as wanted, from files, folders, standard input or a built-in.

`open_corpus` finds it, `survey` reads it once for its size and fingerprint. Read `splits.py` next.
"""

import errno
import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from seqlab.cache import cache_directory
from seqlab.data.files import Oddities, read_file
from seqlab.errors import DataError, MissingInput, StorageError
from seqlab.registry import CORPORA, did_you_mean

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Corpus:
    """`blocks()` starts reading anew; built-in ones have no `paths`. `kept` holds what came from standard input."""

    name: str
    blocks: Callable[[], Iterator[str]]
    oddities: Oddities = field(default_factory=Oddities)
    kept: Path | None = None
    about: str = ""
    paths: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Survey:
    """What one reading of a corpus tells."""

    characters: int
    bytes: int
    lines: int
    fingerprint: str


def open_corpus(source: Sequence[str], kept: Path | None = None) -> Corpus:
    """The corpus that a built-in name, paths or '-' name; `kept` is where a run keeps its standard input."""
    if list(source) == [STANDARD_INPUT]:
        return _standard_input(kept)
    if len(source) == 1 and source[0] in CORPORA:
        return CORPORA.load(source[0])()
    if any(item in CORPORA or item == STANDARD_INPUT for item in source):
        raise DataError(f"{', '.join(source)}: built-in corpora and '-' stand alone, not among files.")
    paths = [path for item in source for path in _files(item)]
    name = Path(source[0]).name.split(".")[0] or Path(source[0]).resolve().name
    return from_files(paths, name if len(source) == 1 else f"{name}-and-{len(source) - 1}-more")


def from_files(paths: Sequence[Path], name: str) -> Corpus:
    """Several files as one text; a missing newline at the end of one is put in before the next."""
    oddities = Oddities()

    def blocks() -> Iterator[str]:
        oddities.byte_order_marks = oddities.carriage_returns = 0
        last = "\n"
        for path in paths:
            first = True
            for block in read_file(path, oddities):
                if first and last != "\n":
                    yield "\n"
                yield block
                first, last = False, block[-1]

    return Corpus(name, blocks, oddities, paths=tuple(paths))


def from_text(text: str, name: str, about: str = "") -> Corpus:
    return Corpus(name, lambda: iter([text] if text else []), about=about)


def survey(corpus: Corpus) -> Survey:
    """Read it once: size, lines, and the SHA-256 of its UTF-8."""
    digest = hashlib.sha256()
    characters = size = newlines = 0
    last = "\n"
    for block in corpus.blocks():
        raw = block.encode("utf-8")
        digest.update(raw)
        characters += len(block)
        size += len(raw)
        newlines += block.count("\n")
        last = block[-1]
    return Survey(characters, size, newlines + (last != "\n"), digest.hexdigest())


def _files(item: str) -> list[Path]:
    path = Path(item)
    try:
        if path.is_dir():
            return _texts_in(path)
        if path.exists():
            return [path]  # or a named pipe or device; reading says what is wrong with it
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise StorageError(f"'{error.filename or item}' cannot be read: {error.strerror}.") from None
    shown = item if len(item) <= 200 else item[:200] + "..."
    raise MissingInput(
        f"there is no file, folder or built-in corpus '{shown}'{did_you_mean(item, CORPORA)}. "
        f"Built in: {', '.join(CORPORA)}."
    )


def _texts_in(folder: Path) -> list[Path]:
    found = sorted(p for p in folder.rglob("*") if p.is_file() and not _hidden(p, folder))
    texts = [p for p in found if p.suffix == ".gz" or not _looks_binary(p)]
    if not texts:
        raise DataError(
            f"the folder '{folder}' holds no text file, only {len(found)} others. Expected .txt or the like."
        )
    return texts


def _hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _looks_binary(path: Path) -> bool:
    with path.open("rb") as stream:
        return b"\0" in stream.read(8192)


def _standard_input(kept: Path | None) -> Corpus:
    if kept is None or not kept.is_file():
        if kept is not None:
            raise MissingInput(f"the text that this run read from standard input is gone: '{kept}' is missing.")
        if sys.stdin is None or sys.stdin.isatty():
            raise MissingInput("'-' reads the text from standard input, but nothing is piped in. Try: cat my.txt | ...")
        kept = _spool()
    return replace(from_files([kept], "stdin"), kept=kept)


def _spool() -> Path:
    """Standard input can be read only once, so it is written to a file first."""
    with tempfile.NamedTemporaryFile(dir=cache_directory("stdin"), suffix=".txt", delete=False) as spool:
        try:
            shutil.copyfileobj(sys.stdin.buffer, spool)
        except OSError as error:
            Path(spool.name).unlink()
            raise StorageError(f"standard input cannot be kept in '{spool.name}': {error.strerror}.") from None
    return Path(spool.name)
