"""A source of text: a file or an address, how it is packed, and what it holds."""

import re
from dataclasses import dataclass
from typing import Literal

from seqlab.data.encoding import UTF8
from seqlab.data.parquet_files import PARQUET

Form = Literal["text", "rows", "parquet"]
ROW_SUFFIXES = (".jsonl", ".ndjson")
PACKINGS = {".gz": "gz", ".zst": "zst", ".zstd": "zst"}
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@dataclass(frozen=True)
class TextSource:
    """A file or an address, as it was when the corpus was opened."""

    name: str
    size: int  # bytes as stored; -1 if unknown
    stamp: str  # changes when the file does
    form: Form = "text"
    packing: str = ""  # gz, zst or nothing
    codec: str = UTF8
    column: str = ""  # of rows: the one with the text
    can_seek: bool = True

    @property
    def is_divisible(self) -> bool:
        """Whether reading can begin anywhere."""
        return self.can_seek and not self.packing and self.form != "parquet" and self.size >= 0

    @property
    def identity(self) -> tuple[str, ...]:
        """What the encoded text depends on."""
        return self.name, str(self.size), self.stamp, self.form, self.packing, self.codec, self.column


def is_address(item: str) -> bool:
    """Whether this is an address such as s3://bucket/file, and no path."""
    return ADDRESS.match(item) is not None


def is_text_only(name: str) -> bool:
    """Whether a file can only be read as running text: no examples are read from what zstd packed."""
    return form_and_packing(name)[1] == "zst"


def form_and_packing(name: str) -> tuple[Form, str]:
    """What a file holds and how it is packed, by its suffixes."""
    stem, packing = name.lower(), ""
    if is_address(name):
        stem = stem.partition("?")[0].partition("#")[0]
    for suffix, word in PACKINGS.items():
        if stem.endswith(suffix):
            stem, packing = stem.removesuffix(suffix), word
            break
    if stem.endswith(ROW_SUFFIXES):
        return "rows", packing
    return ("parquet" if stem.endswith(PARQUET) and not packing else "text"), packing
