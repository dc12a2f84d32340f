"""A/A with real runs: 24 seeds of one small model, dealt out at random to two sides of three.

Nothing tells the sides apart, so hardly any draw may be called different.
"""

from pathlib import Path

import numpy as np
import pytest
from small_comparisons import compared

from seqlab.comparison.judgment.statistics import estimate
from seqlab.metrics.metric import ratio

SEEDS, DRAWS = 24, 400
MOST = 29  # of 400, as in the simulation


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_one_architecture_is_not_better_than_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = compared(
        tmp_path / "aa",
        "python-docs",
        archs="gru",
        seeds=SEEDS,
        match="params=20000",
        budget="steps=150",
        tune=0,
        settings={"train.sample_tokens": 0},
    )
    sums = np.array([run.sums for run in done.results.runs])
    draw = np.random.default_rng(0)
    different = 0
    for _ in range(DRAWS):
        six = draw.permutation(SEEDS)[:6]
        result = estimate(sums[six[:3]], sums[six[3:]], ratio)
        assert result.low is not None and result.high is not None
        different += not result.low <= 0 <= result.high
    values = [run.value for run in done.results.runs]
    spread = f"{np.mean(values):.4f} +- {np.std(values, ddof=1):.4f}"
    with capsys.disabled():
        print(f"\n{different} of {DRAWS} called different; values {spread}")  # noqa: T201
    assert different <= MOST
