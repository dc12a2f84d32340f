"""Runs and comparisons on texts whose splits are files of their own."""

import random
import shlex
from pathlib import Path
from typing import Any

import pytest
from collection_files import write_collection

import seqlab
from seqlab.audit.audit import audit
from seqlab.comparison.plan.request import build_request
from seqlab.config import RunSettings
from seqlab.errors import DataError, MissingInput, UsageError
from seqlab.training.request import settings_from_request
from seqlab.typed_command import typed_command

TINY: dict[str, Any] = {"arch": "gru", "hidden": 8, "embedding": 8, "window": 16, "batch_size": 4, "steps": 4}
TINY |= {"evaluate_every": 4, "sample_tokens": 0, "threads": 1}

SPLITS = ("validation", "test")
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


@pytest.fixture
def wrapped(folder: Path, tmp_path: Path) -> Path:
    """Folders of splits below a folder that has nothing else, as an archive unpacks."""
    for split in ("train", "test"):
        (tmp_path / "unpacked" / "animals-1.0" / split).mkdir(parents=True)
        (folder / f"{split}.txt").rename(tmp_path / "unpacked" / "animals-1.0" / split / "part.txt")
    return tmp_path / "unpacked"


def test_a_folder_that_has_only_a_folder_is_read_as_that(wrapped: Path):
    said: list[str] = []
    inner = wrapped / "animals-1.0"
    corpus = settings_from_request(str(wrapped), {}, {}, {}, log=said.append).corpus
    assert (corpus.source, corpus.test) == ((str(inner / "train"),), (str(inner / "test"),))
    assert said[0] == f"{wrapped}: all that it has is in {inner}, which is read instead"
    assert said[1].startswith(f"{inner}: train: train, test: test")
    for split, name in {"train": "cats", "test": "dogs"}.items():
        (inner / split).rename(inner / name)
    corpus = settings_from_request(str(wrapped), {}, {}, {}, log=said.append).corpus
    assert corpus.source == (str(inner),)


def apart(said: list[str], source: Path) -> RunSettings:
    """What the command of a note reads."""
    words = shlex.split(said[0].partition("To keep them apart: ")[2])
    assert words[:2] == ["seqlab", "train"]
    given = {split: [words[at + 1] for at, word in enumerate(words) if word == f"--{split}"] for split in SPLITS}
    held_out = [*given["validation"], *given["test"]]
    files = [word for word in words[2:] if word.startswith(str(source)) and word not in held_out]
    assert "--split" not in words and "--split-ratios" not in words
    return settings_from_request(files, {}, {}, {key: value for key, value in given.items() if value})


def test_splits_that_are_joined_are_said_with_how_to_keep_them_apart(wrapped: Path, folder: Path, tmp_path: Path):
    inner, said = wrapped / "animals-1.0", list[str]()
    (wrapped / "README").write_text("what it is")
    settings_from_request(str(wrapped), {}, {}, {}, log=said.append)
    assert said[0].startswith(
        f"{wrapped}: read as one, although the names are those of splits: animals-1.0/train, animals-1.0/test. To keep"
    )
    corpus = apart(said, wrapped).corpus
    assert (corpus.source, corpus.test) == ((str(inner / "train"),), (str(inner / "test"),))
    (folder / "train.txt").write_text("cats and dogs\n" * 30)
    (folder / "test.txt").write_text("goats and dogs\n" * 30)
    for joins in ({"split": "scattered"}, {"split_ratios": "80/10/10"}, {"validation": str(tmp_path / "own.txt")}):
        said.clear()
        key, value = next(iter(joins.items()))
        with typed_command(["train", str(folder), f"--{key.replace('_', '-')}", value]):
            settings_from_request(str(folder), {}, {}, joins, log=said.append)
        assert "those of splits: train.txt, valid.txt, test.txt." in said[0]
        corpus = apart(said, folder).corpus
        assert (corpus.source, corpus.test) == ((str(folder / "train.txt"),), (str(folder / "test.txt"),))
        assert corpus.validation == (joins.get("validation", str(folder / "valid.txt")),)


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


@pytest.mark.parametrize("order", [("train", "valid", "test"), ("test", "train", "valid")])
def test_splits_that_are_named_one_by_one_are_said_in_any_order(folder: Path, order: tuple[str, ...]):
    files, said = [str(folder / f"{split}.txt") for split in order], list[str]()
    with typed_command(["train", *files, "--tokenizer", "word"]):
        corpus = settings_from_request(files, {}, {}, {}, log=said.append).corpus
    assert corpus.source == tuple(files)
    train, valid, test = (str(folder / f"{split}.txt") for split in ("train", "valid", "test"))
    assert said[0].startswith(f"read as one, although the names are those of splits: {train}, {valid}, {test}. To keep")
    command = shlex.join(["seqlab", "train", train, "--tokenizer", "word", "--validation", valid, "--test", test])
    assert said[0].endswith(f"To keep them apart: {command}")
    said.clear()
    apart = settings_from_request(train, {}, {}, {"validation": valid, "test": test}, log=said.append)
    assert apart.corpus.validation == (valid,) and not any("splits" in note for note in said)


def test_other_files_are_joined_without_that_note(folder: Path):
    said: list[str] = []
    for name in ("a.txt", "latest.txt"):
        (folder / name).write_text("cats and dogs\n" * 30)
    for names in (["a.txt", "latest.txt"], ["a.txt", "train.txt"], ["valid.txt", "test.txt"]):
        settings_from_request([str(folder / name) for name in names], {}, {}, {}, log=said.append)
    assert not any("splits" in note for note in said)


def test_judgments_of_a_collection_are_not_said_to_be_joined(tmp_path: Path) -> None:
    collection, said = write_collection(tmp_path / "beir"), list[str]()
    for task in ({}, {"task": "embed"}):
        settings_from_request(str(collection), {}, {}, task, log=said.append)
    assert not [note for note in said if "read as one" in note]
    settings_from_request(str(collection), {}, {}, {"task": "language"}, log=said.append)
    assert "read as one, although the names are those of splits: qrels/train.tsv, qrels/test.tsv" in said[-1]
