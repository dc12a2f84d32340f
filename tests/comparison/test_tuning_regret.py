"""The study of tuning: which rate is the best, which one a comparison chooses, and what that costs."""

import math
from pathlib import Path

import pytest

from benchmarks import tuning
from benchmarks.tuning import ARCHS, CORPORA, Losses, Training, best_rate, chosen_rates, table
from seqlab.comparison.plan.trials import SEED

BEST = {"rnn": 0.0032, "gru": 0.01, "lstm": 0.018, "lstm-attention": 0.01, "transformer": 0.0018}


class Known(Losses):
    """Full runs are best at the rate of their architecture, short trials at a rate that is higher by `shift`."""

    def __init__(self, folder: Path, shift: float = 1.0):
        super().__init__(folder)
        self.shift = shift

    def __getitem__(self, training: Training) -> float:
        best = BEST[training.arch] * (self.shift if training.seed == SEED else 1.0)
        return 2.0 + 0.02 * math.log(training.rate / best) ** 2 + 1e-6 * training.seed * (training.share == 1)


def test_the_search_goes_downhill_to_the_best_rate(tmp_path: Path) -> None:
    assert {arch: best_rate(Known(tmp_path), "any", arch) for arch in ARCHS} == BEST


def test_trials_that_agree_with_full_runs_cost_nothing(tmp_path: Path) -> None:
    """Trials of a fifth of a run prefer 1.71 times its rate, which is what the choice corrects."""
    agreeing = Known(tmp_path, shift=5 ** (1 / 3))
    assert chosen_rates(agreeing, CORPORA[0], 0.2) == pytest.approx(BEST, rel=0.06)
    assert "mean regret 0.0000 nats/char" in table(agreeing, 0.2)


def test_trials_that_prefer_higher_rates_have_a_regret(tmp_path: Path) -> None:
    shown = table(Known(tmp_path, shift=5.0), 0.2)
    assert "mean regret 0.02" in shown  # a parabola, at 2.9 times the best rate


def test_losses_are_trained_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "STEPS", 4)
    monkeypatch.setattr(tuning, "SIZE", "params=2k")
    monkeypatch.setattr(tuning, "SETTINGS", {**tuning.SETTINGS, "task.window": 8, "model.embedding": 8})
    first = Training("toy-words", "rnn", 0.01, 1.0, 0)
    loss = Losses(tmp_path)[first]
    assert 1 < loss < 10
    monkeypatch.setattr(tuning, "train", None)  # a second training would fail
    assert Losses(tmp_path)[first] == pytest.approx(loss, abs=1e-5)
    with pytest.raises(SystemExit, match="goes on"):
        Losses(tmp_path, seconds=0.0)[Training("toy-words", "rnn", 0.02, 1.0, 0)]
