"""What a comparison says before anybody relies on it."""

import io
from dataclasses import replace

import numpy as np
import pytest
from comparison_cases import realistic
from rich.console import Console
from verdict_cases import baseline_of, entrant, runs_of

from seqlab.audit.result import CheckResult
from seqlab.cli import show
from seqlab.comparison.judgment.cautions import audit_warnings, cautions, look_warning
from seqlab.comparison.judgment.verdicts import judge_baseline, judge_pairs
from seqlab.comparison.report.page import page
from seqlab.comparison.results import Audited, RunResult
from seqlab.metrics.descriptions import NATS_PER_CHAR
from seqlab.runs.looks import COMPARISON, Look

TEXT = np.random.default_rng(0).normal(0, 0.2, 40)


def runs(name: str, mean: float, train: float = 1.0, drift: float = 0.0) -> list[RunResult]:
    """Three runs; their training loss is `train` times the validation loss of 1.5 at the best step."""
    slope = drift * np.linspace(-1, 1, len(TEXT))
    made = runs_of(name, np.array([mean + 0.001 * seed + TEXT + slope for seed in range(3)]))
    for run in made:
        run.curve.extend({"step": step, "train_loss": train * 1.5, "validation_loss": 1.5} for step in (500, 1000))
    return made


def said(models: dict[str, list[RunResult]], baseline: float = 9.0, examples: int | None = None) -> list[str]:
    every = [run for group in models.values() for run in group]
    entrants = [entrant(name) for name in models]
    pairs = judge_pairs(entrants, every, NATS_PER_CHAR)
    counted = judge_baseline(entrants, every, [baseline_of("counting", TEXT + baseline, "main")], NATS_PER_CHAR)
    return cautions(every, pairs, counted, pairs[0].a, examples)


def test_a_sound_comparison_has_no_caution():
    assert said({"gru": runs("gru", 1.5), "rnn": runs("rnn", 1.6)}) == []


def test_a_failed_audit_names_the_models_and_what_was_found():
    passed = CheckResult("scores add up", True, "they do")
    overlap = CheckResult("splits do not overlap", False, "3 lines are in both.")
    audits = [Audited("rnn", [overlap, passed]), Audited("gru", [passed, overlap]), Audited("lstm", [passed])]
    assert audit_warnings(audits) == [
        "The audit failed for rnn and gru, check 'splits do not overlap': 3 lines are in both."
    ]
    assert audit_warnings(audits[2:]) == []


def test_a_baseline_that_is_as_good_comes_first():
    models = {"gru": runs("gru", 1.5), "rnn": runs("rnn", 1.6)}
    assert said(models, baseline=1.501)[0].startswith("gru, the best of the models, is not shown to be better than")
    assert said(models, baseline=1.2)[0].startswith(
        "The baseline counting, which needs no training, is better than gru"
    )
    assert said(models, baseline=1.55) == []  # only the worse model is behind it


def test_a_model_that_memorizes_is_not_told_to_train_longer():
    models = {"gru": runs("gru", 1.5, train=0.7), "lstm": runs("lstm", 1.7, train=0.9)}
    (warning,) = said(models)
    assert warning.startswith("gru memorizes the training data: at the end, the loss is 1.05 there and 1.50 on")
    assert "Longer training will not help" in warning and "--dropout" in warning


def test_memorizing_is_judged_by_the_plain_cross_entropy():
    smoothed = runs("gru", 1.5, train=0.95)  # label smoothing: the training loss hides what is memorized
    for run in smoothed:
        run.curve[:] = [{**point, "train_cross_entropy": 1.0} for point in run.curve]
    (warning,) = said({"gru": smoothed, "rnn": runs("rnn", 1.6)})
    assert "the loss is 1.00 there and 1.50 on" in warning


def test_a_model_whose_training_diverged_is_not_said_to_memorize():
    diverged = runs("rnn", 1.6)
    for run in diverged:
        run.curve.append({"step": 1500, "train_loss": 9.0, "validation_loss": 20.0})
    (warning,) = said({"gru": runs("gru", 1.5), "rnn": diverged})
    assert warning.startswith("rnn diverged: the training loss was 1.50 at the beginning and 9.00 at the end.")


def test_text_that_drifts_is_said_to_be_few_stretches():
    (warning,) = said({"gru": runs("gru", 1.5), "rnn": runs("rnn", 1.9, drift=0.3)})
    assert "independent stretch" in warning and warning.endswith("intervals are wide. Hold out more text.")


def test_examples_are_not_called_text():
    models = {"gru": runs("gru", 1.5), "rnn": runs("rnn", 1.9, drift=0.3)}
    (warning,) = said(models, examples=40)
    assert warning.startswith("The 40 held-out examples count as only ") and "text" not in warning


def test_cautions_stand_before_the_details_of_the_report():
    shown = page(replace(realistic(), warnings=["Fewer than 3 passes"]))
    assert shown.index("Before you rely on it") < shown.index("Fewer than 3 passes") < shown.index("Pair by pair")


def test_a_terminal_breaks_sentences_between_words(monkeypatch: pytest.MonkeyPatch):
    out = io.StringIO()
    monkeypatch.setattr(show, "console", Console(file=out, force_terminal=True, width=40, highlight=False))
    sentence = "gru is better than transformer by 0.011 nats/char (95% interval 0.009 to 0.013)"
    show.print_sentence(sentence)
    lines = out.getvalue().splitlines()
    assert len(lines) > 1 and all(line.startswith("  ") for line in lines)
    assert " ".join(" ".join(lines).split()) == sentence


def test_a_second_look_at_the_test_split_is_warned_about() -> None:
    looks = [Look(COMPARISON, name, "part", "2024-01-01") for name in ("c", "d")]
    assert list(look_warning(looks[:1])) == []
    [warning] = look_warning(looks)
    assert warning.startswith("The test split was looked at 2 times, by 2 comparisons (c, d): ")
