"""Equal tuning: the same trials for all, a grid that grows where somebody's best lies at its edge."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.comparison.plan.plan import PlannedModel
from seqlab.comparison.plan.request import Amount, ComparisonSettings
from seqlab.comparison.plan.trials import (
    APART,
    SEED,
    best_of,
    changed,
    first_trials,
    grown,
    grows,
    horizon,
    short,
    trial_results,
)
from seqlab.config import resolve


def comparison(**own) -> ComparisonSettings:
    return ComparisonSettings(**own)


def model(steps: int = 1000, name: str = "lstm") -> PlannedModel:
    tables = {
        "corpus": {"source": ["x"]},
        "backbone": {"name": name},
        "task": {"batch_size": 32},
        "train": {"steps": steps, "warmup": 100},
    }
    return PlannedModel(name, resolve(tables).resolved(), 1, 0.01, 0.1, 0.1, 32 * 128, 10, "")


@given(st.integers(1, 9))
def test_a_grid_of_rates_evenly_spaced_on_a_log_scale(number: int):
    rates = [tried["train.lr"] for tried in first_trials(comparison(tune=number), 32)]
    assert len(rates) == number and rates == sorted(rates)
    for low, high in pairwise(rates):
        assert high / low == pytest.approx(APART, rel=0.05)
    assert rates[0] * rates[-1] == pytest.approx(10**-5, rel=0.1)


@given(st.integers(1, 12), st.permutations(["lr", "batch_size", "layers"]), st.integers(1, 3))
def test_random_trials_over_more(number: int, names: list[str], width: int):
    one = comparison(tune=number, tune_over=tuple(names[:width]))
    trials = first_trials(one, 32)
    assert trials == first_trials(one, 32) and len(trials) == number
    keys = {"lr": "train.lr", "batch_size": "task.batch_size", "layers": "backbone.layers"}
    if one.tune_over != ("lr",):
        assert all(set(tried) == {keys[name] for name in one.tune_over} for tried in trials)
        assert not grows(one)


def test_the_grid_grows_by_one_at_the_edge_where_a_best_lies():
    trials = first_trials(comparison(tune=3), 32)
    low, middle, high = trials
    assert grown(trials, {"a": middle, "b": middle}) == []
    assert [t["train.lr"] for t in grown(trials, {"a": low, "b": middle})] == [pytest.approx(3.2e-4)]
    assert [t["train.lr"] for t in grown(trials, {"a": middle, "b": high})] == [pytest.approx(3.2e-2)]
    assert len(grown(trials, {"a": low, "b": high})) == 2
    bigger = [*trials, *grown(trials, {"a": high, "b": middle})]
    assert [t["train.lr"] for t in grown(bigger, {"a": bigger[-1], "b": middle})] == [pytest.approx(0.1, rel=0.05)]
    assert not grows(comparison(tune=1)) and grows(comparison(tune=2))


def test_a_trial_is_the_run_in_small():
    whole = changed(model(), None, {"train.lr": 0.02})
    brief = short(whole, 0.2)
    assert (brief.train.steps, brief.train.warmup, brief.train.lr, brief.train.seed) == (200, 20, 0.02, SEED)
    assert brief.train.evaluate_every == 200
    assert brief.backbone == whole.backbone and brief.task == whole.task
    assert short(model(3).run_settings, 0.2).train.steps == 1


def test_trials_are_long_enough_to_tell():
    assert horizon([5000, 1000]) == 0.2 and horizon([400, 300]) == pytest.approx(1 / 3) and horizon([60, 900]) == 1


def test_another_batch_sees_as_many_tokens():
    found = changed(model(), None, {"task.batch_size": 64})
    assert found.train.steps == 500


def test_other_layers_keep_the_size():
    size = Amount("params", 400_000)
    for layers in (1, 3):
        found = changed(model(), size, {"backbone.layers": layers}).backbone.settings
        assert found.model_dump()["layers"] == layers
        assert found.core_parameters(128) == pytest.approx(400_000, rel=0.01)  # pyright: ignore[reportAttributeAccessIssue]


def test_the_lowest_loss_wins_and_a_failure_never_does():
    trials = first_trials(comparison(tune=3), 32)
    losses = {"a": [2.0, 1.5, None], "b": [None, None, 9.0]}
    assert best_of(trials, losses) == {"a": trials[1], "b": trials[2]}
    shown = trial_results(trials, losses)
    assert [(one.name, one.loss) for one in shown] == [(name, loss) for name, own in losses.items() for loss in own]
    assert [one.chosen for one in shown] == [False, True, False, False, False, True]
