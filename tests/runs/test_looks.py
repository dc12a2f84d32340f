"""How often a test split was looked at is counted, in the folder of a comparison and beside it."""

import json
from pathlib import Path

import pytest

from seqlab.data.examples.example import Examples, LabeledText
from seqlab.errors import DataError, SeqlabWarning
from seqlab.runs.looks import NAME, describe_looks, looks_at, read_looks, record_comparison, record_evaluation
from seqlab.runs.origins import split_fingerprint

DATA = Examples(
    "set", {split: [LabeledText(f"{split} text", "a")] for split in ("train", "validation", "test")}, "rule"
)
OTHER = Examples("other", {**DATA.splits, "test": [LabeledText("another text", "a")]}, "rule")
PART = split_fingerprint(DATA, "test")


@pytest.fixture
def comparison(tmp_path: Path) -> Path:
    (tmp_path / "c" / "runs" / "gru-s0").mkdir(parents=True)
    (tmp_path / "c" / "plan.json").write_text("{}")
    return tmp_path / "c"


def test_comparisons_and_evaluations_are_counted(comparison: Path) -> None:
    assert len(record_comparison(comparison, DATA)) == 1
    assert len(record_comparison(comparison, DATA)) == 1  # resumed: no second look
    run = comparison / "runs" / "gru-s0"
    record_evaluation(run, DATA)
    record_evaluation(run, DATA)
    assert not (run / NAME).exists()
    beside = comparison.parent / "d"
    beside.mkdir()
    assert len(record_comparison(beside, DATA)) == 4
    assert describe_looks(looks_at(run, PART)) == "2 comparisons (c, d) and 2 evaluations (gru-s0 2 times)"
    assert len(read_looks(comparison)) == 3
    alone = comparison.parent / "alone"
    alone.mkdir()
    record_evaluation(alone, OTHER)
    assert len(looks_at(alone, PART)) == 4  # another test split counts for itself
    assert describe_looks([]) == "nothing"


def test_what_was_changed_is_not_believed(comparison: Path) -> None:
    record_comparison(comparison, DATA)
    path = comparison / NAME
    path.write_text(path.read_text().replace('"c"', '"b"'))
    with pytest.raises(DataError, match="line 1 was changed"):
        read_looks(comparison)
    for content in ("not JSON\n", "[]\n", json.dumps({"kind": 1}) + "\n"):
        path.write_text(content)
        with pytest.raises(DataError):
            looks_at(comparison, PART)


def test_a_folder_that_cannot_be_written_to_is_said(comparison: Path) -> None:
    (comparison / NAME).mkdir()
    with pytest.warns(SeqlabWarning, match="this look at the test split is not counted: "):
        record_evaluation(comparison / "runs" / "gru-s0", DATA)
