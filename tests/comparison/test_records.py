"""The records of the repository: small, complete, and the source of every page of results."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from comparison_cases import realistic

from seqlab.comparison.judgment.verdicts import judge_pairs
from seqlab.comparison.records.overview import write_pages
from seqlab.comparison.records.record import add_record, read_records
from seqlab.comparison.report.table import markdown
from seqlab.errors import DataError, MissingInput
from seqlab.recipes import find_recipe, recipes

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "results"


def test_all_records_together_are_small() -> None:
    sizes = [path.stat().st_size for path in RECORDS.iterdir()]
    assert sum(sizes) <= 18_000 * len(sizes)  # a study more may add a page of numbers


def test_every_record_says_where_it_comes_from() -> None:
    for name, results in read_records(RECORDS).items():
        assert results.commit and results.command and results.date and results.machine and results.versions, name
        assert [run.value for run in results.runs] == pytest.approx(
            [float(results.metric.value(np.sum(run.sums, 0))) for run in results.runs], rel=1e-4
        ), name


def test_the_verdicts_follow_from_the_stored_sums() -> None:
    for name, results in read_records(RECORDS).items():
        again = judge_pairs(results.entrants, results.runs, results.metric)
        assert [(pair.a, pair.b, pair.verdict) for pair in again] == [
            (pair.a, pair.b, pair.verdict) for pair in results.pairs
        ], name


def test_the_pages_are_written_from_the_records(tmp_path: Path) -> None:
    (tmp_path / "docs/results").mkdir(parents=True)
    for picture in (ROOT / "docs/results").glob("*.png"):
        (tmp_path / "docs/results" / picture.name).write_bytes(picture.read_bytes())
    (tmp_path / "results").symlink_to(RECORDS)
    for path in write_pages(tmp_path / "results", tmp_path / "docs"):
        kept = ROOT / path.relative_to(tmp_path)
        assert path.read_text() == kept.read_text(), f"{kept.name} is not what 'seqlab results' writes"


def test_the_example_of_a_comparison_is_written_from_its_record() -> None:
    example = read_records(RECORDS)["tiny-shakespeare"]
    assert markdown(example) == (ROOT / "docs/comparison/table.md").read_text()


def test_every_recipe_with_a_question_has_a_record() -> None:
    asked = {name for name in recipes() if find_recipe(name).findings.question}
    assert asked <= set(read_records(RECORDS))


def test_a_record_keeps_what_the_pages_show(tmp_path: Path) -> None:
    results = realistic()
    add_record(tmp_path, "mine", results)
    add_record(tmp_path, "other", replace(results, command="other"))
    read = read_records(tmp_path)["mine"]
    assert [entrant.settings for entrant in read.entrants] == [entrant.settings for entrant in results.entrants]
    for before, after in zip(results.runs, read.runs, strict=True):
        assert np.array(after.sums) == pytest.approx(np.array(before.sums), rel=1e-6)
        assert after.loss_by_position == pytest.approx(before.loss_by_position, abs=6e-4)
        assert after.curve[-1]["step"] == before.curve[-1]["step"] and len(after.curve) <= 20
    assert [pair.sentence for pair in read.pairs] == [pair.sentence for pair in results.pairs]
    assert [baseline.sums is None for baseline in read.baselines] == [
        baseline.sums is None for baseline in results.baselines
    ]
    first = (tmp_path / "mine.json").read_bytes(), (tmp_path / "sums.safetensors.xz").read_bytes()
    add_record(tmp_path, "mine", results)
    assert ((tmp_path / "mine.json").read_bytes(), (tmp_path / "sums.safetensors.xz").read_bytes()) == first


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="no records"):
        read_records(tmp_path)
    add_record(tmp_path, "mine", realistic())
    (tmp_path / "sums.safetensors.xz").unlink()
    with pytest.raises(DataError, match="lacks sums"):
        read_records(tmp_path)
    (tmp_path / "mine.json").write_text('{"runs": 3}')
    with pytest.raises(DataError):
        read_records(tmp_path)
