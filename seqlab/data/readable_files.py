"""Which files can be read as text, and why the others are left out of a folder."""

from pathlib import Path

from seqlab.data.encoding import declared_encoding, recognize_encoding
from seqlab.data.files import read_bytes
from seqlab.data.foreign import Foreign, refuse_foreign
from seqlab.errors import DataError, StorageError

EMPTY, BINARY = "empty", "binary"  # why a file is left out
DAMAGED, CLOSED = "a damaged .gz file", "it cannot be opened"
UNCLEAR = "not UTF-8 throughout, nor clearly in another encoding; seqlab doctor FILE says where"
FAULTS = (DAMAGED, CLOSED, UNCLEAR)  # of files that are meant to be read


def readable_codec(path: Path, declares: bool = False) -> tuple[str | None, str]:
    """The encoding of a file, or None and why it cannot be read. declares: whether it may say its encoding, as a page
    does; that counts if the file is not in Unicode."""
    try:
        first = next(read_bytes(path), b"")
        refuse_foreign(first, str(path))  # a short PDF has nothing but ASCII
        codec = recognize_encoding(read_bytes(path))
        if declares and codec in (None, "cp1252"):
            codec = declared_encoding(b"".join(read_bytes(path))) or codec
    except Foreign as error:
        return None, error.reason
    except (DataError, StorageError) as error:
        return None, DAMAGED if isinstance(error, DataError) else CLOSED
    if not first:
        return None, EMPTY
    return codec, BINARY if b"\0" in first else UNCLEAR
