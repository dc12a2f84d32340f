"""Files of a folder that are named after splits."""

from pathlib import Path

import pytest

from seqlab.data.split_files import find_split_files, split_named
from seqlab.data.text.given_splits import read_text
from seqlab.errors import UsageError
from seqlab.training.request import settings_from_request
from seqlab.typed_command import typed_command


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("wiki.train.tokens", "train"),
        ("wiki.valid.tokens", "validation"),
        ("ptb.test.txt", "test"),
        ("dev.txt", "validation"),
        ("en_ewt-ud-train.conllu", "train"),
        ("VAL", "validation"),
        ("train1.txt", "train"),
        ("holdout.txt", "test"),
        ("book-held-out.txt.gz", "test"),
        ("Held_Out", "test"),
        ("heldout.jsonl", "test"),
        ("withheldout.txt", None),
        ("tr.txt", None),
        ("latest.txt", None),
        ("trains.txt", None),
        ("train-test.txt", None),
        ("poems.txt", None),
    ],
)
def test_a_name_names_a_split(name: str, split: str | None):
    assert split_named(name) == split


def folder_with(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).write_text(name)
    return folder


def test_the_files_of_a_benchmark_are_found_and_the_others_named(tmp_path: Path):
    result = find_split_files(
        folder_with(tmp_path, "wiki.test.tokens", "wiki.train.tokens", "wiki.valid.tokens", "README")
    )
    assert result is not None
    assert {split: path.name for split, path in result.files.items()} == {
        "train": "wiki.train.tokens",
        "validation": "wiki.valid.tokens",
        "test": "wiki.test.tokens",
    }
    assert "not used: README" in str(result)


@pytest.mark.parametrize(
    ("names", "splits"),
    [
        (("holdout.txt", "train.txt"), ("train", "test")),
        (("book-held-out.txt.gz", "book-train.txt.gz"), ("train", "test")),
        (("te.txt", "tr.txt", "va.txt"), ("train", "validation", "test")),
        (("a_tr.txt", "a_va.txt"), ("train", "validation")),
    ],
)
def test_other_words_for_splits_are_known(tmp_path: Path, names: tuple[str, ...], splits: tuple[str, ...]):
    result = find_split_files(folder_with(tmp_path, *names))
    assert result is not None and tuple(result.files) == splits and not result.unused


@pytest.mark.parametrize("names", [("tr.txt", "te.txt"), ("en.txt", "te.txt", "tr.txt"), ("tr.txt", "b.va.txt")])
def test_codes_of_languages_are_no_splits(tmp_path: Path, names: tuple[str, ...]):
    assert find_split_files(folder_with(tmp_path, *names)) is None


@pytest.mark.parametrize(
    "names", [("train.txt", "poems.txt"), ("valid.txt", "test.txt"), ("a.train.txt", "b.valid.txt")]
)
def test_a_folder_without_a_training_file_and_a_matching_one_is_a_text(tmp_path: Path, names: tuple[str, ...]):
    assert find_split_files(folder_with(tmp_path, *names)) is None


def test_two_sets_of_files_are_a_choice_of_the_user(tmp_path: Path):
    names = [f"ptb.{kind}{split}.txt" for kind in ("", "char.") for split in ("train", "valid", "test")]
    with pytest.raises(UsageError) as error:
        find_split_files(folder_with(tmp_path, *names))
    for kind in ("", "char."):
        files = [tmp_path / f"ptb.{kind}{split}.txt" for split in ("train", "valid", "test")]
        assert f"seqlab train {files[0]} --validation {files[1]} --test {files[2]}" in str(error.value)


def test_the_choice_repeats_what_was_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    folder_with(tmp_path / "data", "a.train.txt", "a.test.txt", "b.train.txt", "b.test.txt")
    with typed_command(["compare", "./data/", "--seeds", "2"]), pytest.raises(UsageError) as error:
        find_split_files(Path("data"))
    assert "seqlab compare data/b.train.txt --seeds 2 --test data/b.test.txt" in str(error.value)


def test_two_files_for_one_split_are_a_choice_of_the_user(tmp_path: Path):
    with pytest.raises(UsageError, match="more than one"):
        find_split_files(folder_with(tmp_path, "train.txt", "dev.txt", "valid.txt"))


def test_programs_among_many_other_files_are_no_splits(tmp_path: Path):
    (tmp_path / "models").mkdir()
    for number, kind in enumerate([".py"] * 8 + [".md", ".txt"]):
        (tmp_path / "models" / f"part{number}{kind}").write_text("import torch\n" * 9)
    folder_with(tmp_path, "train.py", "test.py", "train.sh", "test.sh", "train.yaml", "test.yaml")
    assert find_split_files(tmp_path) is None
    text = read_text(settings_from_request(tmp_path, {}, {}, {}).corpus)
    assert {path.name for path in text.corpus.paths} >= {"train.py", "test.py", "train.sh", "part0.py"}


@pytest.mark.parametrize("size", [100, 10_000])
@pytest.mark.parametrize(("kind", "number"), [(".txt", 5), (".txt", 500), (".csv", 500), (".py", 5)])
def test_files_of_splits_are_found_among_many_others_unless_they_are_small(
    tmp_path: Path, kind: str, number: int, size: int
):
    (tmp_path / "raw").mkdir()
    for at in range(number):
        (tmp_path / "raw" / f"{at}{kind}").write_text("x" * 100)
    for split in ("train", "valid", "test"):
        (tmp_path / f"{split}{kind}").write_text("x" * size)
    found = find_split_files(tmp_path)
    assert (found is None) == (kind == ".txt" and number == 500 and size == 100)
