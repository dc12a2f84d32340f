"""Files that are no text, whatever they are called: what they are, and how to get their text."""

import shlex
from pathlib import Path

from seqlab.errors import DataError

WORKBOOK = (
    "a workbook (xlsx, ods or xls) or another packed file",
    "Save the sheet as CSV, or unpack the file, and give that.",
)
FOREIGN = {  # how they begin; FILE is the file, and NEW a name for its text
    b"PK\x03\x04": WORKBOOK,
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": WORKBOOK,
    b"%PDF-": ("a PDF", "Extract its text: pdftotext FILE new.txt"),
    b"\x1f\x8b\x08": ("packed by gzip", "Give it a name that ends in .gz, or unpack it: gzip -dc < FILE > NEW"),
    b"BZh91AY&SY": ("packed by bzip2", "Unpack it: bzip2 -dc < FILE > NEW"),
    b"\xfd7zXZ\0": ("packed by xz", "Unpack it: xz -dc < FILE > NEW"),
    b"(\xb5/\xfd": ("packed by zstd", "Unpack it: zstd -dc < FILE > NEW"),
}
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zstd")  # suffixes after the one that tells the format
ARCHIVES = (".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tzst")


def refuse_foreign(beginning: bytes, name: str) -> None:
    """DataError for a file that is recognized as something else than text."""
    for mark, (what, advice) in FOREIGN.items():
        if beginning.startswith(mark):
            is_archive = "NEW" in advice and Path(_unpacked(name)).suffix.lower() in ARCHIVES
            advice = "Unpack it, and give the files in it: tar -xf FILE" if is_archive else advice
            command = advice.replace("FILE", shlex.quote(name)).replace("NEW", new_name(name))
            raise DataError(f"'{name}' is {what}, not text. {command}")


def new_name(name: str) -> str:
    """A name for the text of a file, as a shell takes it: its suffix tells the format, and no file has that name."""
    unpacked = _unpacked(name)
    suffix = Path(unpacked).suffix or ".txt"
    own = Path(unpacked).stem + suffix
    return shlex.quote(own if own != Path(name).name and not Path(own).exists() else f"new{suffix}")


def _unpacked(name: str) -> str:
    """The name of the file without the suffix of what packed it."""
    path = Path(Path(name).name)
    return path.stem if path.suffix.lower() in PACKED else path.name
