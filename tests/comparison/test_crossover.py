"""Where one model becomes slower than another at generation, in words."""

import pytest

from seqlab.measures.crossover import crossovers, round_to


def test_a_crossing_is_named_once_with_the_faster_one_first() -> None:
    flat = {100: 2e-5, 1000: 2e-5, 10_000: 2e-5}
    grows = {100: 1e-5, 1000: 2e-5 / 10**0.5, 10_000: 2e-5 * 10**0.5}
    said = ["grows generates faster than flat up to about 3,000 tokens, then slower"]
    assert crossovers({"flat": flat, "grows": grows}) == said
    assert crossovers({"grows": grows, "flat": flat}) == said
    assert crossovers({"flat": flat, "slow": {at: 10 * one for at, one in grows.items()}}) == []


def test_only_lengths_that_both_have_are_compared() -> None:
    assert crossovers({"a": {100: 1.0}, "b": {100: 2.0, 1000: 0.5}}) == []
    assert crossovers({"a": {}, "b": {100: 1.0}}) == []


def test_noise_of_timing_is_no_crossing() -> None:
    rnn: dict[int, float] = {100: 1.0, 1000: 1.0, 10_000: 1.0}
    assert crossovers({"rnn": rnn, "gru": {100: 0.9, 1000: 1.1, 10_000: 0.9}}) == []
    assert crossovers({"rnn": rnn, "gru": {100: 0.5, 1000: 1.1, 10_000: 1.1}}) == []
    assert crossovers({"rnn": rnn, "gru": {100: 0.5, 1000: 2.0, 10_000: 0.5}}) == [], "back and forth"
    once = crossovers({"rnn": rnn, "gru": {100: 0.5, 1000: 1.01, 10_000: 2.0}})
    assert once == ["gru generates faster than rnn up to about 1,000 tokens, then slower"]


@pytest.mark.parametrize(("tokens", "told"), [(3162, 3000), (149, 100), (0.4, 1), (99_999, 100_000)])
def test_one_digit_is_told(tokens: float, told: int) -> None:
    assert round_to(tokens) == told
