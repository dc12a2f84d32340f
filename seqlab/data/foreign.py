"""Files that are no text, whatever they are called: what they are, and how to get their text."""

import os
import re
import shlex
import zipfile
import zlib
from pathlib import Path

from seqlab.data.new_files import new_file
from seqlab.data.parquet_files import AS_JSON_LINES
from seqlab.data.standard_input import is_copy
from seqlab.errors import DataError
from seqlab.wording import counted

SHEET, PLAIN = "Save the sheet as CSV, and give that.", "Get its text: pandoc FILE -t plain -o NEW.txt"
ZIPPED = {  # what a zip archive is, by the name of an entry, or the type that one says
    "xl/workbook.xml": ("a workbook (xlsx)", SHEET),
    "word/document.xml": ("a document of a word processor (docx)", PLAIN),
    "ppt/presentation.xml": ("a presentation (pptx)", "Save it as plain text, and give that."),
    "application/vnd.oasis.opendocument.spreadsheet": ("a workbook (ods)", SHEET),
    "application/vnd.oasis.opendocument.text": ("a document of a word processor (odt)", PLAIN),
    "application/epub+zip": ("an ebook (epub)", PLAIN),
}
ZIP, MIMETYPE = b"PK\x03\x04", "mimetype"
TAR, TAR_AT = b"ustar", 257
UNPACK_ALL = "Unpack it, and give the files in it: "
TO_JSON_LINES = f"{AS_JSON_LINES} > NEW.jsonl"
GZIP = b"\x1f\x8b\x08"
FOREIGN = {  # how they begin; FILE is the file, NEW a name for its text, NEW.txt one for a text in another format
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": (
        "an old file of Office (xls, doc or ppt)",
        "Save a sheet as CSV, a document as plain text, and give that.",
    ),
    b"7z\xbc\xaf\x27\x1c": ("packed by 7-Zip", f"{UNPACK_ALL}7z x FILE"),
    b"SQLite format 3\0": (
        "a database of SQLite",
        "Export a table of it, such as: sqlite3 -header -csv FILE 'SELECT * FROM TABLE' > NEW.csv",
    ),
    b"PAR1\x15": ("a Parquet file", "Give it a name that ends in .parquet, or make JSON lines of it: " + TO_JSON_LINES),
    b"%PDF-": ("a PDF", "Extract its text: pdftotext FILE NEW.txt"),
    GZIP: ("packed by gzip", "Give it a name that ends in .gz, or unpack it: gzip -dc < FILE > NEW"),
    b"BZh91AY&SY": ("packed by bzip2", "Unpack it: bzip2 -dc < FILE > NEW"),
    b"\xfd7zXZ\0": ("packed by xz", "Unpack it: xz -dc < FILE > NEW"),
    b"(\xb5/\xfd": ("packed by zstd", "Unpack it: zstd -dc < FILE > NEW"),
}
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zstd")  # suffixes after the one that tells the format
PLACE, TO_NEW = re.compile(r"\bFILE\b|\bNEW\b(\.\w+)?"), re.compile(r"> NEW\b(?!\.)")
ARCHIVES = (".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tzst")


PACKED_TWICE = ("packed twice by gzip", "Unpack it twice: gzip -dc < FILE | gzip -dc > NEW")


class Foreign(DataError):
    """A file that is no text. `reason`: what it is and how to read it, the same for all files of a kind that are left
    out of a folder."""

    def __init__(self, message: str, reason: str):
        super().__init__(message)
        self.reason = reason


def refuse_foreign(beginning: bytes, name: str) -> None:
    """Foreign for a file that is recognized as something else than text."""
    found = next((FOREIGN[mark] for mark in FOREIGN if beginning.startswith(mark)), None)
    if beginning.startswith(ZIP):
        found = _zipped(name)
    elif beginning[TAR_AT:].startswith(TAR):
        found = ("an archive (tar)", f"{UNPACK_ALL}tar -xf FILE")
    elif beginning.startswith(GZIP) and Path(name).suffix == ".gz":  # what is inside
        found = PACKED_TWICE
    if found is None:
        return
    what, advice = found
    if advice.endswith("> NEW") and Path(_unpacked(name)).suffix.lower() in ARCHIVES:
        advice = f"{UNPACK_ALL}tar -xf FILE"
    said = f"{what}, not text. {advice}"
    raise Foreign(f"'{name}' is {on_file(said, name)}", said.rstrip("."))


def on_file(command: str, name: str) -> str:
    """A command that reads FILE and writes NEW, or NEW.txt if the format changes, on this file; in place of standard
    input, it is piped on."""
    if is_copy(name):
        command = TO_NEW.sub("| seqlab ... -", command)
    return PLACE.sub(lambda place: _filled_in(place[0], place[1], name), command)


def _filled_in(place: str, suffix: str | None, name: str) -> str:
    if suffix:
        return new_file(suffix)
    if is_copy(name):
        return place
    return shlex.quote(name) if place == "FILE" else new_name(name)


def _zipped(name: str) -> tuple[str, str]:
    """What a zip archive is, by its entries, and how to get its text."""
    archive = ("a zip archive", f"{UNPACK_ALL}unzip FILE")
    try:
        with zipfile.ZipFile(name) as packed:
            entries = packed.namelist()
            kind = packed.read(MIMETYPE).decode(errors="replace").strip() if MIMETYPE in entries else ""
    except (OSError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error):
        return archive  # it is damaged, encrypted, or packed once more
    known = (ZIPPED[mark] for mark in (kind, *entries) if mark in ZIPPED)
    return next(known, (f"a zip archive of {counted(len(entries), 'file')}", archive[1]))


def new_name(name: str) -> str:
    """A name for the text of a file, as a shell takes it: its suffix tells the format, and no file has that name."""
    unpacked = _unpacked(name)
    suffix = Path(unpacked).suffix or ".txt"
    own = Path(unpacked).stem + suffix
    return new_file(suffix) if own == Path(name).name or os.path.lexists(own) else shlex.quote(own)


def _unpacked(name: str) -> str:
    """The name of the file without the suffix of what packed it."""
    path = Path(Path(name).name)
    return path.stem if path.suffix.lower() in PACKED else path.name
