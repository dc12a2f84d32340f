"""Whether intervals cover and errors are as rare as they say, on simulated runs whose truth is known."""

import numpy as np
import pytest
from verdict_cases import NATS, entrant, runs_of

from benchmarks.calibration import (
    CASES,
    AccuracyCell,
    Cell,
    accuracy_cells,
    accuracy_coverage,
    correlated_cells,
    coverage,
    held_out_cells,
    independent_cells,
    power,
    whole_text_coverage,
)
from seqlab.comparison.judgment.verdicts import BETTER, SUGGESTIVE, judge_pairs

WIDEST = {3: 1.7, 5: 1.3, 10: 1.15}  # mean width, as a multiple of that of an oracle


def called_different(seeds: int, pairs: int) -> int:
    """How often two halves of the runs of one architecture are told apart."""
    draw = np.random.default_rng(seeds)
    different = 0
    for _ in range(pairs):
        values = 2 + 0.01 * draw.normal(size=(2, seeds, 1)) + 0.1 * draw.normal(size=60)
        values = values + 0.03 * draw.normal(size=(2, seeds, 60))
        runs = [*runs_of("a", values[0]), *runs_of("b", values[1])]
        (pair,) = judge_pairs([entrant("a"), entrant("b")], runs, NATS)
        different += pair.verdict in (BETTER, SUGGESTIVE)
    return different


@pytest.mark.parametrize("cell", [Cell(3, 0.5, 1, 20), Cell(3, 1.0, 3, 20), Cell(5, 0.0, 1, 50), Cell(10, 0.75, 3, 20)])
def test_intervals_cover_in_a_few_cells(cell):
    result = coverage(cell, cases=300)
    assert 0.91 <= result.covered <= 0.985
    assert result.width <= WIDEST[cell.seeds] + 0.1


@pytest.mark.parametrize(("correlation", "share"), [(0.6, 0.5), (0.8, 0.0), (0.9, 0.0)])
def test_intervals_cover_where_neighboring_units_are_correlated(correlation, share):
    assert 0.91 <= coverage(Cell(3, share, 1, 100, correlation), cases=300).covered <= 0.985


def test_scattered_stretches_cover_a_whole_text_where_its_end_does_not():
    """The correlation of this text falls so slowly that its end says little about the rest."""
    assert whole_text_coverage(0.3, scattered=True, cases=60).covered >= 0.91
    assert whole_text_coverage(0.3, scattered=False, cases=60).covered <= 0.8


@pytest.mark.parametrize("accuracy", [(0.02, 0.05), (0.5, 0.55), (0.95, 0.98)])
def test_intervals_of_accuracies_cover(accuracy):
    """Runs of one model agree on every example here: their differences alone show how uncertain they are."""
    assert accuracy_coverage(AccuracyCell(50, *accuracy, agreement=1.0), cases=300).covered >= 0.91


def test_promised_seeds_hold_for_the_strictest_of_ten_pairs():
    seeds, shown = power(pairs=10, cases=300)
    assert power(pairs=1, cases=1)[0] < seeds
    assert 0.72 <= shown <= 0.88


def test_one_architecture_is_seldom_told_apart_from_itself():
    assert called_different(seeds=3, pairs=100) <= 11


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_intervals_cover_over_the_whole_grid():
    """Mean widths are those of all cells with so many seeds.

    One kind of cell is wider than the mean may be, by 1%: three seeds with standard deviations 1:3 and nothing but
    their noise. There the interval is that of Welch's test, whose mean width is 1.72 times an oracle's. With 20 units
    and little noise of seeds, not knowing the correlation of the units costs up to a quarter of the width.
    """
    independent = {cell: coverage(cell, CASES, seed) for seed, cell in enumerate(independent_cells())}
    correlated = {cell: coverage(cell, CASES, seed) for seed, cell in enumerate(correlated_cells())}
    everything = independent | correlated
    for cell, result in everything.items():
        assert 0.925 <= result.covered <= 0.975, cell
    for table in (independent, correlated):
        assert 0.94 <= np.mean([result.covered for result in table.values()]) <= 0.965
    for cell, result in independent.items():
        assert result.width <= max(1.05 * WIDEST[cell.seeds], 1.25 if cell.units == 20 else 0.0), cell
    for seeds, most in WIDEST.items():
        assert np.mean([result.width for cell, result in independent.items() if cell.seeds == seeds]) <= most


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_intervals_cover_on_a_grid_that_nothing_was_chosen_on():
    """Few units do not suffice to tell their own correlation, and coverage is a little lower."""
    held_out = {cell: coverage(cell, CASES, seed) for seed, cell in enumerate(held_out_cells())}
    for cell, result in held_out.items():
        assert (0.925 if cell.units >= 40 else 0.89) <= result.covered <= 0.985, cell
    assert 0.94 <= np.mean([result.covered for result in held_out.values()]) <= 0.965


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_intervals_of_accuracies_cover_over_the_whole_grid():
    """Discrete values cover more, not less; long intervals would cover too, so their width is bounded."""
    for seed, cell in enumerate(accuracy_cells()):
        result = accuracy_coverage(cell, 1000, seed)
        assert result.covered >= 0.925, cell
        assert result.width <= 250 / cell.examples**0.5, cell


@pytest.mark.slow
@pytest.mark.parametrize("seeds", WIDEST)
def test_one_architecture_is_told_apart_from_itself_as_seldom_as_promised(seeds):
    assert called_different(seeds, pairs=400) <= 29


@pytest.mark.slow
@pytest.mark.parametrize(("share", "interaction"), [(0.5, 0.2), (0.5, 1.0), (1.0, 1.0)])
def test_the_interaction_of_seeds_and_text_is_counted_once(share, interaction):
    result = coverage(Cell(5, share, 1, 100, interaction=interaction), 1000)
    assert 0.925 <= result.covered <= 0.98
    assert result.width <= 1.25


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [1, 3, 10])
def test_promised_seeds_show_the_difference_four_times_out_of_five(pairs):
    assert 0.75 <= power(pairs, cases=2000)[1] <= 0.85
