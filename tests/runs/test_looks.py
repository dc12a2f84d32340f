"""How often a test split was looked at is counted, in the folder of a comparison and beside it."""

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from example_files import write_examples

from seqlab import api
from seqlab.data.examples.example import Examples, LabeledText
from seqlab.errors import DataError, SeqlabWarning
from seqlab.runs.directory import LOOKS
from seqlab.runs.looks import describe_looks, looks_at, read_looks, record_comparison, record_evaluation
from seqlab.runs.origins import split_fingerprint
from seqlab.training.progress import Reporter

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
    record_evaluation(run, PART)
    record_evaluation(run, PART)
    assert not (run / LOOKS).exists()
    beside = comparison.parent / "d"
    beside.mkdir()
    assert len(record_comparison(beside, DATA)) == 4
    assert describe_looks(looks_at(run, PART)) == "2 comparisons (c, d) and 2 evaluations (gru-s0 2 times)"
    assert len(read_looks(comparison)) == 3
    alone = comparison.parent / "alone"
    alone.mkdir()
    record_evaluation(alone, split_fingerprint(OTHER, "test"))
    assert len(looks_at(alone, PART)) == 4  # another test split counts for itself
    assert describe_looks([]) == "nothing"


@pytest.mark.parametrize(
    ("task", "settings"), [("language", {}), ("language", {"documents": "lines"}), ("classify", {}), ("tag", {})]
)
def test_a_test_file_given_by_its_own_name_is_looked_at_too(task: str, settings: Any, tmp_path: Path) -> None:
    """Also a copy of it in another place, but no other text."""
    if task == "language":
        given = tmp_path / "my.txt"
        given.write_text("".join(f"the cat saw n{number} of them.\n\n" for number in range(60)), encoding="utf-8")
    else:
        given = write_examples(task, tmp_path)
    test, copy, other = (given.with_stem(name) for name in ("test", "copy", "other"))
    for path, letter in ((test, "m"), (copy, "m"), (other, "o")):
        path.write_text(re.sub(r"n(\d+)", rf"{letter}\1", given.read_text(encoding="utf-8")), encoding="utf-8")
    sizes = {"hidden": 8, "embedding": 8, "batch_size": 4, "threads": 1, "steps": 2}
    run = api.train(given, out=tmp_path / "run", reporter=Reporter(), task=task, test=test, **sizes, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeqlabWarning)  # notes on the files
        run.evaluate(split="test")
        for data, looks in ((test, 2), (copy, 3), (other, 3)):
            run.evaluate(data)
            assert len(looks_at(run.path, split_fingerprint(run.dataset().data, "test"))) == looks
    assert len(read_looks(run.path)) == 3


def test_what_was_changed_is_not_believed(comparison: Path) -> None:
    record_comparison(comparison, DATA)
    path = comparison / LOOKS
    path.write_text(path.read_text().replace('"c"', '"b"'))
    with pytest.raises(DataError, match="line 1 was changed"):
        read_looks(comparison)
    for content in ("not JSON\n", "[]\n", json.dumps({"kind": 1}) + "\n"):
        path.write_text(content)
        with pytest.raises(DataError):
            looks_at(comparison, PART)


def test_a_folder_that_cannot_be_written_to_is_said(comparison: Path) -> None:
    (comparison / LOOKS).mkdir()
    with pytest.warns(SeqlabWarning, match="this look at the test split is not counted: "):
        record_evaluation(comparison / "runs" / "gru-s0", PART)
