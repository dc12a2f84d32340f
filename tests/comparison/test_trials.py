"""Equal tuning: the same trials for all, a grid that grows at an edge that is somebody's best."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.comparison.execution.tuning import edge_note
from seqlab.comparison.plan.matching import ONE_EACH
from seqlab.comparison.plan.plan import PlannedModel
from seqlab.comparison.plan.request import Amount, ComparisonSettings
from seqlab.comparison.plan.trials import (
    RATIO,
    SEED,
    extension,
    first_trials,
    is_extensible,
    shortened,
    trial_results,
    trial_share,
    with_trial,
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
        assert high / low == pytest.approx(RATIO, rel=0.05)
    assert rates[0] * rates[-1] == pytest.approx(10**-5, rel=0.1)


@given(st.integers(1, 12), st.permutations(["lr", "batch_size", "layers"]), st.integers(1, 3))
def test_random_trials_over_more(number: int, names: list[str], width: int):
    one = comparison(tune=number, tune_over=tuple(names[:width]))
    trials = first_trials(one, 32)
    assert trials == first_trials(one, 32) and len(trials) == number
    keys = {"lr": "train.lr", "batch_size": "task.batch_size", "layers": "backbone.layers"}
    if one.tune_over != ("lr",):
        assert all(set(tried) == {keys[name] for name in one.tune_over} for tried in trials)
        assert not is_extensible(one)


def test_the_grid_grows_by_one_at_the_edge_where_a_best_lies():
    trials = first_trials(comparison(tune=3), 32)
    low, middle, high = trials
    assert extension(trials, {"a": middle, "b": middle}) == []
    assert [t["train.lr"] for t in extension(trials, {"a": low, "b": middle})] == [pytest.approx(3.2e-4)]
    assert [t["train.lr"] for t in extension(trials, {"a": middle, "b": high})] == [pytest.approx(3.2e-2)]
    assert len(extension(trials, {"a": low, "b": high})) == 2
    bigger = [*trials, *extension(trials, {"a": high, "b": middle})]
    assert [t["train.lr"] for t in extension(bigger, {"a": bigger[-1], "b": middle})] == [pytest.approx(0.1, rel=0.05)]
    assert not is_extensible(comparison(tune=1)) and is_extensible(comparison(tune=2))


def test_a_trial_is_the_run_in_small():
    whole = with_trial(model(), None, {"train.lr": 0.02}, ONE_EACH)
    brief = shortened(whole, 0.2)
    assert (brief.train.steps, brief.train.warmup, brief.train.lr, brief.train.seed) == (200, 20, 0.02, SEED)
    assert brief.train.evaluate_every == 200
    assert brief.backbone == whole.backbone and brief.task == whole.task
    assert shortened(model(3).run_settings, 0.2).train.steps == 1


def test_trials_are_long_enough_to_tell():
    assert (
        trial_share([5000, 1000]) == 0.2
        and trial_share([400, 300]) == pytest.approx(1 / 3)
        and trial_share([60, 900]) == 1
    )


def test_another_batch_sees_as_many_tokens():
    found = with_trial(model(), None, {"task.batch_size": 64}, ONE_EACH)
    assert found.train.steps == 500


def test_other_layers_keep_the_size():
    size = Amount("params", 400_000)
    for layers in (1, 3):
        found = with_trial(model(), size, {"backbone.layers": layers}, ONE_EACH).backbone.settings
        assert found.model_dump()["layers"] == layers
        assert found.core_parameters(128) == pytest.approx(400_000, rel=0.01)  # pyright: ignore[reportAttributeAccessIssue]


def test_the_lowest_loss_wins_and_a_failure_never_does():
    trials = first_trials(comparison(tune=3), 32)
    losses = {"a": [2.0, 1.5, None], "b": [None, None, 9.0]}
    shown = trial_results(trials, losses)
    assert [(one.name, one.loss) for one in shown] == [(name, loss) for name, own in losses.items() for loss in own]
    chosen = [one.chosen for one in shown]
    assert chosen == [False, True, False, False, False, True]
    assert {type(value) for value in chosen} == {bool}  # the plan is written as JSON


def test_the_note_on_the_edge_of_the_grid_names_entrant_and_rate():
    trials = [{"train.lr": rate} for rate in (0.01, 0.001, 0.1)]
    note = edge_note(trials, {"rnn": trials[1], "gru": trials[0], "lstm": trials[2]}, 3)
    assert "the best one of rnn (0.001) and of lstm (0.1) is still at its edge" in note and "gru" not in note
