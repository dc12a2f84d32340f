"""Vectors of tokens that were computed before, kept in the cache: all runs of a comparison start from the same ones.

A file holds its own SHA-256, a newline, and the vectors as numpy writes them.
"""

import io
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from seqlab.baselines.cooccurrence import FLATTENING, MAX_COUNTED_TOKENS, MAX_VOCABULARY, WINDOW, token_vectors
from seqlab.baselines.vector_ranker import MARGIN, ROUNDS
from seqlab.cache import cache_directory, warn_of_damage
from seqlab.errors import DataError
from seqlab.storage import read_bytes, write_atomic

KEPT_FROM = 100_000  # tokens of the texts; vectors of fewer are sooner computed than read
RULE = (WINDOW, FLATTENING, MAX_COUNTED_TOKENS, MAX_VOCABULARY, MARGIN, ROUNDS)  # another one gives other vectors


def cached_token_vectors(texts: Sequence[np.ndarray], vocabulary: int, dimensions: int) -> np.ndarray:
    """The vectors_VD of `token_vectors`, from the cache if they are in it."""
    if sum(map(len, texts)) < KEPT_FROM:
        return token_vectors((ids.tolist() for ids in texts), vocabulary, dimensions).vectors_VD
    path = cache_directory("vectors") / f"{_key(texts, vocabulary, dimensions)}.npy"
    if path.exists():
        try:
            return _read(path)
        except DataError as error:
            warn_of_damage(error)
    vectors_VD = token_vectors((ids.tolist() for ids in texts), vocabulary, dimensions).vectors_VD
    content = io.BytesIO()
    np.save(content, vectors_VD, allow_pickle=False)
    write_atomic(path, sha256(content.getvalue()).hexdigest().encode() + b"\n" + content.getvalue())
    return vectors_VD


def _key(texts: Sequence[np.ndarray], vocabulary: int, dimensions: int) -> str:
    key = sha256(repr((RULE, vocabulary, dimensions, [len(ids) for ids in texts])).encode())
    for ids in texts:
        key.update(np.ascontiguousarray(ids, np.int64).tobytes())
    return key.hexdigest()[:32]


def _read(path: Path) -> np.ndarray:
    digest, _, content = read_bytes(path).partition(b"\n")
    if sha256(content).hexdigest().encode() != digest:
        raise DataError(f"'{path}' does not have its SHA-256.")
    return np.load(io.BytesIO(content), allow_pickle=False)
