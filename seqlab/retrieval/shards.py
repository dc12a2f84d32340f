"""Vectors of a corpus of any size: block by block, each in a file of its own, so that a stopped job can go on.

A shard names the texts that it is made of by their hash, and holds the hash of its content: one of other texts, or a
damaged one, is computed again. A block is embedded in one call, so a continued job has the vectors of one that was
never stopped, bit by bit.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from seqlab.data.documents.passages import Passage
from seqlab.errors import DataError, MissingInput
from seqlab.runs import tensors
from seqlab.storage import read_bytes, refuse_link, sha256, storage_errors, write_atomic

BLOCK = 2048  # passages
DIGEST = 64  # characters of a SHA-256 in hex


@dataclass(frozen=True)
class Shard:
    """A block of passages and the file of its vectors. `continued`: whether it was there before."""

    path: Path
    rows: int
    continued: bool
    passages: Sequence[Passage] = ()

    def without_texts(self) -> "Shard":
        """The same without its passages, for a list of all shards that stays small."""
        return replace(self, passages=())

    def vectors(self) -> np.ndarray:
        found = _read(self.path)
        if found is None:
            raise DataError(f"'{self.path}' was changed while seqlab was using it. Run the command again.")
        return found[1]


def embed_blocks(
    passages: Iterable[Passage],
    embed: Callable[[Sequence[Passage]], np.ndarray],
    folder: Path,
    fingerprint: str,
    takes: Callable[[int], bool] = lambda _: True,
) -> Iterator[Shard]:
    """The shards of all passages, in order; only those that are missing are computed. `takes`: which numbers, if not
    all of them."""
    refuse_link(folder)
    with storage_errors(folder, 0):
        folder.mkdir(parents=True, exist_ok=True)
    iterator = iter(passages)
    number = 0
    while block := list(islice(iterator, BLOCK)):
        if not takes(number):
            number += 1
            continue
        texts = "\0".join(f"{len(passage.with_title)} {passage.with_title}" for passage in block)
        digest = sha256(f"{fingerprint}\0{texts}".encode("utf-8", "surrogatepass"))
        path = folder / f"{number:06d}.shard"
        found = _read(path)
        continued = found is not None and found[0] == digest and len(found[1]) == len(block)
        if not continued:
            _write(path, digest, embed(block))
        yield Shard(path, len(block), continued, block)
        number += 1


def remove_shards(folder: Path) -> None:
    refuse_link(folder)
    with storage_errors(folder, 0):
        shutil.rmtree(folder, ignore_errors=True)


def _write(path: Path, digest: str, vectors_ND: np.ndarray) -> None:
    import torch

    content = tensors.to_bytes({"vectors": torch.from_numpy(np.ascontiguousarray(vectors_ND, np.float32))})
    write_atomic(path, digest.encode() + sha256(content).encode() + content)


def _read(path: Path) -> tuple[str, np.ndarray] | None:
    """The hash of its texts and its vectors; None if it is missing or damaged."""
    import torch

    try:
        raw = read_bytes(path)
    except MissingInput:
        return None
    digest, stored, content = raw[:DIGEST], raw[DIGEST : 2 * DIGEST], raw[2 * DIGEST :]
    if sha256(content).encode() != stored:
        return None
    vectors = tensors.from_bytes(content, path, {"vectors": torch.empty(0, 0)})["vectors"]
    return digest.decode(), vectors.numpy()
