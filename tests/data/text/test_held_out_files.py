"""Of several files, those that are held out are named: the last one may be a bibliography."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seqlab.config import CorpusSettings
from seqlab.data.content_notes import content_notes
from seqlab.data.text.given_splits import read_text

CHAPTER = "".join(f"the {number} cats sat\n" for number in range(200))
SCATTERED = "; --split scattered takes stretches from all files"
Write = Callable[[str, str], Path]


@pytest.fixture
def folder(write: Write, tmp_path: Path) -> str:
    """Ten files of the same size, without a newline at the end."""
    for name in [*(f"chapter{number}.tex" for number in range(1, 10)), "refs.bib"]:
        write(f"paper/{name}", f"{name[:8]} {CHAPTER}end")
    return str(tmp_path / "paper")


def said(*source: str, **settings: Any) -> list[str]:
    notes = content_notes(read_text(CorpusSettings(source=source, **settings)))
    return [note for note in notes if note.startswith("held out")]


def test_files_that_are_held_out_are_named(folder: str) -> None:
    assert said(folder, split_ratios="80/10/10") == [
        f"held out: validation from chapter9.tex, test from refs.bib{SCATTERED}"
    ]
    assert said(folder, split_ratios="90/5/5") == ["held out: validation from refs.bib, test from refs.bib"]


def test_many_files_are_counted(write: Write, tmp_path: Path) -> None:
    for number in range(100):
        write(f"many/{number:03}.txt", f"the file {number} of many, with so many words in it\n")
    (note,) = said(str(tmp_path / "many"))
    assert note.startswith(
        "held out: validation from 10 files (090.txt, 091.txt, 092.txt, 093.txt, 094.txt and 5 more)"
    )


def test_the_training_text_may_be_cut_beside_a_test_file(folder: str, write: Write) -> None:
    test = str(write("test.txt", "a text of its own\n"))
    assert said(folder, test=(test,)) == [f"held out: validation from refs.bib{SCATTERED}"]


def test_where_files_are_not_cut_at_the_end_nothing_is_said(folder: str, write: Write) -> None:
    valid = str(write("valid.txt", "a text of its own\n"))
    assert said(folder, documents="lines") == said(folder, split="scattered") == said(folder, validation=(valid,)) == []
    assert said(f"{folder}/refs.bib") == []
