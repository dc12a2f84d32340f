"""Units of text: windows put together to blocks of about 1,024 characters, nothing lost."""

from dataclasses import replace

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from seqlab.comparison.judgment.memorization import longest_copy
from seqlab.contracts import TextScores
from seqlab.tasks.text import BLOCK, merge_into_blocks


def scores(tokens_U: list[int], per_token: float = 1.0) -> TextScores:
    nats_U = np.arange(1.0, len(tokens_U) + 1)
    total = sum(tokens_U)
    ones, characters = np.ones(1), max(1, round(total * per_token))  # no text is without characters
    return TextScores(nats_U, np.array(tokens_U), ones, ones, characters, total, 0, 0.0, "window")


@given(st.lists(st.integers(1, 700), min_size=1, max_size=60), st.sampled_from([1.0, 3.7, 0.5]))
@example([1], 0.5)
def test_blocks_hold_everything_in_order(tokens_U: list[int], per_token: float):
    scored = scores(tokens_U, per_token)
    units = merge_into_blocks(scored)
    sums_UK, tokens_N = units.sums_UK, units.tokens_U
    assert np.isclose(sums_UK[:, 0].sum(), scored.nats) and np.isclose(sums_UK[:, 1].sum(), scored.characters)
    assert tokens_N.sum() == scored.tokens and (tokens_N > 0).all()
    ends = np.cumsum(tokens_U)
    assert set(np.cumsum(tokens_N)) <= set(ends)  # whole windows


def test_windows_of_128_characters_make_blocks_of_1024():
    units = merge_into_blocks(scores([128] * 80))
    sums_UK, tokens_N = units.sums_UK, units.tokens_U
    assert tokens_N.tolist() == [1024] * 10
    assert sums_UK[:, 0].tolist() == [sum(range(8 * at + 1, 8 * at + 9)) for at in range(10)]


def test_a_short_rest_joins_the_block_before_it():
    assert merge_into_blocks(scores([128] * 17)).tokens_U.tolist() == [1024, 1152]
    assert merge_into_blocks(scores([128] * 22)).tokens_U.tolist() == [1024, 1024, 768]
    assert merge_into_blocks(scores([100])).tokens_U.tolist() == [100]


def test_windows_longer_than_a_block_stand_alone():
    assert merge_into_blocks(scores([4096] * 3)).tokens_U.tolist() == [4096] * 3
    assert BLOCK == 1024


@given(st.lists(st.lists(st.integers(1, 700), min_size=1, max_size=9), min_size=1, max_size=14))
def test_units_never_cross_a_seam(segments: list[list[int]]):
    scored = scores([tokens for segment in segments for tokens in segment])
    segment_U = np.repeat(np.arange(len(segments)), [len(segment) for segment in segments])
    units = merge_into_blocks(replace(scored, segment_U=segment_U))
    ends, seams = set(np.cumsum(units.tokens_U).tolist()), np.cumsum([sum(segment) for segment in segments]).tolist()
    assert set(seams) <= ends and units.tokens_U.sum() == scored.tokens
    if len(segments) >= 10:  # each one is a unit
        assert ends == set(seams)
    else:
        separate = [merge_into_blocks(scores(segment)).tokens_U.tolist() for segment in segments]
        assert units.tokens_U.tolist() == [tokens for blocks in separate for tokens in blocks]


@given(st.text("ab", max_size=14), st.text("ab", max_size=30))
def test_the_longest_copy(text: str, known: str):
    result = longest_copy(text, known)
    stretches = {text[i:j] for i in range(len(text) + 1) for j in range(i, len(text) + 1)}
    assert result in text and result in known
    assert len(result) == max(len(stretch) for stretch in stretches if stretch in known)
