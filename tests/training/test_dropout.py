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
    ("passes", "parameters", "rate"),
    [
        (10, 420_000, 0.0),  # a megabyte
        (40, 420_000, 0.15),  # 200 KB
        (91, 420_000, 0.35),  # 50 KB
        (5, 420_000, 0.0),  # a few passes memorize nothing
        (91, 25_000, 0.0),  # nor does a small model
        (10**6, 10**8, MAX_RATE),
    ],
)
def test_the_rate(passes: float, parameters: int, rate: float) -> None:
    assert default_dropout(passes, parameters) == rate


def test_the_rate_rises_with_passes_and_parameters() -> None:
    result = [default_dropout(80, 100_000 * factor) for factor in range(1, 60)]
    assert result[0] == 0 and result[-1] == MAX_RATE and result == sorted(result)
    assert default_dropout(40, 800_000) == default_dropout(400, 80_000) == default_dropout(4, 8_000_000) == 0.3
    assert default_dropout(1, round(HARMLESS)) == 0


def test_it_stands_where_it_acts() -> None:
    """A single recurrent layer has no place between layers; a Transformer has one in every sublayer."""
    assert rates(with_default_dropout(settings_of("lstm"), SIZES, 11)) == (0.35, 0.35, 0.0)
    assert rates(with_default_dropout(settings_of("lstm", backbone={"layers": 2}), SIZES, 11)) == (0.5, 0.5, 0.5)
    assert rates(with_default_dropout(settings_of("transformer"), SIZES, 11)) == (0.25, 0.25, 0.25)
    assert rates(with_default_dropout(settings_of("feedforward"), SIZES, 11)) == (0.25, 0.25, None)


@pytest.mark.parametrize("key", ["model.embedding_dropout", "model.output_dropout", "backbone.dropout"])
def test_who_sets_one_rate_sets_all(key: str) -> None:
    given = settings_of("transformer").with_values(**{key: 0.0})
    assert rates(with_default_dropout(given, SIZES, 11)) == (0.0, 0.0, 0.0)
    given = given.with_values(**{key: 0.25})
    assert sorted(rates(with_default_dropout(given, SIZES, 11))) == [0.0, 0.0, 0.25]


def test_examples_keep_the_rates_of_their_task() -> None:
    given = settings_of("lstm", task={"name": "classify"})
    assert with_default_dropout(given, SIZES, 2) is given and given.model.embedding_dropout == 0.3


def test_a_run_stores_and_says_its_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my.txt").write_text("the cat sat on the mat. " * 20)
    sizes: dict[str, Any] = {"hidden": 1024, "embedding": 8, "window": 8, "batch_size": 16, "threads": 1}
    run = api.train(tmp_path / "my.txt", arch="rnn", steps=40, sample_tokens=0, out=tmp_path / "r", **sizes)
    rate = default_dropout(40 * 16 * 8 / 432, run.config["parameters"]["total"])
    assert rate > 0 and rates(run.settings) == (rate, rate, 0.0)
    assert f"dropout {rate:g}: " in capsys.readouterr().err
