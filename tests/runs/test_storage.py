"""Files that are there whole or not at all, and what is said when they cannot be."""

import errno
import os
from pathlib import Path

import pytest

from seqlab.cache import read_sealed, write_sealed
from seqlab.errors import DataError, MissingInput, StorageError
from seqlab.storage import from_json, read_bytes, storage_errors, to_json, write_atomic


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content in (b"one", b"", b"two" * 100_000):
        write_atomic(path, content)
        assert path.read_bytes() == content
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("number", [1, 2])
def test_a_failed_replacement_leaves_the_old(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, calls = tmp_path / "file", []
    write_atomic(path, b"old")

    def fail(_: int) -> None:
        calls.append(1)
        if len(calls) == number:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError, match=r"disk is full: .* needs 3 bytes, [\d,]+ are available"):
        write_atomic(path, b"new")
    assert path.read_bytes() == (b"old" if number == 1 else b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_the_room_is_told_where_even_the_folder_could_not_be_made(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="needs 10 bytes"), storage_errors(tmp_path / "a" / "b" / "c", 10):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_other_failures_are_told_in_the_systems_words(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="Permission denied"), storage_errors(tmp_path / "file", 0):
        raise PermissionError(errno.EACCES, "Permission denied")
    with pytest.raises(StorageError, match="2 requested and 1 written"), storage_errors(tmp_path / "file", 0):
        raise OSError("2 requested and 1 written")


def test_what_is_sealed_is_read_only_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "sealed"
    write_sealed(path, {"number": 17})
    assert read_sealed(path) == {"number": 17}
    path.write_bytes(path.read_bytes().replace(b": 17", b": 18"))
    with pytest.raises(DataError, match="does not have its SHA-256"):
        read_sealed(path)


def test_reading(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_bytes(path) == read_bytes(path, 5) == b"12345"
    with pytest.raises(DataError, match="5 bytes long; seqlab writes at most 4"):
        read_bytes(path, 4)
    with pytest.raises(MissingInput, match="missing"):
        read_bytes(tmp_path / "none")
    with pytest.raises(DataError, match="not a file"):
        read_bytes(tmp_path)
    with pytest.raises(StorageError):
        read_bytes(path / "below")


@pytest.mark.parametrize("content", [{}, {"a": [1, 2.5, None, "é\ud800"]}, {"nested": {"deep": {}}}], ids=ascii)
def test_json_comes_back(content: dict[str, object]) -> None:
    assert from_json(to_json(content), Path("file")) == content
    assert to_json(content).endswith(b"\n")
