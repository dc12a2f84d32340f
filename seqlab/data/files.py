"""Files to text and lines, with the file, line and offset of every error.

encoding.py recognizes the encoding. A byte-order mark at the start is removed, and CRLF becomes LF; so does CR in a
file without LF. `InputFixes` counts
what was corrected, for the notes of a run.
"""

import codecs
import errno
import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO

from seqlab.data.encoding import UTF8, encoding_name, nul_advice, recognize_encoding, undecodable
from seqlab.data.file_names import first_names, name_files, shorten
from seqlab.data.foreign import refuse_foreign
from seqlab.data.telling_words import TellingWord
from seqlab.errors import DataError, MissingInput, StorageError, UsageError
from seqlab.wording import counted

BLOCK = 1 << 20
CATALOG = ".po"  # suffix of translations of the messages of a program
PAIRED = (".tmx", ".xliff", ".xlf", CATALOG)  # suffixes of files with texts and their translations
STANDARD_INPUT = "-"
HIDDEN, LINKED = "hidden", "a link"  # why a file or folder is left out
LEFT_OUT_NOUNS = {HIDDEN: ("file or folder", "files or folders"), LINKED: ("folder", "folders")}


@dataclass
class InputFixes:
    """What reading corrected, over all files of a corpus."""

    byte_order_marks: int = 0
    crlf_lines: int = 0
    cr_lines: int = 0  # of files without any LF
    line_marks: int = 0  # byte-order marks at the start of other lines than the first, as in joined files
    unpacked: dict[str, None] = field(default_factory=dict)  # gzipped files
    added_newlines: int = 0  # between joined files
    double_tags: int = 0
    passed_over: Counter[str] = field(default_factory=Counter)  # lines of tagged words that are no words, by kind
    run_folders: list[str] = field(default_factory=list)  # left out of a folder of texts
    tables: list[str] = field(default_factory=list)  # files of a text that look like tables
    markup: list[str] = field(default_factory=list)  # files of a text that are HTML or XML
    forms: dict[str, dict[str, str]] = field(default_factory=dict)  # by what files of a text look like: how to convert
    left_out: dict[str, str] = field(default_factory=dict)  # files and folders left out of a folder, and why
    remarks: list[str] = field(default_factory=list)  # notes on how files of examples were read
    blank_rows: int = 0  # of tables
    trimmed_labels: int = 0
    trimmed_groups: int = 0
    delimiters: dict[str, str] = field(default_factory=dict)  # what separates fields, by file, where it is unusual
    first_lines: dict[str, str] = field(default_factory=dict)  # read as data, by file, since columns are numbered
    skip_limit: float = 0.0  # the share of bad rows that may be skipped
    trains: bool = True  # not where a run only scores or predicts, with its own skip limit
    column_pairs: list[tuple[str, str]] = field(default_factory=list)  # those that were read, of each table
    header: tuple[str, ...] = ()  # of the first table to train on
    sources: dict[str, Sequence[str]] = field(default_factory=dict)  # files and folders that are given, by split
    skipped: list[str] = field(default_factory=list)  # notes on them
    skipped_rows: int = 0
    unread: dict[int, str] = field(default_factory=dict)  # why a row to predict from has no text, by its line
    encodings: dict[str, dict[str, str]] = field(default_factory=dict)  # by codec: files, and a word outside ASCII

    def notes(self) -> list[str]:
        notes = []
        for codec, files in self.encodings.items():
            first, word = next(iter(files.items()))
            example = f", such as '{word}' in {first_names([first])}" if word else ""
            notes.append(f"read {name_files(list(files))} as {encoding_name(codec)}, not UTF-8{example}")
        notes += [*self.source_notes, *self.remarks]
        for file, line in self.first_lines.items():
            notes.append(f"the columns of {file} are numbered, so its first line is data: {line}")
        notes += self._unified
        notes += [f"{name}: fields are separated by {word}" for name, word in self.delimiters.items()]
        if self.blank_rows:
            rows = counted(self.blank_rows, "row or pair of lines", "rows or pairs of lines")
            notes.append(f"passed over {rows} without content")
        if self.trimmed_labels:
            notes.append(f"removed the spaces around {counted(self.trimmed_labels, 'label')}")
        if self.trimmed_groups:
            notes.append(
                f"removed the spaces around {counted(self.trimmed_groups, 'name of a group', 'names of groups')}"
            )
        notes += self.skipped
        if self.double_tags:
            notes.append(f"words with two tags joined by a comma: {self.double_tags:,}; only the first tag is used")
        notes += [f"passed over lines of {what}: {lines:,}" for what, lines in self.passed_over.items()]
        return notes

    @property
    def _unified(self) -> list[str]:
        """Marks and line endings of other systems."""
        notes: list[str] = []
        if self.byte_order_marks:
            notes.append("removed a byte-order mark at the start of a file")
        if self.line_marks:
            notes.append(f"removed the byte-order mark at the start of {counted(self.line_marks, 'line')} within files")
        if self.crlf_lines:
            notes.append(f"read {counted(self.crlf_lines, 'CRLF line ending')} as LF")
        if self.cr_lines:
            notes.append(f"read {counted(self.cr_lines, 'CR line ending')} as LF, since there is no LF")
        return notes

    @property
    def source_notes(self) -> list[str]:
        """Files that are packed or no prose, and what a folder has besides the files that are read."""
        notes = [f"unpacked {name_files(list(self.unpacked))}"] if self.unpacked else []
        if self.tables:
            read = f"read {counted(len(self.tables), 'table')} as running text ({first_names(self.tables)})"
            notes.append(f"{read}: column names or keys, delimiters, quotes and escapes are part of the text")
        catalogs = [file for file in self.markup if file.removesuffix(".gz").lower().endswith(CATALOG)]
        for files, marks in (
            ([file for file in self.markup if file not in catalogs], "tags and entities"),
            (catalogs, "keywords, quotes and comments"),
        ):
            if files:
                notes.append(f"read {name_files(files)} as running text: {marks} are part of it")
        if pairs := [file for file in self.markup if file.removesuffix(".gz").lower().endswith(PAIRED)]:
            what = "texts with their translations, by the suffix"
            notes.append(f"{name_files(pairs)}: {what}. To learn from them, make a table of source and target")
        for form, advice in self.forms.items():
            first = next(iter(advice.values()))
            notes.append(f"read {name_files([*advice])} as running text, but it looks like {form}. {first}")
        for why in dict.fromkeys(self.left_out.values()):
            files = [file for file, reason in self.left_out.items() if reason == why]
            noun, nouns = LEFT_OUT_NOUNS.get(why, ("file", "files"))
            notes.append(f"left out {counted(len(files), noun, nouns)} ({why}): {first_names(files)}")
        if self.run_folders:
            folders = f"{counted(len(self.run_folders), 'folder')} of seqlab runs, comparisons, indexes or exports"
            notes.append(f"left out {folders}: {first_names(self.run_folders)}")
        return notes


def existing_path(item: str) -> Path | None:
    """The path, or None if nothing exists there; UsageError if it cannot be read several times."""
    if not item:
        raise UsageError("an empty name was given: name a file or a folder, such as '.' for this one.")
    try:
        if not Path(item).exists():
            if Path(item).is_symlink():
                raise MissingInput(f"'{item}' is a broken link: it leads to '{Path(item).readlink()}'. Give the file.")
            return None
        if not Path(item).is_file() and not Path(item).is_dir():
            raise UsageError(
                f"'{item}' is a pipe or a device, and seqlab reads a text several times. Give '-' and pipe the text "
                f"into standard input (cat my.txt | seqlab ... -), or save it to a file first."
            )
        return Path(item)
    except ValueError:  # a NUL in the name
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return None
        raise StorageError(f"'{error.filename or item}' cannot be read: {error.strerror}.") from None


def read_file(path: Path, fixes: InputFixes, codec: str | None = None) -> Iterator[str]:
    """The text of a plain or gzipped file, block by block; its encoding is recognized if no codec is given."""
    if path.suffix == ".gz":
        fixes.unpacked[str(path)] = None
    codec = codec or recognize_encoding(read_bytes(path)) or UTF8  # where nothing fits, decoding says where and why
    yield from decode(read_bytes(path), str(path), fixes, codec, cr_ends_lines(path))


def cr_ends_lines(path: Path) -> bool:
    """Whether a file has CR and no LF, as old systems wrote it."""
    found = False
    for block in read_bytes(path):
        if b"\n" in block:
            return False
        found |= b"\r" in block
    return found


def read_bytes(path: Path) -> Iterator[bytes]:
    """The bytes of a plain or gzipped file, block by block."""
    with open_bytes(path) as stream:
        while raw := stream.read(BLOCK):
            yield raw


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a plain or gzipped file; a SeqlabError if it cannot be read."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            yield stream  # pyright: ignore[reportReturnType]
    except FileNotFoundError:
        raise MissingInput(f"there is no file '{path}'.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"'{path}' ends in .gz but cannot be unpacked: {error}.") from None
    except OSError as error:
        raise StorageError(f"'{path}' cannot be read: {error.strerror or error}.") from None


def read_beginning(path: Path, size: int) -> tuple[list[str], bool]:
    """The lines of the first bytes of a file, as far as they are complete, and whether these are all of the file.

    Bytes that do not fit the encoding are replaced. DataError for a file that is no text; OSError, EOFError or
    zlib.error if it cannot be read."""
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
        raw = stream.read(size)
        complete = not stream.read(1)
    refuse_foreign(raw, str(path))
    codec = recognize_encoding([raw if complete else raw[: raw.rfind(b"\n") + 1] or raw]) or UTF8
    text = raw.decode("utf-8-sig" if codec == UTF8 else codec, errors="replace")
    text = text if "\n" in text else text.replace("\r", "\n")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return (lines if complete else lines[:-1]), complete


def decode(
    blocks: Iterable[bytes], name: str, fixes: InputFixes, codec: str = UTF8, cr_ends_lines: bool = False
) -> Iterator[str]:
    """The text of a file's bytes in blocks, or DataError with line and offset."""
    decoder = codecs.getincrementaldecoder(codec)()
    newlines = _Newlines(fixes, cr_ends_lines)
    end, line = 0, 1
    telling = TellingWord(codec) if codec != UTF8 else None
    if telling is not None:
        fixes.encodings.setdefault(codec, {}).setdefault(name, "")
    for block in chain(blocks, [b""]):  # the empty block flushes the decoder
        if end == 0:
            refuse_foreign(block, name)
        raw = _remove_mark(block, fixes) if end == 0 else block
        end += len(block)
        pending = len(decoder.getstate()[0])
        try:
            text = newlines.unify(decoder.decode(raw, final=not block), final=not block)
        except UnicodeError as error:
            line += _lines_before(error, b"\r" if cr_ends_lines else b"\n")
            raise undecodable(name, codec, error, end - len(raw) - pending, line) from None
        if "\0" in text:
            line += text[: text.index("\0")].count("\n")
            raise DataError(f"'{name}', line {line}: a NUL character. {nul_advice(raw, name, codec)}")
        if telling is not None and (word := telling.update(text)):
            fixes.encodings[codec][name] = shorten(word, 30)
        line += text.count("\n")
        if text:
            yield text


class _Newlines:
    """Makes LF of CRLF, and of CR where that ends lines."""

    def __init__(self, fixes: InputFixes, cr_ends_lines: bool):
        self.fixes, self.cr_ends_lines, self.pending = fixes, cr_ends_lines, ""

    def unify(self, text: str, final: bool) -> str:
        text = self.pending + text
        may_go_on = text.endswith("\r") and not final and not self.cr_ends_lines
        self.pending = "\r" if may_go_on else ""  # it may belong to a CRLF
        text = text[: len(text) - len(self.pending)]
        if "\r\n" in text:
            self.fixes.crlf_lines += text.count("\r\n")
            text = text.replace("\r\n", "\n")
        if self.cr_ends_lines:
            self.fixes.cr_lines += text.count("\r")
            text = text.replace("\r", "\n")
        return text


def split_lines(blocks: Iterable[str]) -> Iterator[str]:
    """The lines of a text without their newlines; only LF ends a line."""
    line: list[str] = []
    for block in blocks:
        *complete, rest = block.split("\n")
        for end in complete:
            yield "".join([*line, end])
            line = []
        if rest:
            line.append(rest)
    if line:
        yield "".join(line)


def _remove_mark(raw: bytes, fixes: InputFixes) -> bytes:
    if raw.startswith(codecs.BOM_UTF8):
        fixes.byte_order_marks += 1
        return raw[len(codecs.BOM_UTF8) :]
    return raw


def _lines_before(error: UnicodeError, newline: bytes) -> int:
    return error.object[: error.start].count(newline) if isinstance(error, UnicodeDecodeError) else 0
