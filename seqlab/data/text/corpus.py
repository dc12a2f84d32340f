"""A corpus: a text that can be read in blocks any number of times, from files, folders, standard input or a built-in.

`open_corpus` finds it, `measure_corpus` reads it once for its size and fingerprint. Read split.py next.
"""

import hashlib
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from seqlab.data.builtin_names import shadow_notes
from seqlab.data.encoding import UTF8
from seqlab.data.examples.lines import TEXT_TABLES, suffix
from seqlab.data.file_layout import recognize_layout
from seqlab.data.file_names import shorten
from seqlab.data.files import STANDARD_INPUT, InputFixes, existing_path, read_file
from seqlab.data.folders import COPIED, copies_among, files_below, is_result, note_links
from seqlab.data.readable_files import EMPTY, readable_codec
from seqlab.data.standard_input import NAME, called_by_name, copy_stdin
from seqlab.data.text.forms import TextForm, form_of_text
from seqlab.data.text.mail import folder_command
from seqlab.data.text.symbols import join_symbols
from seqlab.errors import DataError, MissingInput, UsageError
from seqlab.registry import CORPORA, did_you_mean
from seqlab.wording import counted

MARKUP = (".html", ".htm", ".xhtml", ".xml", ".tmx", ".xliff", ".xlf", ".po", ".svg")  # suffixes
READING_COUNTS = ("byte_order_marks", "crlf_lines", "cr_lines", "added_newlines")  # of InputFixes, in each reading


@dataclass(frozen=True)
class Corpus:
    """`blocks()` starts reading from the beginning. A built-in corpus has no `paths`."""

    name: str
    blocks: Callable[[], Iterator[str]]
    fixes: InputFixes = field(default_factory=InputFixes)
    stdin_copy: Path | None = None  # the file that standard input was copied to
    about: str = ""
    paths: tuple[Path, ...] = ()
    file_ends: list[int] = field(default_factory=list[int])  # after how many characters, once it was read to the end

    @property
    def where(self) -> str:
        return NAME if self.stdin_copy else shorten(", ".join(map(str, self.paths)) or self.name)


@dataclass(frozen=True)
class CorpusStats:
    """Sizes, and the SHA-256 of the text in UTF-8."""

    characters: int
    bytes: int
    lines: int
    fingerprint: str


class TextChanged(DataError):
    """A text is no longer what was measured."""

    def __init__(self, corpus: Corpus):
        super().__init__(
            f"'{corpus.where}' was changed while seqlab was using it. Restore it, or start again with the new text."
        )


def open_corpus(
    source: Sequence[str],
    stdin_copy: Path | None = None,
    layout: str = "text",
    left_out: Mapping[str, str] = MappingProxyType({}),
) -> Corpus:
    """The corpus at a built-in name, paths or '-'; `stdin_copy` is where a run has saved its standard input, and
    `left_out` has files of folders that are not read, and why.

    In the layout "symbols", characters stand between spaces, and _ is a space: the corpus is the text they spell."""
    corpus = _find_corpus(source, stdin_copy, left_out)
    return corpus if layout == "text" else replace(corpus, blocks=lambda: join_symbols(corpus.blocks(), corpus.name))


def _find_corpus(source: Sequence[str], stdin_copy: Path | None, left_out: Mapping[str, str]) -> Corpus:
    if list(source) == [STANDARD_INPUT]:
        return _from_stdin(stdin_copy)
    if len(source) == 1 and source[0] in CORPORA:
        return _built_in(source[0])
    if any(item in CORPORA or item == STANDARD_INPUT for item in source):
        raise DataError(f"{', '.join(source)}: a built-in corpus or '-' cannot be combined with other sources.")
    fixes = InputFixes()
    codecs: dict[Path, str] = {}
    for item in source:
        for path, codec in _resolve(item, fixes, left_out, alone=len(source) == 1).items():
            if path in codecs:
                raise UsageError(f"'{path}' is given twice: name every file once.")
            codecs[path] = codec
    named = {Path(item) for item in source}
    for path, original in copies_among([*codecs]).items():
        if path in named:
            raise UsageError(f"'{path}' has the same content as '{original}': give every text once.")
        fixes.left_out[str(path)] = COPIED
        del codecs[path]
    note_links([path for path in codecs if path not in named], fixes)
    note_forms([*codecs], fixes)
    name = Path(source[0]).name.split(".")[0] or Path(source[0]).resolve().name
    return corpus_from_files(codecs, name if len(source) == 1 else f"{name}-and-{len(source) - 1}-more", fixes)


def _built_in(name: str) -> Corpus:
    if task := CORPORA.default_overrides(name).get("task.name"):
        raise DataError(f"'{name}' is not a running text. Train it with --task {task}.")
    corpus = CORPORA.load(name)()
    corpus.fixes.remarks += shadow_notes(name)
    return corpus


def note_forms(paths: Sequence[Path], fixes: InputFixes) -> None:
    """Note the files that are no prose, by their suffixes or first lines."""
    mails: dict[Path, TextForm] = {}
    for path in paths:
        if suffix(path) in TEXT_TABLES and not (suffix(path) == ".json" and form_of_text(path)):
            fixes.tables.append(str(path))
        elif suffix(path) in MARKUP:
            fixes.markup.append(str(path))
        elif form := form_of_text(path):
            if form.is_mail:
                mails[path] = form
            else:
                fixes.forms.setdefault(form.looks_like, {})[str(path)] = form.advice
    if mails:
        _note_mails(mails, fixes)


def _note_mails(mails: Mapping[Path, TextForm], fixes: InputFixes) -> None:
    """Mails have one note, whatever their bodies are encoded in, and one command."""
    kinds = {form.looks_like for form in mails.values()}
    first, form = next(iter(mails.items()))
    advice = form.advice
    if len(mails) > 1:
        command = folder_command(mails)
        advice = f"To get their text: {command}" if command else f"Of {first.name} alone: t{advice[1:]}"
    looks_like = kinds.pop() if len(kinds) == 1 else "mail, with header fields and encoded bodies"
    fixes.forms[looks_like] = dict.fromkeys(map(str, mails), advice)


def corpus_from_files(codecs: Mapping[Path, str], name: str, fixes: InputFixes) -> Corpus:
    """Several files with their encodings as one text; a file that lacks a final newline gets one before the next."""

    fixes.unpacked |= {str(path): None for path in codecs if path.suffix == ".gz"}
    file_ends: list[int] = []

    def blocks() -> Iterator[str]:
        reading, last = replace(fixes, **dict.fromkeys(READING_COUNTS, 0)), "\n"
        characters, ends = 0, list[int]()
        for path, codec in codecs.items():
            first = True
            for block in read_file(path, reading, codec):
                if first and last != "\n":
                    reading.added_newlines += 1
                    characters += 1
                    yield "\n"
                yield block
                characters += len(block)
                first, last = False, block[-1]
            ends.append(characters)
        file_ends[:] = ends
        for count in READING_COUNTS:  # those of a reading that reached the end
            setattr(fixes, count, getattr(reading, count))

    return Corpus(name, blocks, fixes, paths=tuple(codecs), file_ends=file_ends)


def corpus_from_text(text: str, name: str, about: str = "") -> Corpus:
    """A text in memory."""
    return Corpus(name, lambda: iter([text] if text else []), about=about)


def measure_corpus(corpus: Corpus) -> CorpusStats:
    """Read the corpus once."""
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
    return CorpusStats(characters, size, newlines + (last != "\n"), digest.hexdigest())


def unchanged(corpus: Corpus, stats: CorpusStats) -> Corpus:
    """The corpus that was measured: reading it to the end fails if it has changed since.

    What is computed from a text is cached under the fingerprint of the text, so it must come from that text."""

    def blocks() -> Iterator[str]:
        digest, characters, newlines = hashlib.sha256(), 0, 0
        for block in corpus.blocks():
            digest.update(block.encode("utf-8"))
            characters += len(block)
            newlines += block.count("\n")
            if characters > stats.characters or newlines > stats.lines:
                raise TextChanged(corpus)
            yield block
        if digest.hexdigest() != stats.fingerprint:
            raise TextChanged(corpus)

    return replace(corpus, blocks=blocks)


def require_existing(item: str) -> Path:
    """The file or folder; MissingInput if there is none."""
    path = existing_path(item)
    if path is None:
        raise MissingInput(
            f"there is no file, folder or built-in corpus '{shorten(item)}'{did_you_mean(item, CORPORA)}. "
            f"Built in: {', '.join(CORPORA)}."
        )
    return path


def _resolve(item: str, fixes: InputFixes, left_out: Mapping[str, str], alone: bool) -> dict[Path, str]:
    """The files of an item, each with its encoding; `fixes` records what is left out of a folder, or beside others."""
    path = require_existing(item)
    if path.is_dir() and is_result(path):
        name = shlex.quote(item)
        raise DataError(
            f"'{item}' is a run or a comparison, not a folder of texts. To train with its settings, give a text and "
            f"--from {name}; to continue a run: seqlab resume {name}"
        )
    if path.is_dir():
        return _text_files(path, fixes, left_out)
    codec, why = readable_codec(path)
    if why == EMPTY and not alone:
        fixes.left_out[item] = why
        return {}
    return {path: codec or UTF8}


def _text_files(folder: Path, fixes: InputFixes, unread: Mapping[str, str]) -> dict[Path, str]:
    """The text files of a folder, each with its encoding; those that are empty or no readable text are left out."""
    files = files_below(folder, fixes)
    texts: dict[Path, str] = {}
    for path in files:
        codec, why = (None, unread[str(path)]) if str(path) in unread else readable_codec(path)
        if codec is None:
            fixes.left_out[str(path)] = why
        else:
            texts[path] = codec
    if not texts:
        left_out = "".join(f" {note[0].upper()}{note[1:]}." for note in fixes.notes())
        raise DataError(
            f"the folder '{folder}' has no text file among its {counted(len(files), 'file')}. Expected .txt files or "
            f"the like.{left_out}"
        )
    return texts


def _from_stdin(copy: Path | None) -> Corpus:
    if copy is None:
        if sys.stdin is None or sys.stdin.isatty():
            raise MissingInput("'-' reads the text from standard input, but nothing is piped in. Try: cat my.txt | ...")
        copy = copy_stdin()
    elif not copy.is_file():
        raise MissingInput(f"the text that this run read from standard input is missing: there is no '{copy}'.")
    fixes = InputFixes(remarks=_stdin_notes(copy))
    corpus = corpus_from_files({copy: readable_codec(copy)[0] or UTF8}, "stdin", fixes)
    return replace(corpus, stdin_copy=copy, blocks=lambda: _called_by_name(copy, corpus.blocks))


def _stdin_notes(copy: Path) -> list[str]:
    """What a file with these lines is noted or refused for: a pipe has no name from which a task is inferred."""
    if form := form_of_text(copy):
        looks = f"it looks like {form.looks_like}"
    elif layout := recognize_layout(copy):
        looks = layout.reason.replace(copy.name, "standard input")
    else:
        return []
    return [
        f"read standard input as running text, but {looks}. Save it to a file: seqlab doctor FILE says how to read it"
    ]


def _called_by_name(copy: Path, blocks: Callable[[], Iterator[str]]) -> Iterator[str]:
    with called_by_name(copy):
        yield from blocks()
