"""What trials spend, and what a comparison is estimated to take."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from planning_cases import SECONDS, planned

from seqlab.comparison.plan import planning
from seqlab.comparison.plan.summary import plan_summary
from seqlab.comparison.plan.timing import ModelTiming
from seqlab.comparison.plan.trials import with_trial
from seqlab.training.timing import OtherPrograms

pytestmark = pytest.mark.usefixtures("known_times")


def trial_steps(text: Path, budget: str | None, **options: Any) -> list[tuple[dict[str, Any], int]]:
    plan, *_ = planned(text, archs="lstm", tune=8, batch_size=8, **({"budget": budget} if budget else {}), **options)
    return list(zip(plan.trials, plan.models[0].trial_steps, strict=True))


def test_trials_of_other_layers_spend_seconds_if_that_is_the_budget(text: Path):
    result = trial_steps(text, "seconds=8", tune_over="lr,layers")
    assert len({trial["backbone.layers"] for trial, _ in result}) > 1
    assert all(steps == round(8 / (trial["backbone.layers"] * SECONDS["lstm"])) for trial, steps in result)


def test_trials_of_other_batches_spend_the_unit_of_the_budget(text: Path):
    assert all(steps == 70 for _, steps in trial_steps(text, "steps=70", tune_over="batch_size"))
    result = trial_steps(text, "tokens=25600", tune_over="batch_size")
    assert len({trial["task.batch_size"] for trial, _ in result}) > 1
    assert all(steps * trial["task.batch_size"] * 32 == pytest.approx(25600, rel=0.01) for trial, steps in result)
    spent = {steps * one["task.batch_size"] for one, steps in trial_steps(text, None, tune_over="batch_size")}
    assert max(spent) == pytest.approx(min(spent), rel=0.01)  # minutes for everything: equal tokens


def test_trials_of_other_layers_spend_flops_if_that_is_the_budget(text: Path):
    plan, _, data = planned(text, archs="lstm", tune=8, batch_size=8, budget="flops=1e12", tune_over="layers")
    model = plan.models[0]
    for trial, steps in zip(plan.trials, model.trial_steps, strict=True):
        settings = with_trial(model.run_settings, plan.size, trial, plan.vocab_sizes)
        per_step = 3 * data.model(settings).flops_per_token(32) * model.tokens_per_step
        assert steps * per_step == pytest.approx(1e12, rel=0.01)


def test_too_few_minutes_are_said(text: Path):
    short, *_ = planned(text, minutes=0.1, seeds=2)
    assert short.models[0].steps == 20
    assert [
        warning
        for warning in short.warnings
        if warning.startswith("0.1 minutes are not enough for 3 models with 2 seeds")
    ]
    assert not any("not enough" in warning for warning in planned(text, minutes=30)[0].warnings)


def test_the_estimate_counts_what_every_run_adds(text: Path):
    """Thirty runs of no length at all are not free."""
    few, many = (planned(text, budget="steps=1", seeds=seeds, jobs=1, tune=0)[0].estimate for seeds in (1, 11))
    # ten more runs of each of three models: files, ten evaluations with their samples, three scores
    assert many - few > 10 * 3 * (1.2 + 10 * (0.1 + 0.3) + 3 * 0.1) * 0.99
    tuned = planned(text, budget="steps=1", seeds=1, jobs=1, tune=3)[0].estimate
    assert tuned - few > 6 * 3 * 0.8  # three trials, one at the edge, two beside the best


def test_a_kernel_that_must_be_compiled_is_estimated(text: Path, monkeypatch: pytest.MonkeyPatch):
    before = planned(text, budget="steps=1")[0].estimate
    timed = {name: ModelTiming(seconds, 0.1, 0.1, compile_seconds=12.0) for name, seconds in SECONDS.items()}
    monkeypatch.setattr(planning, "time_all", lambda *_: timed)
    assert planned(text, budget="steps=1")[0].estimate - before == pytest.approx(36)


def test_timings_keep_their_spread(text: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    timed = {name: ModelTiming(seconds, 0.1, 0.1, spread=0.3) for name, seconds in SECONDS.items()}
    monkeypatch.setattr(planning, "time_all", lambda *_: timed)
    plan, request, data = planned(text, budget="steps=5")
    assert {model.step_spread for model in plan.models} == {0.3}
    assert "20.0 ± 6.0" in plan_summary(plan, request, data, tmp_path)
    assert [warning for warning in plan.warnings if warning.startswith("Step times vary by 30%")]
    monkeypatch.setattr(planning, "watch_other_programs", lambda: nullcontext(OtherPrograms(99.0)))
    busy, *_ = planned(text, budget="steps=5")
    assert [
        warning
        for warning in busy.warnings
        if warning.startswith("The machine is busy: other programs used about 99.0 of")
    ]
