"""The scaling law: runs of a known law give it back, and too little data is refused in words."""

import numpy as np
import pytest

from seqlab.errors import DataError
from seqlab.scale.law import TrainedPoint, extrapolate, fit_law

E, A, B, ALPHA, BETA = 1.69, 406.4, 410.7, 0.34, 0.28  # Hoffmann et al. 2022
NOISE = 0.005
SIZES_BELOW = [18_914, 31_362, 62_402, 149_058]  # the largest 7.88 times the smallest
SIZES, AMOUNTS = np.geomspace(1e5, 1e7, 4), np.geomspace(1e6, 1e8, 4)


def law_loss(size: float, tokens: float) -> float:
    return E + A / size**ALPHA + B / tokens**BETA


def drawn(seed: int, noise: float = NOISE) -> list[TrainedPoint]:
    draw = np.random.default_rng(seed)
    return [
        TrainedPoint(size, tokens, law_loss(size, tokens) * float(np.exp(draw.normal(0, noise))))
        for size in SIZES
        for tokens in AMOUNTS
    ]


def test_the_law_that_made_the_losses_is_found() -> None:
    law = fit_law(drawn(0, noise=1e-6))
    assert [law.E, law.a, law.b] == pytest.approx([E, ALPHA, BETA], rel=0.02)
    assert law.loss(1e9, 1e10) == pytest.approx(law_loss(1e9, 1e10), rel=0.005)


def test_the_interval_holds_the_truth_and_grows_with_distance() -> None:
    law = fit_law(drawn(1))
    loss, low, high = extrapolate(law, 1e8, 1e9)
    assert low < law_loss(1e8, 1e9) < high and low < loss < high
    near = law.interval(1e7, 1e8)
    assert near[1] - near[0] < high - low


def test_what_is_missing_is_said() -> None:
    points = drawn(2)
    with pytest.raises(DataError, match=r"at least 9 runs.*here are 4"):
        fit_law(points[:4])
    with pytest.raises(DataError, match="3 different sizes"):
        fit_law([TrainedPoint(1e6, point.tokens, point.loss) for point in points])
    with pytest.raises(DataError, match="3 different amounts of training tokens"):
        fit_law([point for point in points if point.tokens < 1e7] * 2)
    with pytest.raises(DataError, match=r"at least 8 times the smallest; .* to 149,058, which is 7\.88 times"):
        fit_law([TrainedPoint(size, p.tokens, p.loss) for p, size in zip(points, SIZES_BELOW * 4, strict=True)])
    shuffled = np.random.default_rng(3).permutation([point.loss for point in points])
    with pytest.raises(DataError, match="explains"):
        fit_law([TrainedPoint(p.parameters, p.tokens, x) for p, x in zip(points, shuffled, strict=True)])


def test_a_loss_that_the_runs_leave_open_is_refused() -> None:
    with pytest.raises(DataError, match="do not say what a model"):  # five orders of magnitude away
        extrapolate(fit_law(drawn(4, noise=0.05)), 1e12, 1e14)


@pytest.mark.slow
def test_the_interval_has_its_coverage() -> None:
    """Of 95%: at least 87 of 100 draws, the lower end of the binomial interval and a little for a fit that is not
    linear."""
    truth = law_loss(1e8, 1e9)
    held = 0
    for seed in range(100):
        low, high = fit_law(drawn(100 + seed)).interval(1e8, 1e9)
        held += low <= truth <= high
    assert held >= 87, f"{held} of 100"
