"""From a budget to steps, and from minutes to a plan that keeps them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planning_cases import SECONDS, planned

from seqlab.comparison.judgment.ledger import ledger
from seqlab.comparison.plan import planning
from seqlab.comparison.plan.data import prepare_data
from seqlab.comparison.plan.matching import core_flops, core_parameters, total_parameters
from seqlab.comparison.plan.plan import Plan, difference, read_plan, write_plan
from seqlab.comparison.plan.planning import FEWEST_STEPS, make_plan, tokens_per_step, with_winners
from seqlab.comparison.plan.request import Amount, build_request
from seqlab.comparison.plan.summary import plan_summary
from seqlab.comparison.plan.timing import time_all
from seqlab.comparison.plan.trials import with_trial
from seqlab.errors import DataError, UsageError
from seqlab.recipes import Recipe
from seqlab.training.budget import LEAST_STEPS

pytestmark = pytest.mark.usefixtures("known_times")


def steps(plan: Plan) -> dict[str, int]:
    return {model.name: model.steps for model in plan.models}


def test_the_precision_of_each_model_is_decided_before_its_steps_are_timed(
    text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def speed(model: Any, task: Any, train: Any) -> float:
        return 1.6 if "Lstm" in type(model.backbone).__name__ else 1.05

    monkeypatch.setattr("seqlab.training.precision.bf16_speed", speed)
    plan, _, data = planned(text, precision="auto", budget="steps=50", tune=0)
    chosen = {model.name: model.run_settings.train for model in plan.models}
    assert {name: train.precision for name, train in chosen.items()} == {
        "rnn": "float32",
        "lstm": "bf16",
        "transformer": "float32",
    }
    assert chosen["lstm"].bf16_speed == 1.6
    assert ledger(plan, data).unequal["precision"]["lstm"] == "bf16"
    with pytest.raises(UsageError, match=r"rnn: train\.precision is bf16, which is slower here"):
        monkeypatch.setattr("seqlab.training.precision.bf16_speed", lambda *_: 0.5)
        planned(text, precision="bf16", budget="steps=50", tune=0)


def test_models_are_compared_in_float32_unless_asked(text: Path) -> None:
    plan, _, data = planned(text, budget="steps=50", tune=0)
    assert ledger(plan, data).equal["precision"] == "float32"


def test_equal_steps(text: Path):
    plan, *_ = planned(text, budget="steps=70", batch_size=4)
    assert set(steps(plan).values()) == {70}
    assert {model.tokens_per_step for model in plan.models} == {4 * 32}


def test_equal_tokens(text: Path):
    plan, *_ = planned(text, budget="tokens=12800", batch_size=4)
    assert set(steps(plan).values()) == {100}


def test_equal_operations(text: Path):
    plan, *_ = planned(text, budget="flops=1e12", batch_size=4)
    assert len(set(steps(plan).values())) == 3
    for model in plan.models:
        assert model.steps * model.flops_per_step == pytest.approx(1e12, rel=0.01)


def test_equal_seconds(text: Path):
    plan, *_ = planned(text, budget="seconds=8")
    assert steps(plan) == {"rnn": 800, "lstm": 400, "transformer": 200}
    assert {round(model.seconds, 6) for model in plan.models} == {8.0}


@pytest.mark.parametrize("minutes", [3, 15])
@pytest.mark.parametrize("jobs", [1, 2])
def test_minutes_are_kept_with_equal_steps(text: Path, minutes: float, jobs: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(planning, "most_steps", lambda *_: 10**9)
    plan, *_ = planned(text, minutes=minutes, jobs=jobs)
    assert len(set(steps(plan).values())) == 1
    assert 0.8 * 60 * minutes <= plan.estimate <= 60 * minutes
    longer, *_ = planned(text, minutes=2 * minutes, jobs=jobs)
    assert longer.models[0].steps > 1.5 * plan.models[0].steps


def test_a_small_text_is_not_read_more_often_than_helps(text: Path):
    plan, _, data = planned(text, minutes=600)
    epoch = data.task(data.models["rnn"]).steps_per_epoch
    assert plan.models[0].steps == max(LEAST_STEPS, round(40 * epoch))


def test_dropout_follows_the_steps_and_is_said(text: Path):
    long, *_ = planned(text, budget="steps=20000", match="params=25000")
    short, *_ = planned(text, budget="steps=20", match="params=25000")
    for plan, dropped in ((long, True), (short, False)):
        rates = {model.run_settings.model.output_dropout for model in plan.models}
        assert None not in rates and all(bool(rate) is dropped for rate in rates)
        assert any(note.startswith("dropout by default: rnn 0.3") for note in plan.notes) is dropped
    own, *_ = planned(text, budget="steps=20000", match="params=25000", dropout=0.0)
    assert {model.run_settings.model.output_dropout for model in own.models} == {0.0}
    assert not any("dropout" in note for note in own.notes)


def test_sizes_follow_the_text(text: Path):
    plan, *_ = planned(text, budget="steps=5")
    assert plan.size is not None and plan.size.size == 25_000  # 67,000 tokens
    assert all(model.core == pytest.approx(25_000, rel=0.03) for model in plan.models)
    own, *_ = planned(text, budget="steps=5", match="none")
    assert own.size is None and len({model.core for model in own.models}) == 3


@pytest.mark.parametrize(("kind", "size"), [("params", core_parameters), ("flops", core_flops)])
def test_all_as_large_as_the_first(text: Path, kind: str, size: Any):
    plan, request, _ = planned(text, budget="steps=5", match=kind, archs="lstm,rnn,transformer")
    for model in plan.models:
        assert size(model.run_settings) == pytest.approx(size(request.models["lstm"]), rel=0.01)


def test_too_little_time_takes_smaller_models(text: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(planning, "TOKENS_PER_PARAMETER", 0.01)
    few, *_ = planned(text, minutes=1)
    many, *_ = planned(text, minutes=60)
    assert few.size is not None and many.size is not None
    assert few.size.size == 25_000 and many.size.size == 400_000
    assert many.models[0].steps >= FEWEST_STEPS


def test_what_cannot_be_matched_is_said(text: Path):
    plan, *_ = planned(text, budget="steps=5", match="params=700")
    assert any("nearest" in note for note in plan.notes)


def test_warm_up_is_a_tenth_of_a_short_run(text: Path):
    plan, *_ = planned(text, budget="steps=50")
    assert {model.run_settings.train.warmup for model in plan.models} == {5}


def test_rates_that_won_change_nothing_else(text: Path):
    plan, request, data = planned(text, budget="steps=50")
    winners = {
        model.name: with_trial(model.run_settings, plan.size, {"train.lr": 0.007}, plan.vocab_sizes)
        for model in plan.models
    }
    result = with_winners(plan, request, data, winners, lambda _: None)
    assert {model.run_settings.train.lr for model in result.models} == {0.007}
    assert [model.changed(**{"train.lr": 1.0}) for model in result.models] == [
        model.changed(**{"train.lr": 1.0}) for model in plan.models
    ]


def test_other_winners_are_planned_anew(text: Path):
    plan, request, data = planned(text, budget="seconds=4", tune_over="lr,layers,batch_size")
    tried = {"train.lr": 0.007, "backbone.layers": 2, "task.batch_size": 16}
    winners = {model.name: with_trial(model.run_settings, plan.size, tried, plan.vocab_sizes) for model in plan.models}
    result = with_winners(plan, request, data, winners, lambda _: None)
    assert {model.tokens_per_step for model in result.models} == {16 * 32}
    assert all(model.core == pytest.approx(25_000, rel=0.05) for model in result.models)
    assert all(model.seconds == pytest.approx(4) for model in result.models)


def test_documents_are_counted_on_average(tmp_path: Path):
    lines = tmp_path / "lines.txt"
    lines.write_text("".join(f"name {'x' * (n % 7)}\n" for n in range(400)))
    plan, _, data = planned(lines, documents="lines", budget="steps=5", batch_size=8)
    train = data.dataset.splits["train"].stats
    assert tokens_per_step(data, "rnn") == pytest.approx(8 * (train.tokens / train.documents - 1), rel=0.1)
    assert plan.models[0].tokens_per_step < 8 * 32


def test_the_plan_in_words_says_what_will_be_done(text: Path):
    plan, request, data = planned(text, budget="steps=50", jobs=2)
    said = plan_summary(plan, request, data, Path("there"))
    for word in (
        "rnn",
        "lstm",
        "transformer",
        "50",
        "3 seeds",
        "2 at a time",
        "test split",
        "0.001, 0.0032, 0.01",
        "there",
    ):
        assert word in said


def test_a_plan_is_read_as_it_was_written(text: Path, tmp_path: Path):
    plan, *_ = planned(text, budget="steps=50")
    write_plan(plan, tmp_path)
    assert read_plan(tmp_path) == plan
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(DataError, match=r"plan\.json"):
        read_plan(tmp_path)


@pytest.mark.parametrize("damage", ["models", "seeds", "fingerprints", "renamed"])
def test_an_incomplete_plan_is_refused_in_a_sentence(text: Path, tmp_path: Path, damage: str):
    plan, *_ = planned(text, budget="steps=50")
    renamed = [replace(model, name="other") for model in plan.models]
    changes = {"models": [], "seeds": [], "fingerprints": {}, "renamed": renamed}[damage]
    write_plan(replace(plan, **{"models" if damage == "renamed" else damage: changes}), tmp_path)
    with pytest.raises(DataError, match=r"plan\.json' is damaged: .*\. Restore it"):
        read_plan(tmp_path)


def test_a_recipe_says_how_long(text: Path, monkeypatch: pytest.MonkeyPatch):
    models = {"one": {"backbone": {"name": "rnn"}, "train": {"epochs": 2}}, "two": {"backbone": {"name": "rnn"}}}
    models["two"]["train"] = {"steps": 17}
    monkeypatch.setattr("seqlab.comparison.plan.request.find_recipe", lambda name: Recipe(name, "", models))
    monkeypatch.setitem(SECONDS, "one", 0.01)
    monkeypatch.setitem(SECONDS, "two", 0.01)
    request = build_request(str(text), "mine", {}, {"window": 32, "split_ratios": "90/10"})
    data = prepare_data(request, text.parent, lambda _: None)
    plan = make_plan(request, data, lambda _: None)
    assert steps(plan) == {"one": round(2 * data.task(data.models["one"]).steps_per_epoch), "two": 17}
    assert data.deciding_split == "validation" and any("validation" in note for note in plan.notes)


@pytest.mark.parametrize("window", [32, 4096])
def test_models_may_have_batches_of_their_own(text: Path, window: int, monkeypatch: pytest.MonkeyPatch):
    """In equal tokens; all are scored in one window, even if the text is too short for the larger batch."""
    models = {str(size): {"backbone": {"name": "rnn"}, "task": {"batch_size": size}} for size in (2, 64)}
    monkeypatch.setattr("seqlab.comparison.plan.request.find_recipe", lambda name: Recipe(name, "", models))
    monkeypatch.setitem(SECONDS, "2", 0.01)
    monkeypatch.setitem(SECONDS, "64", 0.01)
    options = {"window": window, "embedding": 16, "budget": "tokens=12800", "match": "params=1k", "tune": 0}
    request = build_request(str(text), "mine", {}, options)
    data = prepare_data(request, text.parent, lambda _: None)
    plan = make_plan(request, data, lambda _: None)
    small, large = (data.models[name].task.settings for name in ("2", "64"))
    assert small.option("window", None) == large.option("window", None) <= window
    assert small.batch_size < large.batch_size and steps(plan)["2"] > steps(plan)["64"]


def test_differences_are_named():
    was = {"a": 1, "b": {"c": [1, 2], "d": None}, "only": {"x": 1}}
    assert difference(was, {"a": 1, "b": {"c": (1, 2), "d": 3}}) == [
        "b.d was missing, not 3",
        "only was present, not missing",
    ]
    assert difference(was, was) == []


def test_steps_are_really_timed(text: Path):
    _, _, data = planned(text, budget="steps=5", archs="rnn,lstm", match="params=30000")
    timed = time_all(data, 1)
    assert set(timed) == {"rnn", "lstm"} and all(0 < timing.step_seconds < 5 for timing in timed.values())


def test_a_plan_that_cannot_answer_says_so_before_it_starts(text, tmp_path):
    few, request, data = planned(text, budget="steps=2", match="none", tune=0)
    assert few.warnings[0].startswith("Fewer than 3 passes over the training data (rnn 0.")
    assert f"warning: {few.warnings[0]}" in plan_summary(few, request, data, tmp_path)
    assert planned(text, budget="steps=20000", match="none", tune=0)[0].warnings == []


def test_few_test_examples_are_said_before_the_start(tmp_path):
    table = tmp_path / "labels.csv"
    rows = [f"this is text number {number},{'good' if number % 2 else 'bad'}" for number in range(400)]
    table.write_text("\n".join(["text,label", *rows]) + "\n")
    request = build_request(str(table), None, {}, {"archs": "rnn,lstm", "budget": "steps=500", "embedding": 16})
    data = prepare_data(request, tmp_path, lambda _: None)
    warnings = make_plan(request, data, lambda _: None).warnings
    assert len(data.dataset.splits["test"]) == 40 and data.size_in_words == "400 examples"
    assert [text for text in warnings if text.startswith("Verdicts are based on 40 test examples, fewer than 200")]


def test_a_short_test_split_is_said_before_the_start(tmp_path):
    (tmp_path / "short.txt").write_text("".join(f"line {number} of a text\n" for number in range(1500)))
    short, _, data = planned(tmp_path / "short.txt", budget="steps=20000", match="none", tune=0)
    (warning,) = short.warnings
    assert "test characters, which count as 2 stretches at most, fewer than 8" in warning
    assert data.dataset.splits["test"].stats.documents == 2


def test_a_large_vocabulary_is_matched_in_total_and_the_plan_says_why(tmp_path: Path) -> None:
    text = tmp_path / "pairs.txt"
    text.write_text(" ".join(str(number**3) for number in range(6000)))
    options = {"tokenizer": "bpe", "budget": "steps=5", "tune": 0}
    few, *_ = planned(text, vocab_size=1000, **options)
    assert few.size == Amount("params", 25_000) and "total" not in "".join(few.notes)
    options["vocab_size"] = 1001
    plan, request, data = planned(text, **options)
    assert data.dataset.vocabulary.sizes.vocab_size == 1001 and plan.size is not None and plan.size.kind == "total"
    for model in plan.models:
        assert total_parameters(model.run_settings, plan.vocab_sizes) == pytest.approx(plan.size.size, rel=0.01)
    said = plan_summary(plan, request, data, tmp_path)
    note = f"Models have equal totals of parameters ({plan.size}), because with a vocabulary of 1,001, above 1,000,"
    assert f"note: {note}" in said
    assert f"{total_parameters(plan.models[0].run_settings, plan.vocab_sizes):,}" in said
    cores, *_ = planned(text, **options, match="params=25000")
    assert cores.size == Amount("params", 25_000) and "total" not in "".join(cores.notes)


def test_an_unequal_direction_of_reading_is_the_first_warning(tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    rows = [f"this is text number {number},{'good' if number % 2 else 'bad'}" for number in range(100)]
    table.write_text("\n".join(["text,label", *rows]) + "\n")
    options = {"archs": "rnn,lstm,transformer", "budget": "steps=5", "embedding": 16}
    request = build_request(str(table), None, {}, options)
    data = prepare_data(request, tmp_path, lambda _: None)
    equal = make_plan(request, data, lambda _: None)
    assert not [text for text in equal.warnings if "direction" in text]
    assert ledger(equal, data).equal["reads"] == "in both directions"
    one_way = {**data.models, "lstm": data.models["lstm"].with_values(**{"backbone.bidirectional": False})}
    plan = make_plan(request, replace(data, models=one_way), lambda _: None)
    said = "Unequal direction of reading: from left to right lstm, in both directions rnn and transformer."
    assert plan.warnings[0].startswith(said)
    assert ledger(plan, data).unequal["reads"]["lstm"] == "left to right"
