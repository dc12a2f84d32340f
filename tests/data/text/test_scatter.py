"""Held-out stretches scattered over a text: nothing is in two splits, and nothing is lost but the gaps."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqlab.config import CorpusSettings
from seqlab.data.text.batches import StreamBatches, WindowBatches, cut_windows
from seqlab.data.text.corpus import Corpus, corpus_from_text
from seqlab.data.text.scatter import MAX_GAP, scatter
from seqlab.data.text.split import slice_ranges, split_text
from seqlab.data.text.tokens import encode_split
from seqlab.registry import TOKENIZERS

quick = settings(max_examples=60)
HELD_OUT = {"90/10": ["validation"], "80/10/10": ["validation", "test"]}
ratios = st.sampled_from([*HELD_OUT])
lengths = st.one_of(st.integers(20_000, 500_000), st.integers(500_000, 10**10))


def scattered(text: str, **values):
    return split_text(corpus_from_text(text, "x"), CorpusSettings(source=("x",), split="scattered", **values))


def some_text(characters: int, seed: int = 0) -> str:
    letters = np.random.default_rng(seed).choice(list("abcdé \n"), characters)
    return "".join(letters.tolist())


@quick
@given(lengths, ratios)
def test_every_character_is_in_one_split_or_in_a_gap(characters, shares):
    result = scatter(characters, HELD_OUT[shares])
    assert result is not None
    places = sorted((first, last, split) for split, ranges in result.ranges.items() for first, last in ranges)
    position = gaps = 0
    for number, (first, last, split) in enumerate(places):
        assert first < last
        # training text and held-out stretches take turns, with a gap between them
        assert (split == "train") == (number % 2 == 0)
        assert first - position == (result.gap if number else 0)
        gaps, position = gaps + first - position, last
    assert position == characters
    assert 0 < result.gap <= MAX_GAP and gaps == result.unused
    held_out = [split for _, _, split in places if split != "train"]
    assert held_out == HELD_OUT[shares] * result.count  # interleaved


@quick
@given(lengths, ratios)
def test_shares_and_places_are_even(characters, shares):
    result = scatter(characters, HELD_OUT[shares])
    assert result is not None and result == scatter(characters, HELD_OUT[shares])
    cell = characters / (result.count * len(HELD_OUT[shares]))
    for name in HELD_OUT[shares]:
        sizes = [last - first for first, last in result.ranges[name]]
        assert sizes == [result.stretch] * result.count and result.stretch >= 1000
        assert 0 <= characters / 10 - sum(sizes) <= result.count
    middles = sorted((a + b) / 2 for name in HELD_OUT[shares] for a, b in result.ranges[name])
    np.testing.assert_allclose(middles, (np.arange(len(middles)) + 0.5) * cell, atol=2)
    assert 128 <= result.gap <= 512 and result.unused <= 0.052 * characters


@pytest.mark.parametrize(
    ("characters", "count"), [(20_000, 2), (99_999, 9), (100_000, 10), (199_999, 19), (200_000, 20), (10**9, 20)]
)
def test_the_number_of_stretches_follows_from_the_length(characters, count):
    result = scatter(characters, ["validation"])
    assert result is not None and result.count == count
    assert result.is_sparse == (count < 10)


def test_the_notes_say_what_was_done():
    assert scatter(19_999, ["validation"]) is None
    short = scattered("x" * 19_999)
    assert "the split is contiguous" in short.notes[0] and short.rule == "90/10, contiguous"
    assert len(short.text("validation")) == 2000
    few = scattered("x" * 50_000, split_ratios="80/10/10")
    assert few.notes[0] == "the text is short: 5 stretches of each held-out split"
    assert few.rule == (
        "80/10/10, validation and test in 5 scattered stretches of 1,000 characters each; "
        "2,560 characters in gaps around them are not used"
    )
    assert few.facts()["unused_characters"] == 2560


def test_lines_cannot_be_scattered():
    with pytest.raises(ValueError, match="lines are shuffled"):
        CorpusSettings(source=("x",), split="scattered", documents="lines")


@quick
@given(st.integers(20_000, 30_000), st.integers(500, 9000), ratios)
def test_reading_gives_the_text_of_each_range(characters, size, shares):
    text = some_text(characters)
    corpus = Corpus("x", lambda: (text[at : at + size] for at in range(0, len(text), size)))
    split = split_text(corpus, CorpusSettings(source=("x",), split="scattered", split_ratios=shares))
    for name in split.splits:
        expected = [text[first:last] for first, last in split.ranges(name)]
        assert ["".join(segment) for segment in split.segments(name)] == expected
        assert split.text(name) == "".join(expected)


@quick
@given(st.lists(st.integers(0, 30), max_size=12), st.integers(1, 9))
def test_slices_of_any_ranges(cuts, size):
    text = some_text(30)
    ranges = [(a, b) for a, b in zip(sorted(cuts)[::2], sorted(cuts)[1::2], strict=False)]
    result = [""] * len(ranges)
    for number, block in slice_ranges((text[at : at + size] for at in range(0, 30, size)), ranges):
        result[number] += block
    assert result == [text[a:b] for a, b in ranges]


# --- tokens and batches ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["char", "bpe"])
def encoded(request):
    """A scattered text, its tokenizer and its token files."""
    kind = TOKENIZERS.load(request.param)
    text = scattered(some_text(101_000), split_ratios="80/10/10")
    tokenizer = kind.train(text.chunks("train"), TOKENIZERS.settings(request.param)(), False)
    return text, tokenizer, encode_split(text, tokenizer)


def test_segments_are_encoded_one_by_one(encoded):
    text, tokenizer, splits = encoded
    for name, tokens in splits.items():
        segments = ["".join(segment) for segment in text.segments(name)]
        expected = [tokenizer.encode(segment) for segment in segments]
        starts, stats = tokens.document_starts(), tokens.stats
        assert np.diff(starts).tolist() == [len(ids) for ids in expected]
        assert tokens.read(0, len(tokens)).tolist() == [token for ids in expected for token in ids]
        assert (stats.documents, stats.by_lines) == (len(segments), False)
        assert stats.characters == sum(map(len, segments))
        first = [tokenizer.first_token_bytes(segment) for segment in segments]
        assert stats.scored_bytes == sum(len(segment.encode()) for segment in segments) - sum(map(len, first))


@pytest.mark.parametrize("window", [1, 7, 128, 5000])
def test_every_token_but_the_first_of_a_segment_is_a_target_once(encoded, window):
    for tokens in encoded[2].values():
        firsts_W, lengths_W, _ = cut_windows(tokens, window)
        targets = np.concatenate([np.arange(f + 1, f + n + 1) for f, n in zip(firsts_W, lengths_W, strict=True)])
        np.testing.assert_array_equal(targets, np.setdiff1d(np.arange(len(tokens)), tokens.document_starts()[:-1]))
        assert len(targets) == tokens.stats.scored_tokens


def test_random_windows_stay_within_segments(encoded):
    tokens = encoded[2]["train"]
    starts, window = tokens.document_starts(), 64
    batches = WindowBatches(tokens, 40, window)
    positions: Any = Positions(tokens)
    batches.tokens = positions
    for index in range(100):
        batches.rows(3, index)
    firsts = np.concatenate(positions.read)
    segments = np.searchsorted(starts, firsts, side="right") - 1
    assert (firsts + window < starts[segments + 1]).all()  # the last target is in the same segment
    assert set(segments.tolist()) == set(range(len(starts) - 1))
    share = np.bincount(segments) / len(segments)
    wanted = np.diff(starts) - window
    np.testing.assert_allclose(share, wanted / wanted.sum(), atol=0.02)
    assert StreamBatches(tokens, 4, window).rows(0, 0).inputs_BT.shape == (4, window)


class Positions:
    """Records where rows are read."""

    def __init__(self, tokens):
        self.tokens, self.read = tokens, []

    def read_rows(self, starts_B, length):
        self.read.append(starts_B)
        return self.tokens.read_rows(starts_B, length)


def test_another_split_is_another_entry_of_the_cache(encoded):
    text, tokenizer, splits = encoded
    plain = split_text(text.corpus, text.settings.model_copy(update={"split": "contiguous"}))
    assert encode_split(plain, tokenizer)["test"].stats.documents == 1
    assert splits["test"].stats.documents == 10
