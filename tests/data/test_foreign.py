"""Files that are no text: the printed command gives their text, under a name that keeps the suffix of the format."""

import bz2
import gzip
import lzma
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from seqlab.config import CorpusSettings
from seqlab.data.documents.fixes import DocumentFixes
from seqlab.data.documents.read import read_documents
from seqlab.data.files import InputFixes, read_beginning, read_file
from seqlab.data.text.given_splits import read_text
from seqlab.errors import DataError

Write = Callable[[str, bytes], Path]
TABLE = b"text,label\n" + b"".join(b"caf\xc3\xa9 %d,a\n" % at for at in range(20))
PACK = {"bzip2": (".bz2", bz2.compress), "xz": (".xz", lzma.compress), "gzip": (".bin", gzip.compress)}


def refusal(name: str) -> str:
    with pytest.raises(DataError) as refused:
        list(read_file(Path(name), InputFixes()))
    return str(refused.value)


def run(command: str, folder: Path) -> None:
    subprocess.run(["bash", "-c", command], cwd=folder, check=True)


@pytest.mark.parametrize(("tool", "name", "new"), [
    ("bzip2", "my reviews.csv.bz2", "my reviews.csv"),
    ("xz", "reviews.jsonl.xz", "reviews.jsonl"),
    ("xz", "reviews.TSV.XZ", "reviews.TSV"),
    ("bzip2", "reviews.csv", "new.csv"),
    ("gzip", "reviews.csv", "new.csv"),
    ("xz", "reviews", "reviews.txt"),
    ("xz", "reviews.xz", "reviews.txt"),
])  # fmt: skip
def test_the_command_unpacks_and_keeps_the_suffix(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, name: str, new: str
) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    monkeypatch.chdir(tmp_path)
    write(name, PACK[tool][1](TABLE))
    message = refusal(name)
    assert f"is packed by {tool}, not text. " in message
    run(message.rpartition("npack it: ")[2], tmp_path)
    assert (tmp_path / new).read_bytes() == TABLE
    with pytest.raises(DataError, match=f"packed by {tool}"):
        read_beginning(Path(name), 1000)


def test_no_file_is_overwritten(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("reviews.csv.bz2", bz2.compress(TABLE))
    write("reviews.csv", b"mine")
    assert refusal("reviews.csv.bz2").endswith("> new.csv")


@pytest.mark.parametrize(("name", "mode"), [
    ("a.tar.bz2", "w:bz2"), ("my a.tar.xz", "w:xz"), ("a.tbz2", "w:bz2"),
    ("a.tar.gz", "w:gz"), ("a.tgz", "w:gz"), ("a.tar", "w"), ("texts.txt", "w"),
])  # fmt: skip
def test_the_files_of_an_archive_are_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, mode: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reviews.csv").write_bytes(TABLE)
    with tarfile.open(name, mode) as archive:  # pyright: ignore[reportCallIssue, reportArgumentType]
        archive.add("reviews.csv")
    (tmp_path / "reviews.csv").unlink()
    message = refusal(name)
    assert "and give the files in it: tar -xf" in message
    run(message.rpartition("in it: ")[2], tmp_path)
    assert (tmp_path / "reviews.csv").read_bytes() == TABLE


def test_the_command_removes_nul_characters(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("my table.csv", TABLE + b"a\0b,a\n")
    message = refusal("my table.csv")
    assert "line 22: a NUL character" in message
    run(message.rpartition("remove them: ")[2], tmp_path)
    assert (tmp_path / "new.csv").read_bytes() == TABLE + b"ab,a\n"


def test_the_command_converts_an_encoding(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content = TABLE.decode().encode("latin-1") + "\u043a\u0438\u0440,a\n".encode("koi8-r") + b"\x81\x8d\n"
    write("it's.tsv", content)
    message = refusal("it's.tsv")
    assert "offset" in message
    run(message.rpartition("convert it: ")[2].replace("ENCODING", "LATIN1"), tmp_path)
    assert (tmp_path / "new.tsv").read_bytes().decode() == content.decode("latin-1")


@pytest.mark.parametrize(("entries", "what", "advice"), [
    ({"[Content_Types].xml": "", "word/document.xml": "x"}, "a document of a word processor (docx)", "pandoc 'a b' -t"),
    ({"[Content_Types].xml": "", "xl/workbook.xml": "x"}, "a workbook (xlsx)", "Save the sheet as CSV"),
    ({"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}, "a workbook (ods)", "Save the sheet as CSV"),
    ({"mimetype": "application/epub+zip", "a.html": "x"}, "an ebook (epub)", "pandoc 'a b' -t plain -o new.txt"),
    ({"a.txt": "one", "word/b.txt": "two"}, "a zip archive of 2 files", "give the files in it: unzip 'a b'"),
])  # fmt: skip
def test_what_is_zipped_is_told_by_its_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: dict[str, str], what: str, advice: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("a b", "w") as packed:
        for name, content in entries.items():
            packed.writestr(name, content)
    message = refusal("a b")
    assert f"is {what}, not text. " in message and advice in message


def test_a_damaged_zip_archive_is_one(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("a.csv", b"PK\x03\x04 and nothing else")
    assert "is a zip archive, not text. Unpack it" in refusal("a.csv")


def test_what_is_packed_twice_is_unpacked_twice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.txt.gz").write_bytes(gzip.compress(gzip.compress(b"plain\n")))
    with pytest.raises(DataError, match="is packed twice by gzip") as refused:
        list(read_file(Path("a.txt.gz"), InputFixes()))
    subprocess.run(str(refused.value).rpartition(": ")[2], shell=True, check=True)
    assert Path("a.txt").read_text() == "plain\n"


@pytest.mark.parametrize("with_rows", [False, True])
def test_documents_in_a_folder_are_left_out_with_the_way_to_read_them(tmp_path: Path, with_rows: bool) -> None:
    (tmp_path / "a.txt").write_text("The old man walked along the river.\n" * 100)
    (tmp_path / "ascii.pdf").write_bytes(b"%PDF-1.4\nshort\n")
    (tmp_path / "usual.pdf").write_bytes(b"%PDF-1.4\n\0\1\2\n")
    with zipfile.ZipFile(tmp_path / "b.docx", "w") as packed:
        packed.writestr("word/document.xml", "x")
    if with_rows:
        (tmp_path / "c.jsonl").write_text('{"text": "Some more text."}\n' * 50)
    fixes = read_text(CorpusSettings(source=(str(tmp_path),))).corpus.fixes
    assert [note for note in fixes.source_notes if note.startswith("left out")] == (expected := [
        "left out 2 files (a PDF, not text. Extract its text: pdftotext FILE NEW.txt): ascii.pdf, usual.pdf",
        "left out 1 file (a document of a word processor (docx), not text. Get its text: pandoc FILE -t plain -o "
        "NEW.txt): b.docx",
    ])  # fmt: skip
    indexed = DocumentFixes()
    assert [*read_documents([tmp_path], indexed)] and sorted(expected) == sorted(
        note for note in indexed.notes() if note.startswith("left out")
    )
    assert "is a PDF, not text. Extract its text: pdftotext" in refusal(str(tmp_path / "ascii.pdf"))
