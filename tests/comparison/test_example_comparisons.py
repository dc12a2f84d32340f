"""Comparisons on labelled examples: the metric of the task, examples as units, floors, a verdict and a report."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_files import write_examples
from small_comparisons import compared

from seqlab.comparison.compare import Comparison
from seqlab.comparison.judgment.merge import merge
from seqlab.comparison.report import write_report

METRIC = {"classify": "accuracy, %", "tag": "entity F1, %", "translate": "BLEU", "embed": "nDCG@10"}


@pytest.fixture(scope="module", params=METRIC)
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, workers_in_process: None
) -> tuple[str, Comparison]:
    task: str = request.param
    folder = tmp_path_factory.mktemp(task)
    options: dict[str, Any] = {"archs": "rnn,gru", "seeds": 2, "match": "params=12000", "budget": "steps=6", "tune": 0}
    options |= {"settings": {"task.beam": 1, "tokenizer.vocab_size": 300}} if task == "translate" else {}
    options |= {"task": "embed"} if task == "embed" else {}  # which no file names
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQLAB_CACHE", str(folder / "cache"))
        source = str(write_examples(task, folder))
        return task, compared(folder / "comparison", source, batch_size=8, embedding=8, jobs=1, **options)


def test_it_is_judged_by_the_metric_of_its_task(made: tuple[str, Comparison]) -> None:
    name, done = made
    results = done.results
    assert results.metric.label == METRIC[name] and not results.metric.lower_is_better
    value = results.metric.value
    test = results.corpus["examples"]["test"]
    for run in results.runs:
        sums_UK = np.array(run.sums)
        assert len(sums_UK) == test == results.protocol["examples"]
        assert run.value == pytest.approx(float(value(sums_UK.sum(0))))
        assert run.metrics and run.loss_by_position == []
    for baseline in results.baselines:
        assert len(baseline.sums or []) == test
    assert len(results.pairs) == 1 and results.pairs[0].units <= test
    assert {pair.a for pair in results.baseline_pairs} | {pair.b for pair in results.baseline_pairs} >= {"rnn", "gru"}


@pytest.mark.filterwarnings("ignore:1 of 1 translations were cut off:seqlab.errors.SeqlabWarning")
def test_the_audits_are_green_and_the_best_is_ready_to_use(made: tuple[str, Comparison]) -> None:
    _, done = made
    assert [check for audited in done.results.audits for check in audited.checks if check.failed] == []
    best = done.best
    if best.settings.task.name == "embed":
        assert best.embed(["old fish"]).shape == (1, 8)
    else:
        assert best.predict(["old fish"])[0].text == "old fish"
    assert done.results.samples == [] and done.results.memorization == []


def test_table_and_report_speak_of_examples(made: tuple[str, Comparison], tmp_path: Path) -> None:
    _, done = made
    assert done.results.metric.label in done.table() and "bits/char" not in done.table()
    write_report(done.results, tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert done.results.metric.label.split(",")[0] in page and "position in the window" not in page


def test_seeds_can_be_put_together(made: tuple[str, Comparison]) -> None:
    """Judged by the metric of the task again, from the sums that the results hold."""
    results = made[1].results
    halves = [replace(results, runs=[run for run in results.runs if run.seed == seed]) for seed in (0, 1)]
    both = merge(halves, ["a", "b"])
    assert both.pairs[0].difference == pytest.approx(results.pairs[0].difference)
    assert (both.pairs[0].low, both.pairs[0].high) == pytest.approx((results.pairs[0].low, results.pairs[0].high))


def test_they_are_of_equal_size(made: tuple[str, Comparison]) -> None:
    _, done = made
    for entrant in done.results.entrants:
        assert entrant.core_parameters == pytest.approx(12_000, rel=0.1)
