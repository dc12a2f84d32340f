"""A recipe is a comparison with measures: all models are trained, measured once, and shown in the report."""

import json
from pathlib import Path
from typing import Any

import pytest

from seqlab import recipes
from seqlab.api import compare
from seqlab.comparison.compare import Comparison
from seqlab.comparison.execution import measuring
from seqlab.comparison.execution.progress import ProgressView
from seqlab.comparison.records.overview import record_comparison, write_pages
from seqlab.measures.measurement import MeasureContext
from seqlab.registry import MEASURES

RECIPE = """
about = "two small models, for trying out"
measures = ["temperatures", "alignment"]
shows = ["attention-scaling"]

[findings]
question = "Which is better?"
answer = "one ends at {one.loss:.2f}, the other at {the_other.loss:.2f}."
claim = "Nothing."
holds = "{lead.one.the_other:+.3f}"
notes = ["one has {one.core} core parameters", "this needs {nobody.total}"]

[comparison]
seeds = 1

[writing]
prompt = "the "
temperatures = [0.5]

[corpus]
source = ["toy-words"]
split_ratios = "90/10"

[backbone]
hidden = 8

[model]
embedding = 4

[task]
batch_size = 4
window = 16

[train]
steps = 4
warmup = 3
evaluate_every = 2
sample_tokens = 5
threads = 1

[models.one]
backbone = { name = "gru" }

[models.the-other]
backbone = { name = "lstm" }
train = { lr = 1e-3 }

[reference.one]
train = [3.0, 2.9]
validation = [2.9, 2.8]
perplexity = [18.2, 16.4]
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, workers_in_process: None) -> Comparison:
    folder = tmp_path_factory.mktemp("recipes")
    (folder / "small.toml").write_text(RECIPE)
    (folder / "shown.toml").write_text('about = "nothing is trained"\nshows = ["attention-scaling"]\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQLAB_CACHE", str(folder / "cache"))
        patch.setattr(recipes, "FOLDER", folder)
        return compare(recipe="small", out=folder / "c", view=ProgressView())


@pytest.fixture
def known(done: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipes, "FOLDER", done.directory.parent)


def test_every_run_is_measured_and_a_failure_is_said(done: Comparison) -> None:
    assert [(run.name, run.seed) for run in done.results.runs] == [("one", 0), ("the-other", 0)]
    for run in done.results.runs:
        assert run.measures["temperatures"].data["texts"]["0.5"] in run.measures["temperatures"].text
        assert run.measures["alignment"].failure
        assert [point["step"] for point in run.curve] == [2, 4]
        assert [sample["step"] for sample in run.samples] == [2, 4]
    assert sum("alignment could not be measured" in warning for warning in done.results.warnings) == 2
    (show,) = done.results.shows.values()
    assert (done.directory / show.figures[0]).is_file()


def test_a_recipe_keeps_its_own_training(done: Comparison) -> None:
    entrant = done.results.entrant("the-other")
    assert entrant.settings["train"]["lr"] == 1e-3 and entrant.settings["train"]["warmup"] == 3
    assert done.results.protocol["scored_split"] == "validation"


def test_the_report_shows_measures_and_pictures(done: Comparison) -> None:
    page = (done.directory / "report.html").read_text()
    assert "<h3>temperatures</h3>" in page and "temperature 0.5" in page
    assert 'src="data:image/png;base64,' in page and "Not measured" in page


def test_nothing_is_done_twice(done: Comparison, known: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted(*arguments: Any) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr(MEASURES, "load", unwanted)
    (done.directory / "results.json").unlink()
    again = compare(recipe="small", out=done.directory, view=ProgressView())
    assert again.results.runs == done.results.runs and again.results.shows == done.results.shows


def test_a_recipe_without_models_shows_what_it_has(done: Comparison, known: None, tmp_path: Path) -> None:
    shown = compare(recipe="shown", out=tmp_path / "shown", view=ProgressView())
    assert not shown.results.entrants and "entropy raw" in shown.results.shows["attention-scaling"].text
    assert "entropy raw" in (tmp_path / "shown/report.html").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shown"], "nothing is written outside --out"


def test_a_measure_of_another_package_may_fail_in_any_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(context: MeasureContext) -> None:
        raise ZeroDivisionError("of its own")

    monkeypatch.setattr(MEASURES, "load", lambda name: broken)
    recipe = recipes.Recipe("mine", "", {}, shows=("attention-scaling",))
    said: list[str] = []
    (result,) = measuring.run_shows(recipe, tmp_path, said.append).values()
    assert result.failure == "ZeroDivisionError: of its own" and "of its own" in said[-1]


def test_a_recorded_recipe_has_its_pages(done: Comparison, known: None, tmp_path: Path) -> None:
    record = record_comparison(done.directory, tmp_path / "results", tmp_path / "docs")
    assert record.name == "small.json" and "sums" not in json.loads(record.read_text())["runs"][0]
    write_pages(tmp_path / "results", tmp_path / "docs")
    overview, study = ((tmp_path / "docs" / name).read_text() for name in ("results.md", "results/small.md"))
    loss = done.results.runs[0].metrics["nats_per_token"]
    assert "**Which is better?**" in overview and f"one ends at {loss:.2f}" in overview
    assert "`seqlab compare --recipe small`" in overview
    assert "core parameters" in study and "nobody" not in study
    assert "### one, epoch by epoch, beside the study" in study and "| 2 |" in study
    assert "temperature 0.5" in study and "(attention-scaling.png)" in study.replace("small-", "")
