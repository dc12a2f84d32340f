"""Comparisons that agree are merged; otherwise the error names the difference."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from comparison_cases import realistic

from seqlab.comparison.judgment.merge import merge
from seqlab.comparison.report.clean import cleaned
from seqlab.comparison.report.page import page
from seqlab.comparison.results import Results
from seqlab.errors import UsageError

A, B = ("lstm", "gru"), ("rnn", "transformer")
SOURCES = ["runs/a", "runs/b"]


def test_two_halves_are_the_whole() -> None:
    """Verdicts are those of one comparison with all entrants, p adjusted for all pairs."""
    merged, whole = merge([realistic(names=A), realistic(names=B)], SOURCES), realistic()
    assert [entrant.name for entrant in merged.entrants] == [*A, *B]
    assert merged.pairs == whole.pairs and len(merged.pairs) == 6
    assert merged.baseline_pairs == whole.baseline_pairs and merged.recommendation == whole.recommendation
    assert {sample.name for sample in merged.samples} == {*A, *B}
    assert [copied.name for copied in merged.memorization].count("held-out text") == 1
    assert merged.baselines == whole.baselines and len(merged.audits) == 4 and len(merged.trials) == 12
    assert merged.plan["archs"] == [*A, *B] and merged.plan["budget"] == "steps=4000"
    assert merged.command.splitlines()[-1] == "seqlab report runs/a runs/b --out DIR"
    assert merged.best.name == "transformer"
    assert page(cleaned(merged)).count("<h2>") == page(cleaned(whole)).count("<h2>")


def test_more_seeds_of_the_same() -> None:
    first, second = realistic(seeds=2), realistic(seeds=1, first_seed=2)
    merged = merge([first, second], SOURCES)
    assert merged.pairs == realistic().pairs
    assert any("Two seeds" in text for text in first.warnings) and any("One seed" in text for text in second.warnings)
    assert not [text for text in merged.warnings if "seed" in text]
    assert merged.plan["seeds"] == [0, 1, 2]
    lowest = min(merged.runs_of(merged.best.name), key=lambda run: run.validation)
    assert (merged.best.seed, merged.best.path) == (lowest.seed, lowest.path)
    place = Path("runs/a" if lowest.seed < 2 else "runs/b").absolute() / "runs" / f"transformer-{lowest.seed}"
    assert lowest.path == place.as_posix()


def test_the_ledger_says_what_differs_between_them() -> None:
    other = realistic(names=B)
    equal = {**other.ledger.equal, "steps": "2,000", "reads": "left to right"}
    ledger = merge([realistic(names=A), replace(other, ledger=replace(other.ledger, equal=equal))], SOURCES).ledger
    assert ledger.unequal["steps"] == {"lstm": "4,000", "gru": "4,000", "rnn": "2,000", "transformer": "2,000"}
    assert set(ledger.unequal["width"]) == {*A, *B}
    assert set(ledger.unequal["reads"]) == {*B}, "what only one of them knows is not equal for all"
    assert ledger.equal["batch x window"] == "32 x 128" and "steps" not in ledger.equal


def test_what_is_not_equal_is_said() -> None:
    other = realistic(names=B)
    other = replace(other, machine="another machine", plan={**other.plan, "match": "params=100000", "tune": 9})
    merged = merge([realistic(names=A), other], SOURCES)
    said = "\n".join(merged.warnings)
    assert "params=500000 in runs/a, params=100000 in runs/b" in said
    assert "3 in runs/a, 9 in runs/b" in said and "different machines" in said
    assert merged.machine.endswith("; another machine")


def corpus(**changed: Any) -> Callable[[Results], Results]:
    return lambda results: replace(results, corpus={**results.corpus, **changed})


def protocol(**changed: Any) -> Callable[[Results], Results]:
    return lambda results: replace(results, protocol={**results.protocol, **changed})


def plan(**changed: Any) -> Callable[[Results], Results]:
    return lambda results: replace(results, plan={**results.plan, **changed})


def metric(**changed: Any) -> Callable[[Results], Results]:
    return lambda results: replace(results, metric=replace(results.metric, **changed))


def lower_baselines(results: Results) -> Results:
    return replace(results, baselines=[replace(baseline, value=baseline.value - 0.1) for baseline in results.baselines])


def fewer_units(results: Results) -> Results:
    return replace(results, runs=[replace(run, sums=run.sums[:-1]) for run in results.runs])


REFUSED: dict[str, tuple[Callable[[Results], Results], str]] = {
    "text": (corpus(name="moby-dick", fingerprint="0123456789ab"), r"tiny-shakespeare \(.*86c4e6aa9db7.*moby-dick"),
    "split": (corpus(split="90/10"), "split is 80/10/10 in one and 90/10"),
    "documents": (corpus(documents="lines"), "documents is missing in one and lines"),
    "tokenizer": (protocol(tokenizer="bpe"), "tokenizer is char in one and bpe"),
    "vocab_size": (protocol(vocab_size=66), "vocab_size is 65 in one and 66"),
    "scored split": (protocol(scored_split="validation"), "scored_split is test in one and validation"),
    "mode": (protocol(mode="carry"), "mode is window in one and carry"),
    "window": (protocol(window=64), "window is 128 in one and 64"),
    "metric": (metric(key="other"), "metric is .* in one and other"),
    "negligible": (metric(negligible=0.1), "negligible difference is 0.01 in one and 0.1"),
    "budget": (plan(budget="steps=8000"), "budget is steps=4000 in one and steps=8000"),
    "budget of another kind": (plan(budget="seconds=60"), "budget is steps=4000 in one and seconds=60"),
    "baselines": (lower_baselines, "value of unigram is 3.311 in one and 3.211"),
    "units": (fewer_units, "number of text units is 40 in one and 39"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_comparisons_that_differ_are_refused(case: str) -> None:
    change, said = REFUSED[case]
    with pytest.raises(UsageError, match=said) as caught:
        merge([realistic(names=A), change(realistic(names=B))], SOURCES)
    assert "'runs/a' and 'runs/b' must not be merged" in str(caught.value)


def test_the_same_text_under_another_name_is_the_same_text() -> None:
    merged = merge([realistic(names=A), corpus(name="input.txt")(realistic(names=B))], SOURCES)
    assert merged.pairs == realistic().pairs


def test_a_budget_that_was_left_open_is_what_came_of_it() -> None:
    left = plan(budget=None)
    assert merge([realistic(names=A), left(realistic(names=B))], SOURCES).pairs == realistic().pairs
    shorter = left(realistic(names=B))
    shorter = replace(shorter, runs=[replace(run, steps=900) for run in shorter.runs])
    with pytest.raises(UsageError, match="budget is steps=4000 in one and steps=900"):
        merge([left(realistic(names=A)), shorter], SOURCES)


def test_seconds_are_those_of_a_machine() -> None:
    timed = plan(budget="seconds=60")
    other = replace(timed(realistic(names=B)), machine="a faster one")
    with pytest.raises(UsageError, match="a faster one"):
        merge([timed(realistic(names=A)), other], SOURCES)


def test_one_name_is_one_model() -> None:
    other = realistic(seeds=1, first_seed=3)
    changed = [
        replace(entrant, settings={**entrant.settings, "backbone": {"layers": 4}}) if entrant.name == "gru" else entrant
        for entrant in other.entrants
    ]
    with pytest.raises(UsageError, match=r"'gru' is not the same model in 'runs/a' and 'runs/b'.*layers was 2, not 4"):
        merge([realistic(), replace(other, entrants=changed)], SOURCES)


@pytest.mark.parametrize("sources", [SOURCES, ["runs/a", "runs/a"]])
def test_a_run_counts_once(sources: list[str]) -> None:
    with pytest.raises(UsageError, match=f"lstm with seed 0 is in 'runs/a' and in '{sources[1]}'"):
        merge([realistic(), realistic()], sources)
