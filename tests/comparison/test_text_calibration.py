"""The study of coverage on real text: what it draws, and that it can tell intervals that cover from others."""

from pathlib import Path

import numpy as np
import pytest

import seqlab
from benchmarks.text_calibration import BASELINE, SEEDS, coverage, halve, held_out_sums

STRETCHES = 40
PAIRS = [("a", "b")]


def drawn(shift_U: np.ndarray | float = 0.0) -> dict[str, np.ndarray]:
    """Sums of two models with noise of seeds and of text; b is worse by `shift_U` on each stretch."""
    draw = np.random.default_rng(1)
    easy_U, sums = draw.normal(2, 0.1, STRETCHES), {}
    for name, shift in (("a", 0.0), ("b", shift_U)):
        nats_SU = easy_U + shift + draw.normal(0, 0.01, (SEEDS, 1)) + draw.normal(0, 0.02, STRETCHES)
        sums[name] = np.stack([nats_SU, np.ones_like(nats_SU)], -1)
    return {**sums, BASELINE: sums["a"][0]}


@pytest.mark.parametrize("halves", ["random", "alternate", "neighboring"])
def test_halves_share_no_stretch(halves) -> None:
    draw = np.random.default_rng(0)
    for _ in range(20):
        one, other = halve(STRETCHES, halves, draw)
        assert sorted([*one, *other]) == list(range(STRETCHES))
        assert len(one) == len(other) and (np.diff(one) > 0).all() and (np.diff(other) > 0).all()
        assert halves != "alternate" or (np.diff(one) == 2).all()


def test_intervals_cover_the_other_half_if_both_are_alike() -> None:
    assert 0.92 <= coverage(drawn(), PAIRS, "random", 400).share <= 0.99
    assert 0.92 <= coverage(drawn(), PAIRS, "random", 400, seeded=False).share <= 0.99
    assert 0.92 <= coverage(drawn(), [("a", BASELINE)], "random", 400).share <= 1.0


def test_intervals_of_two_runs_know_nothing_of_seeds() -> None:
    seeds, text = (coverage(drawn(), PAIRS, "random", 100, seeded) for seeded in (True, False))
    assert seeds.width > 1.1 * text.width


def test_intervals_of_one_half_of_the_text_miss_a_difference_that_changes_in_the_other() -> None:
    shift_U = np.repeat([0.0, 0.3], STRETCHES // 2)
    assert coverage(drawn(shift_U), PAIRS, "neighboring", 200).share < 0.9
    assert coverage(drawn(shift_U), PAIRS, "random", 200).share > 0.92


def test_stretches_of_validation_and_test_are_in_the_order_of_the_text(tmp_path: Path) -> None:
    """In this text, characters become more surprising from each stretch to the next."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    draw = np.random.default_rng(0)
    text = "".join(letters[draw.integers(1 + 26 * place // 101_000)] for place in range(101_000))
    (tmp_path / "t.txt").write_text(text)
    run = seqlab.train(
        tmp_path / "t.txt",
        out=tmp_path / "r",
        arch="rnn",
        hidden=4,
        steps=1,
        split="scattered",
        split_ratios="80/10/10",
    )
    of_run, of_baseline = held_out_sums(run)
    assert of_run.shape == of_baseline.shape == (20, 2)
    assert (np.diff(of_baseline[:, 0]) > 0).all()
