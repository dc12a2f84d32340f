"""Folders named after labels, with a text in each file: read by request, and never joined without a word."""

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seqlab.cli.app import app
from seqlab.config import CorpusSettings
from seqlab.data.examples.class_folders import labels_of_folders
from seqlab.data.examples.example import LabeledText
from seqlab.data.examples.load import open_examples
from seqlab.errors import DataError, SeqlabWarning, UsageError
from seqlab.training.request import settings_from_request
from seqlab.typed_command import typed_command

TINY = ["--steps", "1", "--hidden", "8", "--embedding", "8", "--threads", "1", "--batch-size", "4"]


def fill(folder: Path, number: int, label: str, suffix: str = ".txt") -> None:
    (folder / label).mkdir(parents=True)
    for at in range(number):
        (folder / label / f"{at}{suffix}").write_text(f"{folder.name} text {at}\nthat is {label}\n")


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    for label in ("pos", "neg"):
        fill(tmp_path / "my reviews", 20, label)
    return tmp_path / "my reviews"


@pytest.fixture
def imdb(tmp_path: Path) -> Path:
    """In the layout of the data set: splits above labels, other files beside them, texts without a label."""
    for split in ("train", "test"):
        for label in ("pos", "neg"):
            fill(tmp_path / "imdb" / split, 15, label)
        (tmp_path / "imdb" / split / "labeledBow.feat").write_text("9 0:9\n")
    fill(tmp_path / "imdb" / "train", 5, "unsup")
    (tmp_path / "imdb" / "README").write_text("what it is")
    return tmp_path / "imdb"


def corpus(folder: Path, **settings: object) -> CorpusSettings:
    return CorpusSettings(source=(str(folder),), **settings)  # pyright: ignore[reportArgumentType]


def test_each_file_is_an_example_with_the_name_of_its_folder_as_label(reviews: Path) -> None:
    result = open_examples("labeled", corpus(reviews))
    read = {example for some in result.splits.values() for example in some}
    assert read == {
        LabeledText(f"my reviews text {at}\nthat is {label}", label) for at in range(20) for label in ("pos", "neg")
    }
    assert {split: len(some) for split, some in result.splits.items()} == {"train": 36, "validation": 4}
    assert (
        "each file in my reviews is an example, and the name of its folder the label: 'neg' (20), 'pos' (20)"
        in result.notes
    )


def test_without_a_task_they_are_joined_and_the_printed_command_classifies_them(reviews: Path, tmp_path: Path) -> None:
    said: list[str] = []
    with typed_command(["train", str(reviews), *TINY, "--window", "16", "--out", str(tmp_path / "run")]):
        settings = settings_from_request(str(reviews), {}, {}, {"window": 16}, log=said.append)
    assert settings.task.name == "language"
    start = (
        f"{reviews}: read as one running text. If the folders 'neg', 'pos' of '{reviews}' are the labels of the texts"
    )
    assert said[0].startswith(start)
    words = shlex.split(said[0].partition(" in them: ")[2])
    assert "--window" not in words  # which classifying refuses
    done = CliRunner().invoke(app, words[1:])
    assert done.exit_code == 0, done.output
    assert "36 training examples, 4 for validation" in done.output.replace("\n", " ")
    with pytest.warns(SeqlabWarning) as warned:
        again = CliRunner().invoke(app, ["evaluate", str(tmp_path / "run"), str(reviews)])
    assert any("each file in my reviews is an example" in str(one.message) for one in warned)
    assert again.exit_code == 0 and "40 examples" in " ".join(again.output.split()), again.output


def test_folders_of_splits_may_lie_above_those_of_labels(imdb: Path) -> None:
    said: list[str] = []
    settings = settings_from_request(str(imdb), {}, {}, {"task": "classify"}, log=said.append)
    assert said == [f"{imdb}: train: train, test: test (not used: README)"]
    result = open_examples("labeled", settings.corpus)
    assert {split: len(some) for split, some in result.splits.items()} == {"train": 27, "validation": 3, "test": 30}
    assert {example.input.split()[0] for example in result.splits["test"]} == {"test"}
    assert result.notes[1].startswith("left out 5 files (no label, in 'unsup')")
    assert result.notes[0].startswith("left out 2 files (beside the folders of labels): train/labeledBow.feat")
    with pytest.raises(
        DataError, match=r"'test', 'train' .* are named after splits, not after labels\. Leave out --split"
    ):
        request = settings_from_request(str(imdb), {}, {}, {"task": "classify", "split_ratios": "90/10"})
        open_examples("labeled", request.corpus)
    settings_from_request(str(imdb), {}, {}, {}, log=said.append)
    assert "If the folders 'neg', 'pos' of" in said[-1]


def test_what_is_empty_or_no_text_is_left_out_up_to_the_limit(reviews: Path) -> None:
    (reviews / "pos" / "empty.txt").write_text("")
    (reviews / "pos" / "blank.txt").write_text(" \n\n")
    (reviews / "neg" / "photo.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (reviews / "neg" / "latin.txt").write_bytes("café und Übermut".encode("latin-1"))
    result = open_examples("labeled", corpus(reviews))
    assert sum(map(len, result.splits.values())) == 41
    assert "left out 2 files (empty): empty.txt, blank.txt" in result.notes
    assert "left out 1 file (binary): photo.txt" in result.notes
    assert LabeledText("café und Übermut", "neg") in [*result.splits["train"], *result.splits["validation"]]
    with pytest.raises(DataError, match=r"3 of the 44 files .* at most 2 may be skipped.*skip_limit=0\.07$"):
        open_examples("labeled", corpus(reviews, skip_limit=0.04))
    with pytest.raises(DataError, match="at most 0 may be skipped"):
        open_examples("labeled", corpus(reviews, skip_limit=0))
    open_examples("labeled", corpus(reviews, skip_limit=0.07))


@pytest.mark.parametrize("settings", [{"columns": ("a", "b")}, {"groups": "author"}, {"split_column": "fold"}])
def test_columns_are_refused(reviews: Path, settings: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"but '.*my reviews' is a folder.*: leave it out"):
        open_examples("labeled", corpus(reviews, **settings))


def test_folders_of_other_things_are_refused(tmp_path: Path) -> None:
    fill(tmp_path / "one", 12, "pos")
    with pytest.raises(DataError, match=r"a folder of texts for each label, such as pos and neg\. It has only 'pos'\."):
        open_examples("labeled", corpus(tmp_path / "one"))
    fill(tmp_path / "one", 12, "neg", ".csv")
    with pytest.raises(DataError, match=r"has 12 tables below it, 0\.csv, .*Name the tables to read"):
        open_examples("labeled", corpus(tmp_path / "one"))


def test_what_may_be_labels(reviews: Path, imdb: Path, tmp_path: Path) -> None:
    assert labels_of_folders(reviews) == ["neg", "pos"] == labels_of_folders(imdb / "train")
    assert labels_of_folders(imdb) == []  # splits
    fill(reviews / "pos", 9, "deeper")
    assert labels_of_folders(reviews) == []
    fill(tmp_path / "parts", 9, "train")
    fill(tmp_path / "parts", 9, "dev")
    assert labels_of_folders(tmp_path / "parts") == []
    fill(tmp_path / "code", 9, "src", ".py")
    fill(tmp_path / "code", 9, "tests", ".py")
    assert labels_of_folders(tmp_path / "code") == []
    fill(tmp_path / "few", 9, "drafts")
    fill(tmp_path / "few", 1, "book")
    assert labels_of_folders(tmp_path / "few") == []
    fill(tmp_path / "books", 9, "a", "")
    fill(tmp_path / "books", 9, "b", "")
    assert labels_of_folders(tmp_path / "books") == ["a", "b"]
    for at in range(9):
        (tmp_path / "books" / f"{at}.txt").write_text("a novel")
    assert labels_of_folders(tmp_path / "books") == []


def test_stray_files_hide_no_labels(reviews: Path) -> None:
    (reviews / "pos" / "Thumbs.db").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0")
    (reviews / "desktop.ini").write_text("[.ShellClassInfo]\n")
    (reviews / "neg" / "photo.jpg").write_bytes(b"\xff\xd8\xff\0\0")
    assert labels_of_folders(reviews) == ["neg", "pos"]
    result = open_examples("labeled", corpus(reviews))
    assert sum(map(len, result.splits.values())) == 40
    assert "left out 2 files (a file of the desktop): desktop.ini, Thumbs.db" in result.notes
    for at in range(5):
        (reviews / "neg" / f"{at}.jpg").write_bytes(b"\xff\xd8\xff\0\0")
    assert labels_of_folders(reviews) == []  # more than a tenth


def test_a_table_in_a_folder_is_no_stray_file(reviews: Path) -> None:
    (reviews / "pos" / "all.csv").write_text("text,label\n")
    assert labels_of_folders(reviews) == []  # --task classify refuses it


def test_the_doctor_reads_them_too(reviews: Path) -> None:
    done = CliRunner().invoke(app, ["doctor", str(reviews), "--task", "classify"])
    assert done.exit_code == 0, done.output
    assert "neg" in done.output and "pos" in done.output


def test_deeper_files_and_empty_folders_are_said(reviews: Path) -> None:
    (reviews / "neutral").mkdir()
    (reviews / "pos" / "sub").mkdir()
    (reviews / "pos" / "sub" / "9.txt").write_text("deeper down")
    (reviews / "readme.txt").write_text("what it is")
    result = open_examples("labeled", corpus(reviews))
    assert LabeledText("deeper down", "pos") in [example for some in result.splits.values() for example in some]
    notes = " ".join(result.notes)
    assert "the name of its outermost folder in my reviews the label: 'neg' (20), 'pos' (21)" in notes
    assert "1 file in folders within those of labels: pos/sub/9.txt" in notes
    assert "no text is in 'neutral': it is no label" in notes
    said: list[str] = []
    with typed_command(["train", str(reviews)]):
        settings_from_request(str(reviews), {}, {}, {}, log=said.append)
    assert f"If the folders 'neg', 'pos' of '{reviews}' are the labels" in said[0]
    assert "--task classify" in said[0]
