"""What a newcomer types wrong is answered in words that help, and leaves nothing behind."""

import io
import shlex
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from small_runs import train_small

from seqlab.cache import cache_directory
from seqlab.config import CorpusSettings
from seqlab.data import standard_input
from seqlab.data.text.given_splits import read_text
from seqlab.errors import StorageError
from seqlab.exporters.files import write_files

TEXT = "the quick brown fox jumps over the lazy dog\n" * 20
Command = Callable[..., Any]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.txt").write_text(TEXT)


def test_a_file_whose_name_begins_with_a_dash(seqlab: Command) -> None:
    Path("-dash.txt").write_text(TEXT)
    answer = seqlab("train", "-dash.txt")
    assert answer.code == 2
    assert answer.err == "error: '-dash.txt' begins with a dash, as options do: write ./-dash.txt\n"
    assert "dash" not in seqlab("train", "--nothing").err


def test_an_occupied_folder_is_refused_before_the_text_is_read(seqlab: Command) -> None:
    Path("full").mkdir()
    Path("full/notes").write_text("")
    answer = seqlab("train", "my.txt", "--out", "full")
    assert (answer.code, answer.err) == (2, "error: 'full' is not empty and not a run. Please choose another --out.\n")


def test_suggested_commands_leave_out_what_the_task_refuses(seqlab: Command) -> None:
    Path("log.txt").write_text("".join(f"day {n % 2}\tinfo\tworker {n} began\n" for n in range(40)))
    given = "--window 32 --batch-size=4 --set corpus.documents=lines --set train.lr=0.1 --steps=1"
    answer = seqlab("train", "log.txt", *given.split())
    _, classify, language = answer.err.splitlines()  # no translation: only one column has texts
    assert classify.startswith(
        "  seqlab train log.txt --batch-size=4 --set train.lr=0.1 --steps=1 --task classify --set "
    )
    assert classify.endswith("# a text and its label on each line, without --documents and --window, which it refuses")
    assert language == f"  seqlab train log.txt {given} --task language   # running text"


def test_a_single_character_is_one(seqlab: Command) -> None:
    Path("one.txt").write_text("a")
    assert "'one.txt' has 1 character; training needs at least" in seqlab("train", "one.txt").err
    answer = seqlab("doctor", "one.txt")
    assert "one: 1 character in 1 line, about 1 word, 1 byte\n" in answer.out
    assert answer.err.startswith("reading the text ...\n"), "it says what it does, for it may take long"


def test_standard_input_that_cannot_be_used_is_not_kept(seqlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    at_exit: list[Callable[[], Any]] = []
    monkeypatch.setattr(
        standard_input.atexit, "register", lambda call, **options: at_exit.append(lambda: call(**options))
    )
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(), isatty=lambda: False))
    assert seqlab("train", "-").code == 65
    for call in at_exit:
        call()
    assert list(cache_directory("stdin").iterdir()) == []


def test_an_export_that_cannot_be_written_is_named() -> None:
    run = train_small(Path("my.txt"), Path("r"))
    with pytest.raises(StorageError, match=r"'my\.txt/graphs' cannot be written: Not a directory"):
        write_files(run, Path("my.txt/graphs"), {})


@pytest.mark.parametrize(("file", "name"), [("train_a.txt", "train_a"), ("train.txt", "films")])
def test_given_files_are_called_by_their_own_name_unless_it_says_nothing(file: str, name: str) -> None:
    Path("films").mkdir()
    for content in (file, "val.txt"):
        Path("films", content).write_text(content + TEXT)
    text = read_text(CorpusSettings(source=(f"films/{file}",), validation=("films/val.txt",)))
    assert text.corpus.name == name


def test_the_doctor_names_a_command_that_reads_the_documents(seqlab: Command) -> None:
    rows = [f"{n},what is {n}?,it is the number {n},c{n % 3}\n" for n in range(40)]
    Path("q a.csv").write_text("id,question,answer,category\n" + "".join(rows))
    given = ["q a.csv", "--task", "embed", "--set", "task.scale=10"]
    answer = seqlab("doctor", *given, "--json")
    assert answer.code == 2 and "--task embed trains on documents" in answer.err
    command = shlex.split(answer.err.splitlines()[1], comments=True)
    assert command == ["seqlab", "train", *given]
    assert seqlab(*command[1:], "--steps", "1", "--hidden", "8", "--out", "run").code == 0
