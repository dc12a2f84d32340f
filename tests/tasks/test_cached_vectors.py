"""Static vectors from the cache are those that would be computed."""

from pathlib import Path

import numpy as np
import pytest

from seqlab.errors import SeqlabWarning
from seqlab.tasks import cached_vectors
from seqlab.tasks.cached_vectors import cached_token_vectors


def test_vectors_are_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path))
    monkeypatch.setattr(cached_vectors, "KEPT_FROM", 1)
    texts = [np.random.default_rng(seed).integers(0, 20, 50) for seed in range(8)]
    first_VD = cached_token_vectors(texts, 20, 4)
    computed = cached_vectors.token_vectors
    monkeypatch.setattr(cached_vectors, "token_vectors", None)
    assert np.array_equal(cached_token_vectors(texts, 20, 4), first_VD)
    for others in ((texts[1:], 20, 4), (texts, 21, 4), (texts, 20, 3), ([np.concatenate(texts)], 20, 4)):
        with pytest.raises(TypeError):  # they are not in the cache
            cached_token_vectors(*others)
    monkeypatch.setattr(cached_vectors, "token_vectors", computed)
    file = next((tmp_path / "vectors").iterdir())
    file.write_bytes(file.read_bytes()[:-4] + b"\0\0\0\1")
    with pytest.warns(SeqlabWarning, match="the cache is damaged and made anew"):
        assert np.array_equal(cached_token_vectors(texts, 20, 4), first_VD)


def test_few_tokens_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path))
    cached_token_vectors([np.arange(10)], 10, 2)
    assert not (tmp_path / "vectors").exists()
