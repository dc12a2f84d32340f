"""A metric from outside is one function and one line: it reaches checkpoints, verdicts, tables and reports."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from example_files import write_examples
from small_comparisons import compared

from seqlab import api
from seqlab.comparison.compare import Comparison
from seqlab.comparison.report import write_report
from seqlab.comparison.results import read_comparison
from seqlab.errors import UsageError
from seqlab.metrics.example_metric import find_metric
from seqlab.registry.plugins import VARIABLE
from seqlab.runs.listing import list_runs

MODULE = '''
from seqlab.metrics.example_metric import metric


def letters(gold, predicted):
    """The share of leading letters that are right."""
    return sum(a == b for a, b in zip(gold, predicted)), len(gold)


@metric("wrong, points", lower_is_better=True, digits=3, negligible=0.5)
def wrong(gold, predicted):
    return float(gold != predicted)
'''


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("outside")
    (folder / "my_metrics.py").write_text(MODULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", str(folder))  # worker processes
        patch.setenv("SEQLAB_CACHE", str(folder / "cache"))
        patch.setenv(VARIABLE, "")
        yield folder
    sys.modules.pop("my_metrics", None)


@pytest.fixture(scope="module")
def done(outside: Path, workers_in_process: None) -> Comparison:
    source = str(write_examples("classify", outside))
    options = {"archs": "rnn,gru", "seeds": 2, "match": "params=12000", "budget": "steps=6", "tune": 0, "jobs": 1}
    return compared(outside / "runs", source, batch_size=8, embedding=8, metric="my_metrics:letters", **options)


def test_it_decides_the_verdicts(done: Comparison) -> None:
    results = done.results
    assert (results.metric.key, results.metric.label) == ("letters", "letters")
    for run in results.runs:
        assert run.value == pytest.approx(float(np.divide(*np.sum(run.sums, 0)))) == run.metrics["letters"]
    assert "letters" in results.pairs[0].sentence
    assert {baseline.name: baseline.role for baseline in results.baselines} == {
        "majority": "reference",
        "naive Bayes": "main",
    }
    assert len(results.baseline_pairs) == 2 and all("letters" in baseline.metrics for baseline in results.baselines)


def test_it_is_in_the_table_and_in_the_report(done: Comparison, tmp_path: Path) -> None:
    """Even where its code is gone: a results file describes its metric."""
    sys.modules.pop("my_metrics", None)
    results = read_comparison(done.directory)
    assert results.metric == done.results.metric
    write_report(results, tmp_path)
    page, table = ((tmp_path / name).read_text(encoding="utf-8") for name in ("report.html", "table.md"))
    assert "letters" in done.table()
    for text in (page, table):
        assert "letters" in text and "accuracy, %" in text
    assert "the share of leading letters that are right; higher is better" in table


def test_it_chooses_checkpoints_and_lists_runs(done: Comparison) -> None:
    (entry,) = [entry for entry in list_runs(done.directory.parent) if entry.value is not None][:1]
    assert entry.metric is not None and entry.metric.key == "letters"
    run = api.load(entry.path)
    assert run.results is not None and run.results.criterion == pytest.approx(-run.results.headline)
    assert run.results.sentence.startswith("letters ")
    logged = [json.loads(line) for line in (run.path / "metrics.jsonl").read_text().splitlines()]
    assert any("validation_letters" in line for line in logged)


def test_one_number_for_each_example_is_averaged(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "my_metrics:wrong")
    result = find_metric("my_metrics:wrong", "labels")
    assert result.description.label == "wrong, points" and result.description.lower_is_better
    sums_UK = result.sums(["a", "b", "c"], ["a", "x", "y"])
    assert float(result.description.value(sums_UK.sum(0))) == pytest.approx(2 / 3)
    assert result.description.cost(0.25) == 0.25


def test_it_has_to_be_named_by_the_user(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    with pytest.raises(UsageError, match="nothing here allows importing it"):
        find_metric("my_metrics:letters", "labels")


def test_a_metric_of_other_predictions_is_refused() -> None:
    with pytest.raises(UsageError, match=r"task\.metric=bleu scores texts, but this task predicts labels"):
        find_metric("bleu", "labels")
    with pytest.raises(UsageError, match="did you mean 'accuracy'"):
        find_metric("acuracy", "labels")
