"""Plans against what others published about their trainings."""

import pytest

from benchmarks.published import RUNS, PublishedRun

WITHIN = 0.25


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_plans_are_near_published_trainings(run: PublishedRun) -> None:
    """The FLOPs, device hours or speed, with one utilization for all of them."""
    assert run.planned() == pytest.approx(run.value, rel=WITHIN)
