"""What tuning leaves uncertain."""

import math

import pytest
from verdict_cases import pair_of

from seqlab.comparison.judgment.regret import grid_regret, tuning_warnings
from seqlab.comparison.results import Trial

RATES = (0.001, 0.0018, 0.0032, 0.0056, 0.01)


def trials(best: float, name: str = "lstm", chosen: float = 0.0032, curvature: float = 0.1) -> list[Trial]:
    """Losses on a parabola with its lowest point, 2.0, at the best rate."""
    losses = {rate: 2.0 + curvature * math.log(rate / best) ** 2 for rate in RATES}
    return [Trial(name, {"train.lr": rate}, loss, rate == chosen) for rate, loss in losses.items()]


def test_the_regret_is_how_far_the_choice_lies_above_the_parabola() -> None:
    assert grid_regret(trials(0.0032)) == pytest.approx(0, abs=1e-9)
    assert grid_regret(trials(0.0040)) == pytest.approx(0.1 * math.log(0.0040 / 0.0032) ** 2)


def test_at_the_edge_or_beside_a_failure_it_is_unknown() -> None:
    assert grid_regret(trials(0.02, chosen=0.01)) is None
    assert grid_regret([Trial("lstm", {"train.lr": 0.001}, 2.0, chosen=True)]) is None
    failed = [Trial(t.name, t.tried, None if t.tried["train.lr"] > 0.004 else t.loss, t.chosen) for t in trials(0.0032)]
    assert grid_regret(failed) is None


def test_pairs_that_differ_by_no_more_are_named() -> None:
    both = trials(0.0040) + trials(0.0032, "gru")
    pairs = [pair_of("lstm", "gru", 0.004, "better"), pair_of("gru", "rnn", 0.2, "better")]
    (said,) = tuning_warnings(both, 0.2, pairs, "nats per token")
    assert said.startswith("Learning rates were chosen from trials of 20% of the steps.")
    assert "(nats per token): lstm 0.005, gru 0.000. No interval contains this; lstm and gru differ by no more" in said
    (apart,) = tuning_warnings(both, 0.2, pairs[1:], "nats per token")
    assert apart.endswith("No interval contains this.")


def test_nothing_is_said_without_a_grid_of_rates() -> None:
    drawn = [Trial("lstm", {"train.lr": 0.1, "backbone.layers": n}, 1.0, n == 1) for n in (1, 2, 3)]
    assert list(tuning_warnings(drawn, 0.2, [], "nats per token")) == list(tuning_warnings([], 0.2, [], "")) == []
