"""Folders of tables and of tagged words: what is said of them, and every command that is printed, read."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from seqlab.config import CorpusSettings, RunSettings
from seqlab.data.examples.load import open_examples
from seqlab.errors import DataError, UsageError
from seqlab.training.request import settings_from_request
from seqlab.typed_command import typed_command

Write = Callable[[str, str], Path]
WORDS = "".join(f"word{at} N\nruns V\n\n" for at in range(20))
CONLLU = "".join(f"1\tword{at}\t_\tN\t_\t_\t_\t_\t_\t_\n\n" for at in range(10))


def table(number: int, name: str) -> str:
    return "text,label\n" + "".join(f"{name} {at},{'ab'[at % 2]}\n" for at in range(number))


def request(words: list[str], said: list[str] | None = None) -> RunSettings:
    """The settings of a command: its paths, and options that settings have too."""
    assert words[:2] == ["seqlab", "train"]
    first = next((at for at, word in enumerate(words) if word.startswith("--")), len(words))
    pairs = [*zip(words[first::2], words[first + 1 :: 2], strict=True)]
    options = {key[2:].replace("-", "_"): value for key, value in pairs if key != "--set"}
    given = dict(value.split("=") for key, value in pairs if key == "--set")
    with typed_command(words[1:]):
        return settings_from_request(words[2:first], {}, given, options, log=(said if said is not None else []).append)


def sizes(kind: str, settings: RunSettings) -> dict[str, int]:
    splits = open_examples(kind, settings.corpus).splits  # pyright: ignore[reportArgumentType]
    return {split: len(some) for split, some in splits.items()}


@pytest.mark.parametrize(
    ("suffix", "content", "kind"),
    [
        ("csv", table(60, "train"), "labeled"),
        ("conll", "".join(WORDS.replace("word", name) for name in "abc"), "tagged"),
    ],
)
def test_the_files_of_splits_are_joined_by_the_printed_command(
    write: Write, tmp_path: Path, suffix: str, content: str, kind: str
) -> None:
    write(f"my data/train.{suffix}", content)
    write(f"my data/test.{suffix}", content.replace("train", "test") if suffix == "csv" else WORDS)
    said: list[str] = []
    given = request(["seqlab", "train", str(tmp_path / "my data")], said)
    assert sizes(kind, given) == {"train": 54, "validation": 6, "test": 60 if suffix == "csv" else 20}
    [command] = re.findall(r"to join these files and split them anew: (.*)\)$", said[0])
    joined = request(shlex.split(command))
    assert joined.task.name == given.task.name
    assert sum(sizes(kind, joined).values()) == (120 if suffix == "csv" else 80)
    assert "test" not in sizes(kind, joined)


@pytest.mark.parametrize("task", [None, "language", "classify"])
def test_only_text_is_said_to_be_read_as_one(write: Write, tmp_path: Path, task: str | None) -> None:
    for split in ("train", "test"):
        write(f"data/{split}.txt", f"a running text of {split}.\n" * 9)
    said: list[str] = []
    settings_from_request(str(tmp_path / "data"), {}, {}, {"task": task}, log=said.append)
    assert ("--set corpus.split_ratios=90/10 reads the folder as one text" in said[0]) == (task != "classify")
    assert "to join" not in said[0]


def test_a_folder_of_tagged_words_is_asked_about_and_read_as_a_whole(write: Write, tmp_path: Path) -> None:
    folder = tmp_path / "my words"
    write("my words/a.conll", WORDS)
    write("my words/b.conllu", CONLLU)
    write("my words/c.bio", WORDS)
    write("my words/README.md", "what it is")
    with pytest.raises(
        UsageError, match=r"has only tagged words, by the suffixes of a\.conll, b\.conllu, c\.bio"
    ) as asked:
        request(["seqlab", "train", str(folder), "--epochs", "3"])
    commands = [shlex.split(line.partition(" #")[0]) for line in str(asked.value).splitlines()[1:]]
    assert [command[-2:] for command in commands] == [["--task", "tag"], ["--task", "language"]]
    settings = request(commands[0])
    assert sizes("tagged", settings) == {"train": 45, "validation": 5}
    notes = open_examples("tagged", settings.corpus).notes
    assert "left out 1 file (not the suffix of tagged words): README.md" in notes
    assert "joined 3 files into 50 examples: a.conll (20), b.conllu (10), c.bio (20)" in notes
    assert request(commands[1]).task.name == "language"


def test_other_files_leave_a_folder_as_running_text(write: Write, tmp_path: Path) -> None:
    write("words/a.conll", WORDS)
    write("words/b.txt", "a running text\n")
    assert request(["seqlab", "train", str(tmp_path / "words")]).task.name == "language"


def test_a_folder_without_tagged_words_is_refused(write: Write, tmp_path: Path) -> None:
    write("words/b.txt", WORDS)
    with pytest.raises(DataError, match=r"is a folder, without files of tagged words in \.conll"):
        open_examples("tagged", CorpusSettings(source=(str(tmp_path / "words"),)))


def test_a_file_is_not_held_out_of_the_folder_that_has_it(write: Write, tmp_path: Path) -> None:
    folder, held_out = tmp_path / "words", write("words/a.conll", WORDS)
    write("words/b.conll", WORDS.replace("word", "name"))
    for source, test in ((folder, held_out), (held_out, folder)):
        with pytest.raises(UsageError, match="belongs to train and to test"):
            open_examples("tagged", CorpusSettings(source=(str(source),), test=(str(test),)))
