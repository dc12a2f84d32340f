import lzma

import numpy as np
import pytest

from seqlab.baselines import compression
from seqlab.baselines.compression import xz_bits


def noise(length, seed=0):
    return np.random.default_rng(seed).bytes(length)


def test_noise_cannot_be_compressed():
    assert xz_bits(noise(50_000), noise(10_000, seed=1)) == pytest.approx(80_000, rel=0.01)


def test_nothing_costs_nothing():
    assert xz_bits(b"some text", b"") == 0


def test_all_of_the_training_text_can_be_copied_from():
    train = noise(500_000)
    assert xz_bits(train, train[:10_000]) < 4_000


def test_of_a_long_training_text_the_end_is_used(monkeypatch):
    monkeypatch.setattr(compression, "TRAIN_BYTES", 20_000)
    train = noise(50_000)
    assert xz_bits(train, train[30_000:40_000]) < 4_000
    assert xz_bits(train, train[20_000:30_000]) > 79_000


def test_agrees_with_files_of_xz():
    """To within what the container of each file adds and rounds."""
    rng = np.random.default_rng(2)
    text = " ".join(f"word{number}" for number in rng.zipf(1.5, 20_000)).encode()
    train, held_out = text[:100_000], text[100_000:]
    sizes = [len(lzma.compress(part, preset=9 | lzma.PRESET_EXTREME)) for part in (train, train + held_out)]
    assert xz_bits(train, held_out) == pytest.approx(8 * (sizes[1] - sizes[0]), abs=8 * 16)
