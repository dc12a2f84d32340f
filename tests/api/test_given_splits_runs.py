"""Runs and comparisons on texts whose splits are files of their own."""

import random
from pathlib import Path
from typing import Any

import pytest

import seqlab
from seqlab.audit.audit import audit
from seqlab.comparison.plan.request import build_request
from seqlab.errors import DataError, MissingInput, UsageError

TINY: dict[str, Any] = {"arch": "gru", "hidden": 8, "embedding": 8, "window": 16, "batch_size": 4, "steps": 4}
TINY |= {"evaluate_every": 4, "sample_tokens": 0, "threads": 1}

WORDS = ["cats", "dogs", "and", "goats", "are", "here", "or", "not"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "animals"
    home.mkdir()
    draw = random.Random(0)
    for split, count in {"train": 300, "valid": 60, "test": 50}.items():
        lines = (" ".join(draw.choices(WORDS, k=5)) for _ in range(count))
        (home / f"{split}.txt").write_text("".join(f"{line}\n" for line in lines))
    return home


def named(folder: Path, **options: Any) -> dict[str, Any]:
    files = {"validation": str(folder / "valid.txt"), "test": str(folder / "test.txt")}
    return {"source": folder / "train.txt", **files, **TINY, **options}


@pytest.fixture
def run(folder: Path, tmp_path: Path) -> seqlab.Run:
    return seqlab.train(**named(folder), out=tmp_path / "run")


def test_each_split_is_scored_on_its_file(run: seqlab.Run, folder: Path):
    for split, file in (("train", "train"), ("validation", "valid"), ("test", "test")):
        assert run.text(split) == (folder / f"{file}.txt").read_text()
        whole = run.evaluate(folder / f"{file}.txt")
        assert run.evaluate(split=split).metrics == pytest.approx(whole.metrics)


def test_it_resumes_and_passes_its_audit(run: seqlab.Run):
    assert seqlab.resume(run, more=2).results is not None
    failed = [check.name for check in audit(run) if check.failed]
    assert not failed
    assert "validation and test from files" in (run.path / "README.md").read_text()


def test_a_changed_file_is_noticed(run: seqlab.Run, folder: Path):
    for changed in ("train", "valid", "test"):
        content = (folder / f"{changed}.txt").read_text()
        (folder / f"{changed}.txt").write_text("cats or dogs\n" * 20)
        with pytest.raises(DataError, match="no longer the text"):
            run.evaluate()
        (folder / f"{changed}.txt").write_text(content)


def test_a_folder_of_named_files_is_the_same_data_and_said(
    run: seqlab.Run, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (folder / "LICENSE").write_text("free")
    result = seqlab.train(folder, **TINY, out=tmp_path / "found")
    assert result.config["corpus"]["fingerprint"] == run.config["corpus"]["fingerprint"]
    said = capsys.readouterr().err
    assert "train: train.txt, validation: valid.txt, test: test.txt (not used: LICENSE)" in said


def test_a_missing_file_is_not_ignored(folder: Path):
    with pytest.raises(MissingInput, match=r"nothere\.txt"):
        seqlab.train(**{**named(folder), "validation": "nothere.txt"})


@pytest.mark.parametrize("option", [{"split_ratios": "80/10/10"}, {"split_ratios": "90/10"}, {"split": "scattered"}])
def test_shares_beside_files_are_refused(folder: Path, option: dict[str, str]):
    with pytest.raises(UsageError, match="given as files"):
        seqlab.train(**named(folder, **option))
    with pytest.raises(UsageError, match="test split is given as a file"):
        seqlab.train(folder / "train.txt", test=str(folder / "test.txt"), split_ratios="80/10/10", **TINY)


def test_a_comparison_takes_the_files(folder: Path):
    options = {"archs": "rnn,gru", "validation": str(folder / "valid.txt"), "test": str(folder / "test.txt")}
    for source, given in ((folder / "train.txt", options), (folder, {"archs": "rnn,gru"})):
        request = build_request(source, None, {}, given)
        for model in request.models.values():
            assert [Path(file).name for file in (*model.corpus.validation, *model.corpus.test)] == [
                "valid.txt",
                "test.txt",
            ]
    with pytest.raises(UsageError, match="given as files"):
        build_request(folder / "train.txt", None, {}, {**options, "split_ratios": "80/10/10"})


def test_another_source_does_not_keep_the_held_out_files_of_a_run(run: seqlab.Run, tmp_path: Path):
    other = tmp_path / "other.txt"
    other.write_text("cats are not in here\n" * 100)
    again = seqlab.train(other, like=run, steps=2, out=tmp_path / "again")
    assert again.settings.corpus.validation == again.settings.corpus.test == ()
