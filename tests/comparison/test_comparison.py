"""A whole comparison: what it promises, and what it leaves."""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_comparisons import SMALL, compared

import seqlab
from seqlab.api import compare
from seqlab.audit.audit import audit
from seqlab.comparison.compare import Comparison, time_taken
from seqlab.comparison.execution.progress import ProgressView
from seqlab.comparison.judgment.statistics import estimate
from seqlab.comparison.plan.plan import read_plan
from seqlab.comparison.plan.trials import SEED
from seqlab.comparison.report import write_report
from seqlab.comparison.results import read_comparison, write_comparison
from seqlab.contracts import TextBatch, TextScores
from seqlab.errors import DataError, UsageError
from seqlab.inspection.backward import gradient_curve
from seqlab.inspection.memory import divergences
from seqlab.metrics.metric import ratio
from seqlab.runs.directory import LOOKS
from seqlab.runs.looks import describe_looks, read_looks
from seqlab.runs.run import load
from seqlab.training.progress import clock


def test_every_run_is_there_and_scored_on_the_test_part(small: Comparison):
    results = small.results
    assert {(run.name, run.seed) for run in results.runs} == {(n, s) for n in ("gru", "lstm-attention") for s in (0, 1)}
    for run in results.runs:
        again = seqlab.load(small.directory / run.path).evaluate(split="test")
        assert isinstance(again.scores, TextScores)
        assert run.value == pytest.approx(again.scores.nats / again.scores.characters)
        assert run.metrics == pytest.approx(again.metrics)
        assert sum(row[0] for row in run.sums) == pytest.approx(again.scores.nats)
        assert run.loss_by_position == pytest.approx(again.by_position)
        carried = seqlab.load(small.directory / run.path).evaluate(split="test", mode="carry")
        assert run.carried == pytest.approx(carried.metrics["nats_per_token"])


def test_floors_are_on_the_same_units_of_text(small: Comparison):
    names = [baseline.name.split()[0] for baseline in small.results.baselines]
    assert names == ["unigram", "kneser-ney", "xz"]
    characters = [row[1] for row in small.results.runs[0].sums]
    for baseline in small.results.baselines:
        if baseline.sums is not None:
            assert [row[1] for row in baseline.sums] == characters
            assert ratio(np.sum(baseline.sums, 0)) == pytest.approx(baseline.value)
    assert {pair.verdict for pair in small.results.baseline_pairs} and len(small.results.baseline_pairs) == 2


def test_the_pair_is_judged_by_the_sums_of_its_runs(small: Comparison):
    (pair,) = small.results.pairs
    sums = {name: np.array([run.sums for run in small.results.runs_of(name)]) for name in (pair.a, pair.b)}
    result = estimate(sums[pair.a], sums[pair.b], ratio)
    assert (pair.difference, pair.low, pair.high, pair.p) == (result.difference, result.low, result.high, result.p)
    assert pair.difference >= 0 and small.verdicts == [pair.sentence]


def test_a_comparison_is_loaded_whole_and_its_best_run_by_load(small: Comparison):
    again = seqlab.Comparison.load(str(small.directory))
    assert again.results == small.results and again.table() == small.table()
    assert seqlab.load(small.directory).path.resolve() == again.best.path.resolve()


def test_time_is_what_was_planned(small: Comparison):
    plan = read_plan(small.directory)
    assert plan is not None
    for run in small.results.runs:
        model = next(model for model in plan.models if model.name == run.name)
        assert run.seconds == model.steps * model.step_seconds and run.steps == model.steps == 40
        assert run.tokens == 40 * 8 * 16 == run.steps * model.tokens_per_step
        built = seqlab.load(small.directory / run.path).model
        assert run.flops == 3 * built.flops_per_token(16) * run.tokens


def test_all_tried_as_many_rates_and_trained_at_their_own_best(small: Comparison):
    by_name = {n: [trial for trial in small.results.trials if trial.name == n] for n in ("gru", "lstm-attention")}
    tried = [[trial.tried["train.lr"] for trial in own] for own in by_name.values()]
    assert len(tried[0]) == len(tried[1]) >= 5
    assert tried[0][:-2] == tried[1][:-2]  # the grid; the last two are beside each one's own best
    for name, own in by_name.items():
        best = min(own, key=lambda trial: math.inf if trial.loss is None else trial.loss)
        assert best.chosen and sum(trial.chosen for trial in own) == 1
        for run in small.results.runs_of(name):
            settings = seqlab.load(small.directory / run.path).settings
            assert settings.train.lr == best.tried["train.lr"] and settings.train.seed == run.seed
        trial = seqlab.load(small.directory / "tuning" / f"{name}-0")
        assert (
            trial.settings.train.seed == SEED and trial.settings.train.steps == 40
        )  # a run of 40 steps is brief itself
        assert trial.results is not None and trial.results.validation["nats_per_token"] == own[0].loss


def test_what_tuning_leaves_uncertain_is_said(small: Comparison):
    (said,) = [
        warning for warning in small.results.warnings if warning.startswith("Learning rates were chosen from trials.")
    ]
    assert "nats per token" in said and said in (small.directory / "report.html").read_text()


def test_timings_have_a_spread(small: Comparison):
    plan = read_plan(small.directory)
    assert plan is not None and all(0 < model.step_spread < 10 for model in plan.models)
    assert [entrant.step_spread for entrant in small.results.entrants] == [model.step_spread for model in plan.models]


def test_the_estimate_stands_beside_the_time_that_was_needed(small: Comparison, here: Path):
    plan = read_plan(small.directory)
    assert plan is not None
    assert time_taken(replace(plan, estimate=100.0), 150.0, resumes=False) == (
        "estimated 1:40, took 2:30 (1.5 times the estimate)"
    )
    shutil.copytree(small.directory, here / "again", symlinks=True)
    view = Lines()
    compare("toy-words", out=here / "again", view=view, **SMALL)
    assert view.lines[-1].startswith("this command resumed the comparison and took ")
    assert view.lines[-1].endswith(f"estimated for all: {clock(plan.estimate)}")


class Lines(ProgressView):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def log(self, message: str) -> None:
        self.lines.append(message)


def test_all_saw_the_same_batches(small: Comparison):
    tasks = [seqlab.load(small.directory / "runs" / f"{name}-1").task() for name in ("gru", "lstm-attention")]
    for index in (0, 7):
        one, other = (task.batch("train", 1, index) for task in tasks)
        assert isinstance(one, TextBatch) and isinstance(other, TextBatch)
        assert (one.inputs_BT == other.inputs_BT).all()


def test_what_it_hands_over(small: Comparison, tmp_path: Path):
    best = small.results.best
    assert (small.directory / "best").resolve() == (small.directory / best.path).resolve()
    assert small.best.path.name == f"{best.name}-{best.seed}"
    assert best.name == small.results.recommendation[0].name
    own = small.results.runs_of(best.name)
    assert next(run for run in own if run.seed == best.seed).validation == min(run.validation for run in own)
    assert seqlab.load(small.directory).path == small.directory / best.path
    for name in ("gru", "lstm-attention", "kneser-ney"):
        assert name in small.table()
    assert small.report(tmp_path / "elsewhere").read_bytes() == small.report().read_bytes()


def test_costs_are_those_of_the_models(small: Comparison):
    for entrant in small.results.entrants:
        run = seqlab.load(small.directory / "runs" / f"{entrant.name}-0")
        assert entrant.parameters == sum(p.numel() for p in run.model.parameters())
        assert entrant.state_bytes == {str(n): run.model.backbone.state_bytes(n) for n in (100, 1000, 10_000)}
        assert all(speed > 5 for speed in entrant.generation.values()), "tokens per second, not seconds per token"
        assert len(entrant.generation) == 3
    assert all(run.peak_memory is None or run.peak_memory > 50e6 for run in small.results.runs)


def test_samples_go_on_from_the_same_beginning_of_held_out_text(small: Comparison):
    prompts = {(sample.prompt, sample.temperature) for sample in small.results.samples}
    assert len(prompts) == 1 and len(small.results.samples) == 2
    prompt = prompts.pop()[0]
    assert f"\n{prompt}" in small.best.text("test", 500) and 10 < len(prompt) <= 48
    assert [copied.name for copied in small.results.memorization] == ["gru", "lstm-attention", "held-out text"]


def test_how_far_back_the_models_look_is_measured_on_validation_text(small: Comparison):
    """On as many tokens as two windows; the test split has nothing to do with it."""
    assert [(each.name, each.tokens) for each in small.results.distances] == [("gru", 32), ("lstm-attention", 32)]
    ids = small.best.dataset().splits["validation"].read(0, 32).tolist()
    for each in small.results.distances:
        model = seqlab.load(small.directory / "runs" / f"{each.name}-{each.seed}").model
        assert each.memory == pytest.approx(divergences(model, ids).tolist(), rel=1e-6, abs=1e-12)
        assert each.gradients == pytest.approx(gradient_curve(model, ids).tolist(), rel=1e-6)
        assert len(each.memory) == len(each.gradients) == 16 and each.memory[0] > 1e-3


def test_copies_are_found_in_the_training_text(small: Comparison):
    train = small.best.text("train")
    # a gram across the seam of two segments does not occur in the text
    segments = ["".join(blocks) for blocks in small.best.dataset().data.segments("train")]
    grams = {segment[at : at + 8] for segment in segments for at in range(len(segment) - 7)}
    held_out = small.results.memorization[-1]
    text = small.best.text("test", held_out.characters)
    assert held_out.longest_text in train and held_out.longest_text in text
    novel = [text[at : at + 8] not in grams for at in range(len(text) - 7)]
    assert held_out.novel == pytest.approx(sum(novel) / len(novel))


def test_it_was_audited_and_the_ledger_is_true(small: Comparison):
    assert not any(check.failed for audited in small.results.audits for check in audited.checks)
    ledger = small.results.ledger
    assert set(ledger.unequal["core parameters"]) == {"gru", "lstm-attention"}
    assert ledger.equal["steps"] == "40" and "runs as" in ledger.unequal
    assert not set(ledger.equal) & set(ledger.unequal)


def test_looks_at_the_test_part_are_counted_and_shown(small: Comparison, tmp_path: Path):
    copy = tmp_path / "copy"
    shutil.copytree(small.directory, copy, symlinks=True)
    first = (copy / LOOKS).read_text(encoding="utf-8").splitlines(keepends=True)[0]
    (copy / LOOKS).write_text(first, encoding="utf-8")  # other tests evaluate these runs too
    assert describe_looks(read_looks(copy)) == f"1 comparison ({small.directory.name})"
    run = load(copy)
    run.evaluate(split="validation")
    run.evaluate(split="test")
    looked = f"1 comparison ({small.directory.name}) and 1 evaluation ({run.path.name})"
    assert describe_looks(read_looks(copy)) == looked and not read_looks(run.path)
    assert f"looked at 2 times (allowed: 10): {looked}" in [check.detail for check in audit(run)]
    page = write_report(small.results, copy, copy).read_text(encoding="utf-8")
    assert f"The test split was looked at by {looked}, as recorded in this folder." in page
    assert not any("test split was looked at" in warning for warning in small.results.warnings)


def test_the_same_call_again_trains_nothing(small: Comparison):
    files = [path for path in small.directory.rglob("*") if path.name in ("metrics.jsonl", "scores.json", "plan.json")]
    before = {path: path.stat().st_mtime_ns for path in files}
    again = compared(small.directory, **SMALL)
    assert again.results == small.results
    assert {path: path.stat().st_mtime_ns for path in files} == before and len(files) > 10


def test_other_settings_are_refused_with_the_difference(small: Comparison):
    with pytest.raises(UsageError, match=r"seeds was 2, not 3"):
        compared(small.directory, **{**SMALL, "seeds": 3})
    with pytest.raises(UsageError, match=r"train\.clip_norm was 1\.0, not 0\.5"):
        compared(small.directory, **{**SMALL, "settings": {"train.sample_tokens": 0, "train.clip_norm": 0.5}})


def test_a_text_that_changed_is_refused(tmp_path: Path, workers_in_process: None):
    text = tmp_path / "my.txt"
    text.write_text("the cat sat on the mat and saw the dog.\n" * 60)
    options = {**SMALL, "archs": "rnn", "seeds": 1, "tune": 0, "budget": "steps=4", "jobs": 1}
    compared(tmp_path / "c", str(text), **options)
    text.write_text("the cat sat on the mat and saw the hen.\n" * 60)
    with pytest.raises(DataError, match="the text has changed"):
        compared(tmp_path / "c", str(text), **options)


def test_results_can_be_read_again_and_only_by_their_own_version(small: Comparison, tmp_path: Path):
    write_comparison(replace(small.results, command="again"), tmp_path)
    assert read_comparison(tmp_path) == replace(small.results, command="again")
    content = json.loads((tmp_path / "results.json").read_text())
    for change in ({"version": 2}, {"version": 4}, {"format": "other"}, {"runs": "none"}):
        (tmp_path / "results.json").write_text(json.dumps({**content, **change}))
        with pytest.raises(DataError):
            read_comparison(tmp_path)
