"""Texts whose splits are files of their own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seqlab.config import CorpusSettings
from seqlab.data.text.given_splits import read_text
from seqlab.errors import DataError, MissingInput, UsageError

TRAIN = "".join(f"the {number} cats sat\n" for number in range(200))
VALID = "".join(f"a dog ran {number}\n" for number in range(30))
TEST = "".join(f"one bird sang {number}\n" for number in range(20))

Write = Callable[[str, str], Path]


@pytest.fixture
def files(write: Write) -> dict[str, str]:
    texts = {"train": TRAIN, "validation": VALID, "test": TEST}
    return {split: str(write(f"{split}.txt", text)) for split, text in texts.items()}


def corpus(files: dict[str, str], *held_out: str, **values: Any) -> CorpusSettings:
    given: dict[str, Any] = {split: (files[split],) for split in held_out} | values
    return CorpusSettings(source=(files["train"],), **given)


@pytest.mark.parametrize("documents", ["stream", "lines"])
def test_every_split_is_the_whole_of_its_file(files: dict[str, str], documents: str):
    text = read_text(corpus(files, "validation", "test", documents=documents))
    assert {split: text.text(split) for split in text.splits} == {"train": TRAIN, "validation": VALID, "test": TEST}
    assert text.tail("test", 5) == TEST[-5:]
    assert text.rule == "validation and test from files"


def test_without_a_validation_file_a_tenth_of_the_training_text_is_held_out_and_said(files: dict[str, str]):
    text = read_text(corpus(files, "test"))
    assert text.text("train") + text.text("validation") == TRAIN
    assert len(text.text("validation")) == pytest.approx(len(TRAIN) / 10, abs=1)
    assert text.text("test") == TEST
    assert any("no validation file" in note for note in text.notes)


def test_the_fingerprint_covers_every_file(files: dict[str, str]):
    before = read_text(corpus(files, "validation", "test")).stats
    assert before.characters == len(TRAIN + VALID + TEST)
    for path in files.values():
        content = Path(path).read_text()
        Path(path).write_text(content + "more\n")
        assert read_text(corpus(files, "validation", "test")).stats.fingerprint != before.fingerprint
        Path(path).write_text(content)
    assert read_text(corpus(files, "validation", "test")).stats == before


def test_the_roles_of_the_files_are_part_of_the_fingerprint(files: dict[str, str]):
    swapped = {**files, "validation": files["test"], "test": files["validation"]}
    first, second = (read_text(corpus(given, "validation", "test")).stats for given in (files, swapped))
    assert first.fingerprint != second.fingerprint


@pytest.mark.parametrize(("split", "content"), [("validation", TRAIN), ("test", TRAIN), ("test", VALID)])
def test_copies_are_refused(files: dict[str, str], split: str, content: str):
    Path(files[split]).write_text(content)
    with pytest.raises(DataError, match="are the same text"):
        read_text(corpus(files, "validation", "test"))


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_empty_files_are_refused(files: dict[str, str], split: str):
    Path(files[split]).write_text("")
    with pytest.raises(DataError, match="has 0 characters"):
        read_text(corpus(files, "validation", "test"))


def test_missing_files_and_standard_input_are_refused(files: dict[str, str]):
    with pytest.raises(MissingInput, match=r"nowhere\.txt"):
        read_text(corpus({**files, "validation": "nowhere.txt"}, "validation"))
    with pytest.raises(UsageError, match="standard input"):
        read_text(corpus({**files, "test": "-"}, "test"))


def test_a_file_named_after_its_split_is_called_like_its_folder(files: dict[str, str], tmp_path: Path):
    assert read_text(corpus(files, "validation")).corpus.name == tmp_path.name


def test_lines_of_several_files_are_compared(files: dict[str, str]):
    Path(files["train"]).write_text("".join(f"line {number}\n\n" for number in range(20)))
    Path(files["test"]).write_text("line 3\nline 99\n\n")
    text = read_text(corpus(files, "validation", "test").model_copy(update={"documents": "lines"}))
    assert "skipped 21 lines, empty or of spaces alone: every other line is a document" in text.notes
    assert [note for note in text.notes if note.startswith("1 of 2 test lines (50.0%) is also in the training split")]


def test_an_empty_held_out_file_is_named(tmp_path):
    for name, content in {"a.txt": "text " * 40, "b.txt": ""}.items():
        (tmp_path / name).write_text(content)
    settings = CorpusSettings(source=(str(tmp_path / "a.txt"),), validation=(str(tmp_path / "b.txt"),))
    with pytest.raises(DataError, match=r"b\.txt' has 0 characters: there is nothing to score\. Give a longer text"):
        read_text(settings)


def test_a_file_of_the_training_folder_is_not_held_out(files: dict[str, str]):
    folder = Path(files["train"]).parent
    given = {**files, "train": str(folder)}
    with pytest.raises(UsageError, match=r"belongs to train and to validation.* has 3 files"):
        read_text(corpus(given, "validation"))
    again = Path(files["test"]).parent / "." / Path(files["validation"]).name
    with pytest.raises(DataError, match="are the same text"):
        read_text(corpus({**files, "test": str(again)}, "validation", "test"))
