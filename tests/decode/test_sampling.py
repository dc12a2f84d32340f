import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from seqlab.decode.sampling import SamplingSettings, sample
from seqlab.errors import DataError, UsageError

LOGITS = st.lists(st.integers(-12, 12).map(lambda value: value / 4), min_size=2, max_size=7)  # coarse: ties are common


def shares(logits: list[float], settings: SamplingSettings, count: int = 4000, **options: object) -> np.ndarray:
    """How often each token is chosen when the random number runs evenly through [0, 1)."""
    uniforms = (np.arange(count) + 0.5) / count
    seen = options.pop("seen", None)
    rows = np.tile(np.array([logits]), (count, 1))
    chosen = sample(rows, settings, uniforms, None if seen is None else [seen] * count, **options)  # pyright: ignore
    assert (np.diff(chosen) >= 0).all(), "larger numbers give larger ids"
    return np.bincount(chosen, minlength=len(logits)) / count


def expected(logits: list[float], settings: SamplingSettings, seen: set[int], banned: list[int]) -> list[float]:
    """The same distribution by the book, one step after the other."""
    scores = {token: logit for token, logit in enumerate(logits) if token not in banned}
    for token in seen & set(scores):
        penalty = settings.repetition_penalty
        scores[token] = scores[token] / penalty if scores[token] > 0 else scores[token] * penalty
    order = sorted(scores, key=lambda token: (-scores[token], token))[: settings.top_k]
    weights = {token: math.exp(scores[token] / settings.temperature) for token in order}
    total, reached, kept = sum(weights.values()), 0.0, []
    for token in order:
        if reached >= (settings.top_p or 1) - 1e-12:
            break
        kept.append(token)
        reached += weights[token] / total
    total = sum(weights[token] for token in kept)
    return [weights[token] / total if token in kept else 0.0 for token in range(len(logits))]


@given(
    logits=LOGITS,
    temperature=st.sampled_from([0.5, 1.0, 1.7]),
    top_k=st.none() | st.integers(1, 9),
    top_p=st.none() | st.integers(1, 20).map(lambda value: value / 20),
    penalty=st.sampled_from([1.0, 1.5, 0.8]),
    data=st.data(),
)
def test_the_distribution_is_the_one_described(
    logits: list[float], temperature: float, top_k: int | None, top_p: float | None, penalty: float, data: st.DataObject
):
    ids = st.integers(0, len(logits) - 1)
    seen = data.draw(st.sets(ids))
    banned = sorted(data.draw(st.sets(ids, max_size=len(logits) - 1)))
    settings = SamplingSettings(temperature=temperature, top_k=top_k, top_p=top_p, repetition_penalty=penalty)
    frequencies = shares(logits, settings, 1000, seen=seen, banned=banned)
    assert np.abs(frequencies - expected(logits, settings, seen, banned)).max() <= 1.5 / 1000


def test_greedy_takes_the_lowest_id_of_equal_maxima():
    settings = SamplingSettings(temperature=0, top_k=1, top_p=0.1)
    logits = np.array([[1.0, 3.0, 3.0, 2.0], [5.0, 5.0, 0.0, 5.0]])
    assert sample(logits, settings, np.array([0.9, 0.9])).tolist() == [1, 0]
    assert sample(logits, settings, np.array([0.9, 0.9]), banned=[0, 1]).tolist() == [2, 3]


def test_ties_at_the_edge_of_a_filter_go_to_lower_ids():
    logits = [1.0, 2.0, 1.0, 1.0]
    assert np.flatnonzero(shares(logits, SamplingSettings(top_k=2))).tolist() == [0, 1]
    assert np.flatnonzero(shares([0.0, 0.0, 0.0, 0.0], SamplingSettings(top_p=0.5))).tolist() == [0, 1]


def test_top_p_keeps_the_token_that_reaches_p():
    logits = np.log([0.5, 0.3, 0.2]).tolist()
    assert np.flatnonzero(shares(logits, SamplingSettings(top_p=0.51))).tolist() == [0, 1]
    assert np.flatnonzero(shares(logits, SamplingSettings(top_p=0.49))).tolist() == [0]
    assert np.flatnonzero(shares(logits, SamplingSettings(top_p=1.0))).tolist() == [0, 1, 2]


def test_the_penalty_lowers_positive_and_negative_logits():
    settings = SamplingSettings(temperature=0, repetition_penalty=2.0)
    assert sample(np.array([[4.0, 3.0]]), settings, np.zeros(1), [{0}]).tolist() == [1]
    assert sample(np.array([[-2.0, -3.0]]), settings, np.zeros(1), [{0}]).tolist() == [1]


def test_extreme_random_numbers_never_choose_an_impossible_token():
    logits = np.array([[-math.inf, 0.0, 0.1, 0.3, -math.inf]] * 2)
    extremes = np.array([0.0, 1 - 2.0**-53])
    assert sample(logits, SamplingSettings(), extremes).tolist() == [1, 3]
    assert sample(logits, SamplingSettings(), extremes, banned=[1, 3]).tolist() == [2, 2]


@pytest.mark.parametrize("temperature", [1e-320, 1e-9, 1e308])
def test_extreme_temperatures_stay_numbers(temperature: float):
    frequencies = shares([1.0, 2.0, 1.5], SamplingSettings(temperature=temperature), 300)
    assert frequencies == pytest.approx([1 / 3] * 3 if temperature > 1 else [0, 1, 0])


def test_the_logits_given_are_left_alone():
    logits = np.array([[1.0, 2.0, 3.0]])
    sample(logits, SamplingSettings(top_k=1, repetition_penalty=2), np.array([0.5]), [{2}], banned=[0])
    assert logits.tolist() == [[1.0, 2.0, 3.0]]


def test_what_cannot_be_chosen_from_is_refused():
    with pytest.raises(UsageError, match="every token is banned"):
        sample(np.zeros((1, 2)), SamplingSettings(), np.zeros(1), banned=[0, 1])
    for wrong in (math.nan, math.inf):
        with pytest.raises(DataError, match="not finite"):
            sample(np.array([[0.0, wrong]]), SamplingSettings(), np.zeros(1))


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": -0.1},
        {"temperature": math.nan},
        {"temperature": math.inf},
        {"top_k": 0},
        {"top_p": 0.0},
        {"top_p": 1.01},
        {"top_p": math.nan},
        {"repetition_penalty": 0.0},
        {"repetition_penalty": math.inf},
        {"repetition_penalty": math.nan},
        {"seed": -1},
        {"beam": 3},
    ],
)
def test_settings_have_bounds(wrong: dict[str, float]):
    with pytest.raises(ValidationError):
        SamplingSettings(**wrong)  # pyright: ignore[reportArgumentType]
