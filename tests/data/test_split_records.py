"""Lines of tables that are read as documents: the header and records of several lines are said."""

import csv
import subprocess
from pathlib import Path

import pytest

from seqlab.config import CorpusSettings
from seqlab.data.content_notes import content_notes
from seqlab.data.text.corpus import open_corpus
from seqlab.data.text.split import split_text

TEXTS = [f"It is the film {at}.\n\nIt ends." if at % 4 == 0 else f"a 'film', of {at}" for at in range(60)]


def said(name: str, documents: str = "lines") -> list[str]:
    text = split_text(open_corpus([name]), CorpusSettings(source=(name,), documents=documents))  # pyright: ignore
    return [note for note in content_notes(text) if "is a document" in note]


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_the_header_and_records_of_several_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delimiter: str):
    monkeypatch.chdir(tmp_path)
    with Path("a b.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = [("id", "review"), *((str(at), text) for at, text in enumerate(TEXTS))]
        csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    (note,) = said("a b.csv")
    assert "its header is one of them, and 15 records have line breaks within cells and become 30 documents" in note
    subprocess.run(note.partition("on each line: ")[2], shell=True, check=True)
    assert Path("new.txt").read_text().splitlines() == [" ".join(text.split()) for text in TEXTS]
    assert said("new.txt") == [] and said("a b.csv", "stream") == []
