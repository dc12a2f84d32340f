"""A recipe's models one after another: trained, resumed, measured once, recorded; and the page made of the records."""

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqlab import recipes
from seqlab.comparison.results import read_comparison, write_comparison
from seqlab.errors import MissingInput, UsageError
from seqlab.registry import MEASURES
from seqlab.runs.directory import RunDirectory
from seqlab.studies import run as study
from seqlab.studies.page import write_page
from seqlab.studies.record import read_records, spread
from seqlab.studies.run import run_recipe
from seqlab.studies.seeds import differences

RECIPE = """
about = "two small models, for trying out"
measures = ["temperatures", "closing", "carried"]
shows = ["attention-scaling"]
notes = [
  "one has {one.core} core parameters and ends at {one.result.nats_per_token:.2f}",
  "at step 4 the other had {the_other.losses.at_4:.2f}",
  "this needs {nobody.total}",
]

[writing]
prompt = "the "
temperatures = [0.5]

[corpus]
source = ["toy-words"]

[backbone]
hidden = 8

[model]
embedding = 4

[task]
batch = 4
window = 16

[train]
steps = 4
evaluate_every = 2
sample = 5
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

LABELS = """
about = "two classifiers, for trying out"
measures = ["test"]

[corpus]
source = ["adding"]
difficulty = 4

[train]
steps = 6
threads = 1

[models.small]
backbone = { name = "gru", hidden = 4 }

[models.large]
backbone = { name = "gru", hidden = 8 }
"""

PAIRS = """
about = "two translators, for trying out"
measures = ["test", "by-length"]

[corpus]
source = ["copy"]
difficulty = 12

[task]
name = "translate"
longest_target = 12

[train]
steps = 40
lr = 1e-2
threads = 1

[models.one]
backbone = { name = "gru", hidden = 32 }

[models.other]
backbone = { name = "gru", hidden = 4 }
task = { attention = "none" }
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of recipes that are known, in a folder to work in."""
    (tmp_path / "recipes").mkdir()
    for name, content in {"small": RECIPE, "labels": LABELS, "pairs": PAIRS}.items():
        (tmp_path / "recipes" / f"{name}.toml").write_text(content)
    monkeypatch.setattr(recipes, "FOLDER", tmp_path / "recipes")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def recipe() -> str:
    return "small"


def test_all_models_are_trained_measured_and_recorded(recipe: str, tmp_path: Path) -> None:
    done = list(run_recipe(recipe))
    assert [one.model for one in done] == ["one", "the-other", "attention-scaling"]
    assert (tmp_path / "runs/small/one-0/model.safetensors").is_file()
    record = json.loads((tmp_path / "runs/small/small-the-other-0.json").read_text())
    assert record["arch"] == "lstm"
    assert record["settings"]["train"]["lr"] == 1e-3
    assert set(record["measures"]) == {"temperatures", "closing", "carried"}
    assert [one["step"] for one in record["evaluations"]] == [2, 4]
    assert [one["step"] for one in record["samples"]] == [2, 4]
    assert record["results"]["steps"] == 4
    assert (tmp_path / "runs/small/attention-scaling.png").is_file()


def test_what_is_there_is_not_done_twice(recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = list(run_recipe(recipe))
    files = {one.record: one.record.read_bytes() for one in first}

    def unwanted(*arguments: Any, **options: Any) -> None:
        raise AssertionError("trained or measured again")

    monkeypatch.setattr(study.api, "train", unwanted)
    monkeypatch.setattr(MEASURES, "load", unwanted)
    again = list(run_recipe(recipe))
    assert {one.record: one.record.read_bytes() for one in again} == files
    assert all(not one.measures for one in again)


def test_a_run_that_was_stopped_goes_on(recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from seqlab.training.loop import Trainer

    whole = next(run_recipe(recipe, out=tmp_path / "whole"))
    evaluate, calls = Trainer._evaluate, []  # pyright: ignore[reportPrivateUsage]

    def stopping(trainer: Trainer, log: Any) -> None:
        calls.append(trainer.progress.step)
        if len(calls) == 2:
            raise KeyboardInterrupt
        evaluate(trainer, log)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Trainer, "_evaluate", stopping)
        list(run_recipe(recipe, out=tmp_path / "stopped"))
    resumed = next(run_recipe(recipe, out=tmp_path / "stopped"))
    assert whole.run and resumed.run and whole.run.results and resumed.run.results
    assert resumed.run.results.validation == whole.run.results.validation
    assert calls == [2, 4]


def test_other_settings_are_refused_with_the_difference(recipe: str) -> None:
    list(run_recipe(recipe))
    with pytest.raises(UsageError, match=r"train\.lr was .*, not 0\.5"):
        list(run_recipe(recipe, lr=0.5))
    with pytest.raises(UsageError, match=r"the budget was \{'steps': 4\}, not \{'steps': 6\}"):
        list(run_recipe(recipe, steps=6))


def test_another_seed_is_another_run(recipe: str, tmp_path: Path) -> None:
    list(run_recipe(recipe))
    list(run_recipe(recipe, seed=3))
    assert RunDirectory(tmp_path / "runs/small/one-3").is_run()
    page = write_page(tmp_path / "runs/small", tmp_path / "page.md").read_text()
    assert "one, seed 3" in page
    assert "Seeds: 0, 3." in page


def test_records_go_to_the_repository_where_there_is_one(recipe: str, tmp_path: Path) -> None:
    (tmp_path / "docs/results").mkdir(parents=True)
    list(run_recipe(recipe))
    names = [path.name for path in sorted((tmp_path / "docs/results").glob("*.json"))]
    assert names == ["small-attention-scaling-0.json", "small-one-0.json", "small-the-other-0.json"]


def test_the_page(recipe: str, tmp_path: Path) -> None:
    list(run_recipe(recipe, results=tmp_path / "docs/results"))
    path = write_page(tmp_path / "docs/results", tmp_path / "docs/results.md")
    page = path.read_text()
    records = {record.model: record for record in read_records(tmp_path / "docs/results")}
    one = records["one"]
    loss = one.results["validation"]["nats_per_token"]
    assert f"| loss | {loss:.4f} |" in page
    assert "| epoch | training loss | study | validation loss | study | perplexity | study |" in page
    trained, validated = (one.evaluations[1][key] for key in ("train_loss", "validation_loss"))
    assert f"| 2 | {trained:.4f} | 2.9000 | {validated:.4f} | 2.8000 | {math.exp(validated):.2f} | 16.40 |" in page
    assert f"- one has {one.parameters['core']} core parameters and ends at {loss:.2f}" in page
    assert f"- at step 4 the other had {records['the-other'].evaluations[1]['validation_loss']:.2f}" in page
    assert "nobody" not in page
    assert "| step | one | the-other |" in page
    for picture in ("results/small.png", "results/attention-scaling.png"):
        assert f"({picture})" in page
        assert (tmp_path / "docs" / picture).stat().st_size > 1000
    assert page == write_page(tmp_path / "docs/results", tmp_path / "docs/results.md").read_text()


def test_a_comparison_that_has_a_folder_is_on_the_page(recipe: str, tmp_path: Path) -> None:
    folder = tmp_path / "docs/results/comparisons/mine"
    folder.mkdir(parents=True)
    list(run_recipe(recipe, results=folder.parents[1]))
    done = read_comparison(Path(__file__).parents[2] / "docs/comparison")
    write_comparison(done, folder)
    page = write_page(folder.parents[1], tmp_path / "docs/results.md").read_text()
    part = page.partition("## mine\n")[2]
    assert done.command in part
    assert all(f"| {entrant.name} |" in part for entrant in done.entrants)
    assert all(f"- {pair.sentence}\n" in part for pair in done.pairs)


def test_a_page_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="no records"):
        write_page(tmp_path, tmp_path / "page.md")


def test_a_few_evenly_spread() -> None:
    assert spread(list(range(1, 21))) == [5, 10, 15, 20]
    assert spread([1, 2]) == [1, 2]
    assert spread([]) == []


def test_every_measure_that_is_registered_is_there() -> None:
    for name in MEASURES:
        assert callable(MEASURES.load(name))


def test_several_seeds_have_a_mean_with_its_interval_and_differences(tmp_path: Path) -> None:
    for seed in (0, 1):
        list(run_recipe("labels", seed=seed))
    records = read_records(tmp_path / "runs/labels")
    page = write_page(tmp_path / "runs/labels", tmp_path / "page.md").read_text()
    reached = [one.measures["test"]["data"]["figures"]["accuracy"] for one in records if one.model == "small"]
    assert len(reached) == 2
    assert "On the test part, accuracy, %:" in page
    assert f"| small | 2 | {sum(reached) / 2:.2f} | " in page
    assert "| large above small | " in page


def test_p_of_several_pairs_is_adjusted_for_how_many_they_are() -> None:
    random = np.random.default_rng(0)

    def runs(share: float) -> np.ndarray:
        return np.stack([random.random((3, 60)) < share, np.ones((3, 60))], -1).astype(float)

    models = {"a": runs(0.5), "b": runs(0.6), "c": runs(0.72)}
    metric = "accuracy, %"
    together = {pair: float(p) for pair, _, _, p in differences(metric, models)}
    alone = [
        float(differences(metric, {one: models[one] for one in pair})[0][-1])
        for pair in itertools.combinations("abc", 2)
    ]
    smallest, middle, largest = sorted(alone)
    assert smallest > 0.001 and largest < 1
    expected = sorted({3 * smallest, max(3 * smallest, 2 * middle), max(3 * smallest, 2 * middle, largest)})
    assert sorted(set(together.values())) == pytest.approx([min(1.0, p) for p in expected], abs=0.003)


def test_models_that_were_scored_by_length_stand_in_one_picture(tmp_path: Path) -> None:
    list(run_recipe("pairs"))
    records = {record.model: record for record in read_records(tmp_path / "runs/pairs")}
    page = write_page(tmp_path / "runs/pairs", tmp_path / "page.md").read_text()
    assert "(runs/pairs/pairs-by-length.png)" in page
    assert (tmp_path / "runs/pairs/pairs-by-length.png").stat().st_size > 5000
    for record in records.values():
        found = record.measures["by-length"]["data"]
        assert found["metric"] == "exact, %" and sum(count for _, _, count, _ in found["bins"]) == 1000
        whole = record.measures["test"]["data"]["figures"]["exact"]
        assert sum(count * value for _, _, count, value in found["bins"]) / 1000 == pytest.approx(whole)
