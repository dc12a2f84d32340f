"""How often 95% intervals cover the truth, on simulated runs: `python -m benchmarks.calibration`.

A run's loss on a unit of text = its architecture + its seed + the unit, which is as hard for both + what this
architecture makes of this unit. The variance of the difference is 1, of which `seed_share` comes from seeds.
Neighboring units may be correlated. For accuracies, an example is right if its score is below a threshold.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import toeplitz
from scipy.stats import norm

from seqlab.comparison.judgment.statistics import LEVEL, POWER, TextNoise, estimate, seeds_needed
from seqlab.text_table import markdown_table

CASES = 4000  # chance alone then puts none of some 80 cells outside its band
DIFFERENCE = 0.7
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
CORRELATIONS = (0.3, 0.6, 0.8, 0.9)
MEMORIES = (0.1, 0.2, 0.3, 0.5)  # correlations of neighbors in text with a long memory
BLOCKS, STRETCHES, LENGTH = 2000, 20, 10  # of a text with a long memory: a tenth is held out
ACCURACIES = ((0.02, 0.02), (0.02, 0.05), (0.5, 0.5), (0.5, 0.55), (0.97, 0.97), (0.95, 0.98))
SIDES = 2
# how correlation falls with distance: by the same factor from unit to unit, to 0 at once, or as slowly as a power
Noise = Literal["AR(1)", "MA(1)", "long memory"]


@dataclass(frozen=True)
class Cell:
    seeds: int
    seed_share: float  # of the variance
    spread: float  # the standard deviation of seeds of b, as a multiple of that of a
    units: int
    correlation: float = 0.0  # of neighboring units
    noise: Noise = "AR(1)"
    interaction: float = 0.0  # variance that seeds and text cause together, beside the 1


@dataclass(frozen=True)
class AccuracyCell:
    """Two classifiers, three seeds each."""

    examples: int
    a: float  # accuracy
    b: float
    agreement: float  # share of a score's variance that all runs have in common
    seeds: int = 3


@dataclass(frozen=True)
class Coverage:
    covered: float
    width: float  # mean, as a multiple of that of an oracle; for accuracies, in points


def simulate(
    cell: Cell, cases: int, draw: np.random.Generator, difference: float = DIFFERENCE
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Sums of the runs of a and of b, case by case."""
    seeds = math.sqrt(cell.seed_share * cell.seeds / (1 + cell.spread**2))
    correlations_U = by_distance(cell)
    mixed_UU = np.linalg.cholesky(toeplitz(correlations_U)) if cell.correlation else None
    # the mean of correlated units varies more than that of independent ones
    longer = 2 * float((1 - np.arange(cell.units) / cell.units) @ correlations_U) - 1
    own = math.sqrt((1 - cell.seed_share) * cell.units / SIDES / longer)
    interaction = math.sqrt(cell.interaction * cell.seeds * cell.units / SIDES)
    for _ in range(cases):
        shared_U = 5 * draw.normal(size=cell.units)
        sides = []
        for side, spread in enumerate((1.0, cell.spread)):
            seeds_S1, noise_U = draw.normal(size=(cell.seeds, 1)), draw.normal(size=cell.units)
            own_U = noise_U if mixed_UU is None else mixed_UU @ noise_U
            values_SU = side * difference + spread * seeds * seeds_S1 + shared_U + own * own_U
            if interaction:
                values_SU = values_SU + interaction * draw.normal(size=(cell.seeds, cell.units))
            sides.append(np.stack([values_SU, np.ones_like(values_SU)], -1))
        yield sides[0], sides[1]


def by_distance(cell: Cell) -> np.ndarray:
    """The correlation of units at a distance of 0, 1, 2, ..."""
    distance_U, near = np.arange(cell.units, dtype=float), cell.correlation
    match cell.noise:
        case "AR(1)":
            return near**distance_U
        case "MA(1)":
            return np.where(distance_U < 1, 1.0, np.where(distance_U < 2, near, 0.0))
        case "long memory":
            order = near / (1 + near)  # of fractional integration
            return np.cumprod([1.0, *((distance_U[1:] - 1 + order) / (distance_U[1:] - order))])


def coverage(cell: Cell, cases: int = CASES, seed: int = 0) -> Coverage:
    covered, width = 0, 0.0
    for a, b in simulate(cell, cases, np.random.default_rng(seed)):
        result = estimate(a, b)
        assert result.low is not None and result.high is not None
        covered += result.low <= DIFFERENCE <= result.high
        width += result.high - result.low
    oracle = 2 * float(norm.ppf(1 - LEVEL / 2)) * math.sqrt(1 + cell.interaction)
    return Coverage(covered / cases, width / cases / oracle)


def accuracy_coverage(cell: AccuracyCell, cases: int = CASES, seed: int = 0) -> Coverage:
    draw, covered, width = np.random.default_rng(seed), 0, 0.0
    for _ in range(cases):
        shared_U = math.sqrt(cell.agreement) * draw.normal(size=cell.examples)
        sides = []
        for accuracy in (cell.a, cell.b):
            own_SU = math.sqrt(1 - cell.agreement) * draw.normal(size=(cell.seeds, cell.examples))
            right_SU = (shared_U + own_SU < norm.ppf(accuracy)).astype(float)
            sides.append(np.stack([right_SU, np.ones_like(right_SU)], -1))
        result = estimate(sides[0], sides[1], span=1.0)
        assert result.low is not None and result.high is not None
        covered += result.low <= cell.b - cell.a <= result.high
        width += result.high - result.low
    return Coverage(covered / cases, 100 * width / cases)


def whole_text_coverage(correlation: float, scattered: bool, cases: int = CASES, seed: int = 0) -> Coverage:
    """Whether the interval from a tenth of a text with a long memory covers the difference on all of it.

    The tenth is the end, or stretches at equal distances, which are then the units. An oracle would know the text, so
    the width is a multiple of the noise of a block."""
    draw, covered, width = np.random.default_rng(seed), 0, 0.0
    mixed_UU = np.linalg.cholesky(toeplitz(by_distance(Cell(1, 0.0, 1, BLOCKS, correlation, "long memory"))))
    cells = np.arange(BLOCKS).reshape(STRETCHES, -1)
    middle = (cells.shape[1] - LENGTH) // 2
    held_out_UL = cells[:, middle : middle + LENGTH] if scattered else cells.ravel()[-STRETCHES * LENGTH :, None]
    for _ in range(cases):
        text_U = mixed_UU @ draw.normal(size=BLOCKS)
        sums_UL = text_U[held_out_UL]
        b = np.stack([sums_UL.sum(1), np.full(len(sums_UL), float(sums_UL.shape[1]))], -1)
        result = estimate(b * [0, 1], b)
        assert result.low is not None and result.high is not None
        covered += result.low <= text_U.mean() <= result.high
        width += result.high - result.low
    return Coverage(covered / cases, width / cases)


def power(pairs: int, cases: int, seed: int = 0) -> tuple[int, float]:
    """The seeds promised for the strictest of so many pairs, and how often Holm's correction then shows it.

    The noise of text is half of what would forbid it.
    """
    level, seed_variance, units = LEVEL / pairs, 0.2, 100
    limit = (DIFFERENCE / float(norm.ppf(1 - level / 2) + norm.ppf(POWER))) ** 2
    text = TextNoise(limit / 2, units, units - 1)
    seeds = seeds_needed(DIFFERENCE, (seed_variance, seed_variance), text, level)
    assert seeds is not None
    variance = SIDES * seed_variance / seeds + text.variance
    cell = Cell(seeds, SIDES * seed_variance / seeds / variance, 1, units)
    shown = 0
    # the simulated variance is 1, so the difference is scaled instead
    for a, b in simulate(cell, cases, np.random.default_rng(seed), DIFFERENCE / math.sqrt(variance)):
        result = estimate(a, b)
        shown += result.p is not None and result.p < level
    return seeds, shown / cases


def independent_cells() -> list[Cell]:
    return [
        Cell(seeds, share, spread, units)
        for seeds, spread, units, share in itertools.product((3, 5, 10), (1, 3), (20, 100), SHARES)
    ]


def correlated_cells() -> list[Cell]:
    return [
        Cell(3, share, 1, units, correlation)
        for units, correlation, share in itertools.product((100, 400), CORRELATIONS, (0.0, 0.5))
    ]


def held_out_cells() -> list[Cell]:
    """Correlations, kinds of noise and numbers of units that no constant of the statistics was chosen on."""
    kinds: list[tuple[Noise, tuple[float, ...], tuple[int, ...]]] = [
        ("AR(1)", (0.2, 0.4), (10, 15)),  # as many as scattered stretches
        ("AR(1)", (0.2, 0.4, 0.6, 0.8), (20, 40)),
        ("AR(1)", (0.2, 0.5, 0.7, 0.85), (50, 200)),
        ("MA(1)", (0.25, 0.45), (50, 200)),
    ]
    return [
        Cell(3, share, 1, size, correlation, noise)
        for noise, correlations, units in kinds
        for size, correlation, share in itertools.product(units, correlations, (0.0, 0.5))
    ]


def long_memory_cells() -> list[Cell]:
    """Correlation that falls so slowly that a text is short of independent parts, however long it is."""
    return [
        Cell(3, share, 1, units, correlation, "long memory")
        for units, correlation, share in itertools.product((50, 200), MEMORIES, (0.0, 0.5))
    ]


def accuracy_cells() -> list[AccuracyCell]:
    return [
        AccuracyCell(examples, a, b, agreement)
        for examples, agreement, (a, b) in itertools.product((50, 200, 500), (0.5, 0.9, 1.0), ACCURACIES)
    ]


def coverage_rows(cells: Sequence[Cell], cases: int) -> tuple[list[list[str]], list[Coverage]]:
    """One row for each kind of cell; coverage and width by the share of seeds."""
    rows, results = [], []
    for (seeds, spread, units, noise, correlation), group in itertools.groupby(
        cells, key=lambda cell: (cell.seeds, cell.spread, cell.units, cell.noise, cell.correlation)
    ):
        row = [coverage(cell, cases, seed=len(results) + place) for place, cell in enumerate(group)]
        results += row
        correlated = f"{noise} {correlation:g}" if correlation else "0"
        rows.append([str(seeds), f"1:{spread:g}", str(units), correlated, *map(_shown, row)])
    return rows, results


def _shown(result: Coverage) -> str:
    return f"{100 * result.covered:.1f} / {result.width:.2f}"


def _summary(results: Sequence[Coverage]) -> str:
    covered = [100 * result.covered for result in results]
    return f"{len(covered)} cells: {min(covered):.1f} to {max(covered):.1f}%, {np.mean(covered):.1f}% on average.\n"


def print_coverage(title: str, cells: Sequence[Cell], cases: int) -> list[Coverage]:
    rows, results = coverage_rows(cells, cases)
    shares = dict.fromkeys(cell.seed_share for cell in cells)
    heads = ["seeds", "their spread", "units", "correlation", *(f"share of seeds {share:g}" for share in shares)]
    print(f"{title}: coverage in % / mean width as a multiple of an oracle's\n")
    print(markdown_table(heads, rows, right=True), _summary(results), sep="\n\n")
    return results


def print_whole_text(cases: int) -> None:
    rows = [
        [
            f"{correlation:g}",
            *(_shown(whole_text_coverage(correlation, scattered, cases)) for scattered in (False, True)),
        ]
        for correlation in MEMORIES
    ]
    heads = ["correlation", f"the last {STRETCHES * LENGTH} blocks", f"{STRETCHES} scattered stretches of {LENGTH}"]
    print(f"All of a text of {BLOCKS:,} blocks with a long memory: coverage in % / mean width\n")
    print(markdown_table(heads, rows, right=True), "", sep="\n")


def print_accuracies(cases: int) -> None:
    rows, results = [], []
    cells = accuracy_cells()
    for (examples, agreement), group in itertools.groupby(cells, key=lambda cell: (cell.examples, cell.agreement)):
        row = [accuracy_coverage(cell, cases, seed=len(results) + place) for place, cell in enumerate(group)]
        results += row
        rows.append([str(examples), f"{agreement:g}", *map(_shown, row)])
    print("Accuracies, three seeds: coverage in % / mean width in points\n")
    heads = ["examples", "agreement", *(f"{100 * a:.0f} and {100 * b:.0f}%" for a, b in ACCURACIES)]
    print(markdown_table(heads, rows, right=True), _summary(results), sep="\n\n")


def main(cases: int = CASES) -> None:
    everything = print_coverage("Independent units", independent_cells(), cases)
    everything += print_coverage("Correlated units", correlated_cells(), cases)
    print(f"Both tables, {_summary(everything)}")
    print_coverage("Held out", held_out_cells(), cases)
    print_coverage("Long memory", long_memory_cells(), cases)
    print_whole_text(cases)
    print_accuracies(cases)
    print("Power at the promised number of seeds, for the strictest of the pairs\n")
    rows = [
        [str(pairs), str(seeds), f"{100 * shown:.1f}%"]
        for pairs in (1, 3, 10)
        for seeds, shown in [power(pairs, cases)]
    ]
    print(markdown_table(["pairs", "seeds", "power"], rows, right=True))


if __name__ == "__main__":
    main()
