import math

import numpy as np
import pytest

from seqlab.baselines import compression, kneser_ney
from seqlab.baselines.compression import xz_bits
from seqlab.baselines.kneser_ney import best_kneser_ney
from seqlab.baselines.text import BaselineText, score_text_baselines
from seqlab.baselines.unigram import Unigram

TRAIN, HELD_OUT = b"the cat sat on the mat. " * 40, b"the mat sat on the cat. "


def ids(text):
    return np.frombuffer(text, np.uint8)


def given(text):
    return BaselineText(ids(text), text)


def test_three_baselines_of_the_same_tokens():
    unigram, counting, xz = score_text_baselines(given(TRAIN), given(HELD_OUT), 256)
    assert {baseline.tokens for baseline in (unigram, counting, xz)} == {len(HELD_OUT) - 1}
    best = best_kneser_ney(ids(TRAIN), 256)
    assert [unigram.name, counting.name, xz.name] == ["unigram", f"kneser-ney (order {best.order})", "xz"]
    assert unigram.nats == pytest.approx(Unigram.fit(ids(TRAIN), 256).nats(ids(HELD_OUT)).sum())
    assert counting.nats == pytest.approx(best.nats(ids(HELD_OUT)).sum())
    assert xz.nats == pytest.approx(xz_bits(TRAIN, HELD_OUT) * math.log(2))
    assert counting.nats < unigram.nats


def test_documents():
    """Lines between a begin symbol (256) and an end symbol (257)."""

    def lines(text):
        rows = [np.array([256, *line, 257]) for line in text.splitlines()]
        return np.concatenate(rows), np.cumsum([0, *map(len, rows[:-1])])

    train, held_out = b"anna\nanna bob\nbob\n" * 20, b"bob anna\nanna\n"
    train_N, train_starts_D = lines(train)
    held_N, held_starts_D = lines(held_out)
    scored = score_text_baselines(
        BaselineText(train_N, train, train_starts_D), BaselineText(held_N, held_out, held_starts_D), 258
    )
    assert {baseline.tokens for baseline in scored} == {len(held_out)}
    expected = best_kneser_ney(train_N, 258, train_starts_D).nats(held_N, starts_D=held_starts_D)
    assert scored[1].nats == pytest.approx(expected.sum())


def test_a_baseline_says_what_it_left_out(monkeypatch):
    for baseline in score_text_baselines(given(TRAIN), given(HELD_OUT), 256):
        assert "last" not in baseline.about
    monkeypatch.setattr(kneser_ney, "FIT_TOKENS", 500)
    monkeypatch.setattr("seqlab.baselines.text.TRAIN_BYTES", 300)
    monkeypatch.setattr(compression, "TRAIN_BYTES", 300)
    _, counting, xz = score_text_baselines(given(TRAIN), given(HELD_OUT), 256)
    assert "the last 500 training tokens" in counting.about
    assert "the last 300 training bytes" in xz.about


def test_with_a_window_only_counting_changes():
    held_out = TRAIN[:96]  # the longer the context, the surer
    free = score_text_baselines(given(TRAIN), given(held_out), 256)
    windowed = score_text_baselines(given(TRAIN), given(held_out), 256, window=4)
    assert (
        [baseline.carried for baseline in windowed]
        == [baseline.carried for baseline in free]
        == [baseline.nats for baseline in free]
    )
    unigram, counting, xz = windowed
    assert (unigram.nats, xz.nats) == (unigram.carried, xz.carried)
    assert counting.nats > counting.carried + 1
    assert "anew every 4 tokens" in counting.about and "reads on" in xz.about
