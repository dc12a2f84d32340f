"""Tables of documents and queries whose first line is no header."""

import subprocess
from pathlib import Path

import pytest

from seqlab.data.documents.collection import read_queries
from seqlab.data.documents.document import Document
from seqlab.data.documents.fixes import DocumentFixes
from seqlab.data.documents.read import read_documents
from seqlab.errors import DataError

ROWS = [(f"{number}", f"the otter {number} swims far") for number in range(8)]


def write(path: Path, delimiter: str = "\t", header: str = "") -> Path:
    path.write_text(header + "".join(f"{delimiter.join(row)}\n" for row in ROWS), encoding="utf-8")
    return path


def read(path: Path, columns: dict[str, str]) -> tuple[list[Document], list[str]]:
    fixes = DocumentFixes()
    return list(read_documents([path], fixes, columns)), fixes.notes()


@pytest.mark.parametrize(("name", "delimiter"), [("a.tsv", "\t"), ("a.csv", ";")])
def test_columns_of_a_table_without_a_header_are_numbered(tmp_path: Path, name: str, delimiter: str) -> None:
    path = write(tmp_path / name, delimiter)
    with pytest.raises(DataError, match=r"no header, number the columns: --column id=1 --column text=2$"):
        read(path, {})
    documents, notes = read(path, {"id": "1", "text": "2"})
    assert documents == [Document(*row) for row in ROWS]
    assert f"the columns of {name} are numbered, so its first line is data: 0 | the otter 0 swims far" in notes


@pytest.mark.parametrize("header", ["id\ttext\n", "Name\tsaid\n"])
def test_columns_below_a_header_are_named(tmp_path: Path, header: str) -> None:
    path = write(tmp_path / "a.tsv", header=header)
    name = header.split()[1]
    with pytest.raises(DataError, match=rf"has a header .* Give the names instead: --column text={name}$"):
        read(path, {"text": "2"})
    with pytest.raises(DataError, match="no column '3': there is"):
        read(write(tmp_path / "b.tsv"), {"text": "3"})


def test_numbers_in_a_folder_are_for_its_tables_without_a_header(tmp_path: Path) -> None:
    write(tmp_path / "a.tsv")
    write(tmp_path / "b.tsv", header="id\ttext\n")
    documents, notes = read(tmp_path, {"text": "2"})
    assert len(documents) == 2 * len(ROWS)
    assert "no column '2' in b.tsv: read by the usual columns" in notes


@pytest.mark.parametrize(("name", "delimiter"), [("q.tsv", "\t"), ("q.csv", ";")])
def test_a_command_writes_a_header_above_queries(
    tmp_path: Path, name: str, delimiter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="write one above it: ") as refused:
        read_queries(write(tmp_path / name, delimiter))
    subprocess.run(str(refused.value).partition("above it: ")[2], shell=True, check=True)
    assert [(query.id, query.text) for query in read_queries(f"new{Path(name).suffix}")] == ROWS
