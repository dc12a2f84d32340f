"""Dropout that nobody set: more of it, the more a model could memorize."""

from pathlib import Path
from typing import Any

import pytest

from seqlab import api
from seqlab.config import RunSettings, VocabSizes, resolve
from seqlab.training.dropout import HARMLESS, MAX_RATE, default_dropout, with_default_dropout

SIZES = VocabSizes(60)


def settings_of(arch: str = "lstm", steps: int = 1000, **sections: Any) -> RunSettings:
    backbone = {"name": arch, **sections.pop("backbone", {})}
    return resolve({"corpus": {"source": ["x.txt"]}, "backbone": backbone, "train": {"steps": steps}, **sections})


def rates(settings: RunSettings) -> tuple[Any, ...]:
    return (
        settings.model.embedding_dropout,
        settings.model.output_dropout,
        settings.backbone.settings.option("dropout", None),
    )


@pytest.mark.parametrize(
    ("steps", "parameters", "tokens", "rate"),
    [
        (2500, 420_000, 1_050_000, 0.0),  # a megabyte
        (1760, 420_000, 180_000, 0.15),  # 200 KB
        (1000, 420_000, 45_000, 0.35),  # 50 KB
        (50, 420_000, 45_000, 0.0),  # a few steps memorize nothing
        (1000, 25_000, 45_000, 0.0),  # nor does a small model
        (10**6, 10**8, 100, MAX_RATE),
    ],
)
def test_the_rate(steps: int, parameters: int, tokens: int, rate: float) -> None:
    assert default_dropout(steps, parameters, tokens) == rate


def test_the_rate_rises_with_steps_and_parameters_and_falls_with_text() -> None:
    result = [default_dropout(HARMLESS, 100_000 * factor, 100_000) for factor in range(1, 60)]
    assert result[0] == 0 and result[-1] == MAX_RATE and result == sorted(result)
    assert default_dropout(8000, 10, 10) == default_dropout(1000, 80, 10) == default_dropout(4000, 10, 5) == 0.3


def test_it_stands_where_it_acts() -> None:
    """A single recurrent layer has no place between layers; a Transformer has one in every sublayer."""
    assert rates(with_default_dropout(settings_of("lstm"), SIZES, 45_000)) == (0.35, 0.35, 0.0)
    assert rates(with_default_dropout(settings_of("lstm", backbone={"layers": 2}), SIZES, 45_000)) == (0.5, 0.5, 0.5)
    assert rates(with_default_dropout(settings_of("transformer"), SIZES, 45_000)) == (0.25, 0.25, 0.25)
    assert rates(with_default_dropout(settings_of("feedforward"), SIZES, 45_000)) == (0.25, 0.25, None)


@pytest.mark.parametrize("key", ["model.embedding_dropout", "model.output_dropout", "backbone.dropout"])
def test_who_sets_one_rate_sets_all(key: str) -> None:
    given = settings_of("transformer").with_values(**{key: 0.0})
    assert rates(with_default_dropout(given, SIZES, 45_000)) == (0.0, 0.0, 0.0)
    given = given.with_values(**{key: 0.25})
    assert sorted(rates(with_default_dropout(given, SIZES, 45_000))) == [0.0, 0.0, 0.25]


def test_examples_keep_the_rates_of_their_task() -> None:
    given = settings_of("lstm", task={"name": "classify"})
    assert with_default_dropout(given, SIZES, 50) is given and given.model.embedding_dropout == 0.3


def test_a_run_stores_and_says_its_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my.txt").write_text("the cat sat on the mat. " * 20)
    sizes: dict[str, Any] = {"hidden": 256, "embedding": 8, "window": 8, "batch_size": 2, "threads": 1}
    run = api.train(tmp_path / "my.txt", arch="rnn", steps=40, sample_tokens=0, out=tmp_path / "r", **sizes)
    rate = default_dropout(40, run.config["parameters"]["total"], 432)
    assert rate > 0 and rates(run.settings) == (rate, rate, 0.0)
    assert f"dropout {rate:g}: " in capsys.readouterr().err
