"""The documents of an index as it stores them: one JSON object per line, and where each line and passage begins.

M: documents, N: passages.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from seqlab.data.documents.document import Document
from seqlab.data.documents.passages import Passage, passages
from seqlab.errors import DataError
from seqlab.retrieval.directory import DIGESTS, DOCUMENTS, LINES, PASSAGES, npy_bytes, read_array, write_file
from seqlab.storage import as_bytes, write_atomic_parts

DIGEST = 16  # bytes


@dataclass(frozen=True)
class Snapshot:
    """All documents in memory as bytes; a document is parsed when it is asked for."""

    content: bytes
    lines_M: np.ndarray  # where each line begins, and the end: one more than documents
    spans_N: np.ndarray  # (N, 3): the row of the document, start and end in its text
    digests_N: np.ndarray  # (N, 16): of what was read for each passage

    @property
    def documents(self) -> int:
        return len(self.lines_M) - 1

    @property
    def passages(self) -> int:
        return len(self.spans_N)

    @cached_property
    def starts_M(self) -> np.ndarray:
        """The row of the first passage of each document."""
        return np.searchsorted(self.spans_N[:, 0], np.arange(self.documents))

    def document(self, row: int) -> Document:
        fields = json.loads(self.content[self.lines_M[row] : self.lines_M[row + 1]])
        return Document(fields["id"], fields["text"], fields["title"])

    def passage(self, row: int) -> Passage:
        document, start, end = self.spans_N[row].tolist()
        return Passage(self.document(document), start, end)

    def read(self) -> Iterator[Document]:
        return map(self.document, range(self.documents))

    def pieces(self) -> Iterator[Passage]:
        """All passages in order; each document is parsed once."""
        row = 0
        for number, document in enumerate(self.read()):
            while row < self.passages and self.spans_N[row, 0] == number:
                yield Passage(document, int(self.spans_N[row, 1]), int(self.spans_N[row, 2]))
                row += 1

    @cached_property
    def ids(self) -> list[str]:
        return [document.id for document in self.read()]

    def document_digests(self) -> dict[str, bytes]:
        """What changes with the content of a document, by its id."""
        rows = (self.content[start:end] for start, end in pairwise(self.lines_M.tolist()))
        return {name: _digest(row) for name, row in zip(self.ids, rows, strict=True)}


def write_snapshot(documents: Iterable[Document], folder: Path, length: int, overlap: int) -> dict[str, str]:
    """Write all documents and their passages; returns the hashes of the files."""
    lines, spans, digests = [0], [], bytearray()

    def rows() -> Iterator[bytes]:
        for number, document in enumerate(documents):
            fields = {"id": document.id, "title": document.title, "text": document.text}
            row = as_bytes(json.dumps(fields, ensure_ascii=False) + "\n")
            lines.append(lines[-1] + len(row))
            for piece in passages(document, length, overlap):
                spans.append((number, piece.start, piece.end))
                digests.extend(digest_of(piece))
            yield row

    hashes = {DOCUMENTS: write_atomic_parts(folder / DOCUMENTS, rows(), 0)}
    hashes[LINES] = write_file(folder, LINES, npy_bytes(np.array(lines, np.int64)))
    hashes[PASSAGES] = write_file(folder, PASSAGES, npy_bytes(np.array(spans, np.int64)))
    digests_N = np.frombuffer(bytes(digests), np.uint8).reshape(-1, DIGEST)
    hashes[DIGESTS] = write_file(folder, DIGESTS, npy_bytes(digests_N))
    return hashes


def digest_of(passage: Passage) -> bytes:
    return _digest(as_bytes(passage.with_title))


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST).digest()


def load_snapshot(read: Callable[[str], bytes], path: Path) -> Snapshot:
    """The documents of the index at `path`, whose files `read` reads; DataError if they do not fit together."""
    lines_M, spans_N, digests_N = (read_array(read(name), path / name) for name in (LINES, PASSAGES, DIGESTS))
    snapshot = Snapshot(read(DOCUMENTS), lines_M, spans_N, digests_N)
    _check(snapshot, path)
    return snapshot


def _check(snapshot: Snapshot, path: Path) -> None:
    lines_M, spans_N, digests_N = snapshot.lines_M, snapshot.spans_N, snapshot.digests_N
    fits = (
        lines_M.ndim == 1
        and spans_N.shape == (len(digests_N), 3)
        and digests_N.shape[1:] == (DIGEST,)
        and lines_M.dtype == spans_N.dtype == np.int64
        and len(lines_M) > 1
        and lines_M[0] == 0
        and lines_M[-1] == len(snapshot.content)
        and bool((np.diff(lines_M) > 0).all())
        and np.array_equal(np.unique(spans_N[:, 0]), np.arange(len(lines_M) - 1))
        and bool((np.diff(spans_N[:, 0]) >= 0).all())
    )
    if not fits:
        raise DataError(f"'{path}' cannot be used: its documents and passages do not fit together. Build it again.")
