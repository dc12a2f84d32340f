"""results.json comes back as it was; the card says what is true."""

import math
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from runs_cases import metrics, results, trained

from seqlab import api
from seqlab.__main__ import main
from seqlab.errors import DataError
from seqlab.runs.curves import draw_curves
from seqlab.runs.directory import begin_run
from seqlab.runs.results import RunResults, read_results, write_results


@pytest.mark.parametrize(
    "given",
    [
        results(),
        results(baselines=[]),
        results(stop_reason='quotes " and \\ and \n and 日本'),
        results(validation=metrics(1e9, math.inf, 1e9, 1e9)),
    ],
    ids=["plain", "no floors", "odd text", "diverged"],
)
def test_results_come_back_as_they_were(given: RunResults, tmp_path: Path) -> None:
    directory = begin_run(tmp_path / "run", False)
    assert read_results(directory) is None  # not finished yet
    write_results(directory, given)
    assert read_results(directory) == given
    write_results(directory, replace(given, steps=99))
    assert read_results(directory) == replace(given, steps=99)


def test_results_that_were_changed_are_refused(tmp_path: Path) -> None:
    directory = begin_run(tmp_path / "run", False)
    write_results(directory, results())
    path = directory.path / "results.json"
    path.write_text(path.read_text().replace("1.5", "0.5"))
    with pytest.raises(DataError, match=r"results\.json"):
        read_results(directory)


def test_the_main_baseline_is_the_one_with_that_role() -> None:
    main = results().main_baseline
    assert main is not None and main.metrics["nats_per_token"] == 1.2
    assert results(baselines=results().baselines[:1]).main_baseline is None


def test_a_run_on_examples_is_judged_by_its_strongest_baseline() -> None:
    given = results().baselines
    copy = replace(given[0], name="copy", metrics=given[0].metrics | {"bits_per_char": 0.1})
    assert results(baselines=given, window=None).strongest_baseline == results().main_baseline
    assert results(baselines=[copy, *given], window=None).strongest_baseline == copy
    assert results(baselines=[copy, *given]).strongest_baseline == results().main_baseline, "of running text"


# --- the card -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> api.Run:
    folder = tmp_path_factory.mktemp("card")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQLAB_CACHE", str(folder / "cache"))
        patch.setattr("seqlab.training.finish.draw_curves", draw_curves)
        return trained(folder, evaluate_every=4)


@pytest.fixture
def card(run: api.Run) -> str:
    return (run.path / "README.md").read_text(encoding="utf-8")


def test_the_card_counts_parameters_as_the_model_does(run: api.Run, card: str) -> None:
    count = sum(parameter.numel() for parameter in run.model.parameters())
    parts = [int(number.replace(",", "")) for number in re.findall(r"(?:embedding|core|\noutput) ([\d,]+)", card)[:3]]
    assert f"{count:,} parameters" in card and sum(parts) == count


def test_the_card_says_what_it_was_trained_on(run: api.Run, card: str) -> None:
    text = Path(run.settings.corpus.source[0]).read_text()
    assert f"trained on {round(0.9 * len(text)):,} characters of `my`" in card, "not the held-out ones"
    assert run.config["corpus"]["fingerprint"] in card
    assert "12 steps" in card and f"of step {run.results.best_step}," in card  # pyright: ignore[reportOptionalMemberAccess]
    assert "because all steps are done" in card


def test_the_card_has_the_figures_that_an_evaluation_finds(run: api.Run, card: str) -> None:
    result = run.evaluate()
    values = [result.metrics[key] for key in ("nats_per_token", "perplexity", "bits_per_char", "bits_per_byte")]
    assert "| this model | {:.4f} | {:.2f} | {:.4f} | {:.4f} |".format(*values) in card
    assert run.results is not None and run.results.main_baseline is not None
    main = run.results.main_baseline
    assert main.name.startswith("kneser-ney")
    assert str(result) == run.results.sentence and f"{result}." in card
    assert str(result) == (
        f"as uncertain as a choice among {2 ** result.metrics['bits_per_char']:.1f} equally likely characters; "
        f"{main.name}: {2 ** main.metrics['bits_per_char']:.1f}"
    )
    assert f"{int(result.metrics['tokens']):,} tokens" in card
    for baseline in run.results.baselines:
        assert f"| {baseline.name} | {baseline.metrics['nats_per_token']:.4f} |" in card
        assert f"- {baseline.name}: {baseline.about}." in card
    assert f"Unknown tokens: {result.as_dict()['unknown_share']:.2%}." in card


def test_the_card_has_every_setting(run: api.Run, card: str) -> None:
    for section, values in run.settings.resolved().items():
        (line,) = (line for line in card.splitlines() if line.startswith(f"- {section}: "))
        assert all(f"{key} = {value}" in line for key, value in values.items())


def test_the_cards_commands_and_code_run(run: api.Run, card: str, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = [line for line in card.splitlines() if line.startswith("seqlab ")]
    assert len(commands) == 2
    for command in commands:
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit) as stop_reason:
            main()
        assert not stop_reason.value.code
    (code,) = re.findall(r"```python\n(.*?)```", card, flags=re.DOTALL)
    assert f"seqlab.load({str(run.path)!r})" in code
    compile(code, "card", "exec")
    assert (run.path / "curves.png").is_file()  # which the card shows
