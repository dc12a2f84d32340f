"""The license around an ebook is named, because a model would learn it and be scored on it."""

from pathlib import Path

import pytest

from seqlab import api
from seqlab.config import CorpusSettings
from seqlab.data.boilerplate import boilerplate_notes
from seqlab.data.content_notes import content_notes
from seqlab.data.text.corpus import corpus_from_text, open_corpus
from seqlab.data.text.split import split_text
from seqlab.retrieval.progress import WorkProgress

START = "*** START OF THE PROJECT GUTENBERG EBOOK SEA TALES ***\n"
END = "***END OF THIS PROJECT GUTENBERG EBOOK SEA TALES***\n"
HEADER, BOOK, LICENSE = "by anyone anywhere\n" * 2, "so the whale sank\n" * 30, "section 1. terms of use\n" * 9


@pytest.mark.parametrize(
    ("text", "outside", "at_end"),
    [
        (HEADER + START + BOOK + END + LICENSE, len(HEADER + START + END + LICENSE), len(LICENSE)),
        (BOOK + END + LICENSE, len(END + LICENSE), len(LICENSE)),
        (HEADER + START + BOOK, len(HEADER + START), 0),
        ((HEADER + START + BOOK + END + LICENSE) * 2, 2 * len(HEADER + START + END + LICENSE), len(LICENSE)),
    ],
)
def test_what_is_outside_the_books_is_counted(text: str, outside: int, at_end: int) -> None:
    [note] = boilerplate_notes(corpus_from_text(text, "x"))
    assert note.startswith(f"Project Gutenberg: {outside:,} of {len(text):,} characters are no part of a book")
    assert (f"The last {at_end:,} end the text" in note) == (at_end > 0)


def test_the_lines_are_named_and_training_says_them_too() -> None:
    corpus = corpus_from_text((HEADER + START + BOOK + END + LICENSE) * 2, "x")
    notes = boilerplate_notes(corpus)
    assert f"line 3 ('{START.strip()}'), line 34 ('{END.strip()}') and 2 more." in notes[0]
    assert notes[0] in content_notes(split_text(corpus, CorpusSettings(source=("x",))))


def test_the_other_files_of_a_folder_are_no_part_of_the_count(tmp_path: Path) -> None:
    """They are no books of the project, and no license."""
    book = HEADER + START + BOOK + END + LICENSE
    for name, text in {"a.txt": BOOK, "b.txt": book, "c.txt": BOOK.upper()}.items():
        (tmp_path / name).write_text(text)
    [note] = boilerplate_notes(open_corpus([str(tmp_path)]))
    total = 2 * len(BOOK) + len(book)
    assert note.startswith(f"Project Gutenberg: {len(HEADER + START + END + LICENSE):,} of {total:,} characters are no")
    assert "b.txt, line 3 (" in note and "end the text" not in note


def test_a_text_that_only_speaks_of_it_has_no_note() -> None:
    assert boilerplate_notes(corpus_from_text("*** START OF THE STORY\nProject Gutenberg\n* * *\n", "x")) == []


def test_an_index_says_what_is_around_a_book(tmp_path: Path) -> None:
    """A search finds the license as it finds the book."""
    book = "The Project Gutenberg eBook\n" + HEADER + START + BOOK + END + LICENSE
    page = "<html><head><title>Sea Tales</title></head><body><p>" + "</p><p>".join(book.splitlines()) + "</p></body>"
    folder = tmp_path / "books"
    folder.mkdir()
    for name, text in {"a.txt": BOOK, "b.txt": book, "c.html": page}.items():
        (folder / name).write_text(text)
    [note] = [note for note in _index_notes(folder / "b.txt", tmp_path / "b.index") if "Gutenberg" in note]
    outside = len(book) - len(BOOK)
    assert note.startswith(f"Project Gutenberg: {outside:,} of the {len(book):,} characters of 1 document are no part")
    assert f"b.txt ('{START.strip()}'), " in note and f"b.txt ('{END.strip()}'). " in note
    [note] = [note for note in _index_notes(folder, tmp_path / "all.index") if "Gutenberg" in note]
    assert "characters of 2 documents are no part" in note and " and 2 more." in note
    assert not any("Gutenberg" in note for note in _index_notes(folder / "a.txt", tmp_path / "a.index"))


def _index_notes(source: Path, out: Path) -> list[str]:
    return api.index(source, out, vectors=False, progress=WorkProgress()).notes
