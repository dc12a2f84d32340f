"""Equal tuning: the same trials for all, a grid that grows at an edge that is somebody's best."""

import math
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
    best_trials,
    extension,
    first_trials,
    is_extensible,
    lowest_point,
    neighbor,
    refinement,
    run_rate,
    search,
    shortened,
    trial_count,
    trial_results,
    trial_share,
    with_trial,
)
from seqlab.comparison.results import Trial
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
    request = comparison(tune=number, tune_over=tuple(names[:width]))
    trials = first_trials(request, 32)
    assert trials == first_trials(request, 32) and len(trials) == number
    keys = {"lr": "train.lr", "batch_size": "task.batch_size", "layers": "backbone.layers"}
    if request.tune_over != ("lr",):
        assert all(set(tried) == {keys[name] for name in request.tune_over} for tried in trials)
        assert not is_extensible(request)


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
    whole = with_trial(model().run_settings, None, {"train.lr": 0.02}, ONE_EACH)
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


def test_other_layers_keep_the_size():
    size = Amount("params", 400_000)
    for layers in (1, 3):
        result = with_trial(model().run_settings, size, {"backbone.layers": layers}, ONE_EACH).backbone.settings
        assert result.model_dump()["layers"] == layers
        assert result.core_parameters(128) == pytest.approx(400_000, rel=0.01)  # pyright: ignore[reportAttributeAccessIssue]


def test_the_lowest_loss_wins_and_a_failure_never_does():
    trials = first_trials(comparison(tune=3), 32)
    losses = {"a": [2.0, 1.5, None], "b": [None, None, 9.0]}
    shown = trial_results(dict.fromkeys(losses, trials), losses)
    assert [(trial.name, trial.loss) for trial in shown] == [
        (name, loss) for name, own in losses.items() for loss in own
    ]
    chosen = [trial.chosen for trial in shown]
    assert chosen == [False, True, False, False, False, True]
    assert {type(value) for value in chosen} == {bool}  # the plan is written as JSON


def test_the_note_on_the_edge_of_the_grid_names_entrant_and_rate():
    chosen = {"rnn": 0.001, "gru": 0.01, "lstm": 0.1}
    results = [Trial(name, {"train.lr": rate}, 1.0, chosen=True) for name, rate in chosen.items()]
    note = edge_note(results, ["rnn", "lstm"])
    assert "the best one of rnn (0.001) and of lstm (0.1) is still at its edge" in note and "gru" not in note


def searched(best: dict[str, float], tune: int = 3, spoiled: float = 0.0) -> tuple[list[Trial], list[str], int]:
    """A search among entrants whose loss is lowest at these rates, and how often trials were run."""
    runs = 0

    def losses_of(trials):
        nonlocal runs
        runs += 1
        return {
            name: [abs(math.log(one["train.lr"] / best[name])) if one["train.lr"] != spoiled else None for one in tried]
            for name, tried in trials.items()
        }

    results, at_edge = search(first_trials(comparison(tune=tune), 32), list(best), tune > 1, losses_of)
    return results, at_edge, runs


def test_everybody_tries_two_more_rates_beside_its_own_best():
    results, at_edge, runs = searched({"rnn": 0.0032, "lstm": 0.0055})
    tried = {name: [one.tried["train.lr"] for one in results if one.name == name] for name in ("rnn", "lstm")}
    assert tried["rnn"] == [0.001, 0.0032, 0.01, 0.0018, 0.0056]
    assert tried["lstm"] == [0.001, 0.0032, 0.01, 0.0018, 0.0056]
    assert {name: one["train.lr"] for name, one in best_trials(results).items()} == {"rnn": 0.0032, "lstm": 0.0056}
    assert at_edge == [] and runs == 2
    assert trial_count(comparison(tune=3)) == 6 and trial_count(comparison(tune=1)) == 1


def test_the_grid_is_extended_for_all_before_it_is_refined_for_each():
    results, at_edge, _ = searched({"rnn": 0.03, "lstm": 0.0032})
    tried = {name: [one.tried["train.lr"] for one in results if one.name == name] for name in ("rnn", "lstm")}
    assert tried["rnn"][:4] == tried["lstm"][:4] and tried["rnn"][3] == 0.032
    assert len(tried["rnn"]) == len(tried["lstm"]) and tried["rnn"][-2:] == [0.018, 0.056]
    assert at_edge == []
    assert searched({"rnn": 99.0, "lstm": 0.0032})[1] == ["rnn"]  # three extensions are not enough
    assert [one.chosen for one in searched({"rnn": 1.0}, tune=1)[0]] == [True]  # a single rate is not refined


def parabola(best: float, chosen: float) -> list[Trial]:
    rates = (0.0056, 0.01, 0.018, 0.032, 0.056)
    return [Trial("lstm", {"train.lr": r}, 2 + 0.1 * math.log(r / best) ** 2, r == chosen) for r in rates]


def test_the_rate_of_a_run_is_lower_than_that_of_its_short_trials():
    """Five times the length takes 0.58 of the rate, from the lowest point between the rates that were tried."""
    assert lowest_point(parabola(0.02, chosen=0.018)) == pytest.approx((0.02, 0.1 * math.log(0.02 / 0.018) ** 2))
    assert run_rate(parabola(0.02, chosen=0.018), 0.2) == pytest.approx(0.02 * 0.2 ** (1 / 3), rel=0.05) == 0.012
    assert run_rate(parabola(0.02, chosen=0.018), 1.0) == 0.018  # a trial as long as a run was tried as it is
    at_edge = parabola(0.1, chosen=0.056)
    assert lowest_point(at_edge) is None and run_rate(at_edge, 0.2) == 0.033


def test_a_refined_rate_that_diverges_is_not_chosen():
    low, high = (one["train.lr"] for one in refinement({"train.lr": 0.0032}))
    assert (low, high) == (0.0018, 0.0056)
    assert [neighbor(0.01, halves) for halves in (-2, -1, 0, 1, 2)] == [0.0032, 0.0056, 0.01, 0.018, 0.032]
    results, *_ = searched({"rnn": 0.0055}, spoiled=high)
    assert best_trials(results)["rnn"]["train.lr"] in (0.0032, 0.01)
