"""Files that we did not write are refused, with the file and the component named."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from text_samples import shared, trained

from seqlab.errors import DataError, MissingInput, StorageError
from seqlab.registry import TOKENIZERS
from seqlab.tokenization.tokenizer import load_tokenizer

HUGGING_FACE = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": {"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": ""},
    "pre_tokenizer": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {}, "merges": []},
}


def refused(path: Path, content: Any) -> str:
    path.write_text(json.dumps(content) if not isinstance(content, str) else content)
    with pytest.raises(DataError) as caught:
        load_tokenizer(path)
    message = str(caught.value)
    assert str(path) in message
    return message


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tokenizer.json"


@pytest.mark.parametrize("name", list(TOKENIZERS))
@pytest.mark.parametrize(
    ("change", "component"),
    [
        ({"normalizer": {"type": "Replace"}}, "'normalizer'"),
        ({"pre_tokenizer": None}, "'pre_tokenizer'"),
        ({"chat_template": "{{ 1 }}"}, "'chat_template'"),
        ({"format": "other"}, "'format'"),
        ({"format": None}, "'format'"),
        ({"version": 2}, "upgrade seqlab"),
        ({"version": 0}, "'version'"),
        ({"version": True}, "'version'"),
        ({"version": "1"}, "'version'"),
        ({"name": "sentencepiece"}, "'name'"),
        ({"name": ["char"]}, "'name'"),
        ({"documents": 1}, "'documents'"),
        ({"documents": None}, "'documents'"),
    ],
)
def test_a_changed_header_is_refused(name: str, change: dict[str, Any], component: str, path: Path) -> None:
    assert component in refused(path, {**shared(name).to_json(), **change})


@pytest.mark.parametrize("name", list(TOKENIZERS))
def test_every_key_is_needed_and_typed(name: str, path: Path) -> None:
    content = shared(name).to_json()
    for key in content:
        assert f"'{key}'" in refused(path, {other: value for other, value in content.items() if other != key})
        assert key in refused(path, {**content, key: {"type": "Regex"}})


@pytest.mark.parametrize("name", list(TOKENIZERS))
def test_the_name_of_another_tokenizer_is_refused(name: str, path: Path) -> None:
    for other in TOKENIZERS:
        if other != name:
            refused(path, {**shared(name).to_json(), "name": other})


@pytest.mark.parametrize(
    ("name", "change", "component"),
    [
        ("char", {"characters": []}, "'characters'"),
        ("char", {"characters": ["a", 1]}, "characters[1]"),
        ("char", {"characters": ["a", "a"]}, "characters[1]"),
        ("char", {"characters": ["a", "bc"]}, "'characters'"),
        ("char", {"characters": ["b", "a"]}, "'characters'"),
        ("char", {"characters": ["a", ""]}, "characters[1]"),
        ("char", {"characters": ["a", "\ud800"]}, "'characters'"),
        ("char", {"characters": "ab"}, "'characters'"),
        ("word", {"words": ["a", "b", "a"]}, "words[2]"),
        ("word", {"words": ["a", None]}, "words[1]"),
        ("word", {"lowercase": "yes"}, "'lowercase'"),
        ("bpe", {"merges": [[97, 98], [256]]}, "merges[1]"),
        ("bpe", {"merges": [[97, 98], ["a", "b"]]}, "merges[1]"),
        ("bpe", {"merges": [[97, 98], [97, 1.0]]}, "merges[1]"),
        ("bpe", {"merges": [[97, 98], [97, True]]}, "merges[1]"),
        ("bpe", {"merges": [[97, 98], [257, 97]]}, "merges[1]"),
        ("bpe", {"merges": [[256, 98]]}, "merges[0]"),
        ("bpe", {"merges": [[98, 256]]}, "merges[0]"),
        ("bpe", {"merges": [[-1, 98]]}, "merges[0]"),
        ("bpe", {"merges": [[97, 98], [97, 98]]}, "merges[1]"),
        ("bpe", {"merges": [[97, 97], *([i, i] for i in range(256, 300))]}, "merges[6]"),
    ],
)
def test_damaged_symbols_are_refused(name: str, change: dict[str, Any], component: str, path: Path) -> None:
    assert component in refused(path, {**shared(name).to_json(), **change})


def test_a_hugging_face_file_is_refused_by_its_components(path: Path) -> None:
    message = refused(path, HUGGING_FACE)
    assert "'normalizer'" in message and "'pre_tokenizer'" in message


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "1", "null", '"x"', "[" * 100_000, "9" * 5_000, "\ufeff{}", '{"a": NaN']
)
def test_what_is_not_a_json_object_is_refused(text: str, path: Path) -> None:
    assert "JSON" in refused(path, text)


def test_a_key_given_twice_is_refused(path: Path) -> None:
    trained("byte").save(path.parent)
    twice = path.read_text().replace("{\n", '{\n"documents": true,\n')
    assert "twice" in refused(path, twice)


def test_bytes_that_are_not_text_are_refused(path: Path) -> None:
    path.write_bytes(b"\x80\x04\x95pickle")
    with pytest.raises(DataError, match="not JSON"):
        load_tokenizer(path)


def test_a_file_that_is_too_large_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained("char").save(path.parent)
    monkeypatch.setattr("seqlab.tokenization.serialization.MAX_FILE_BYTES", path.stat().st_size - 1)
    with pytest.raises(DataError, match="larger than"):
        load_tokenizer(path)
    monkeypatch.setattr("seqlab.tokenization.serialization.MAX_FILE_BYTES", path.stat().st_size)
    load_tokenizer(path)


def test_more_lists_than_we_would_write_are_refused_unread(path: Path) -> None:
    start = time.process_time()
    message = refused(path, json.dumps(shared("bpe").to_json())[:-2] + ",[]" * 15_000_000 + "]}")
    assert "lists" in message
    assert time.process_time() - start < 2


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_endless_files_are_not_read_to_their_end() -> None:
    with pytest.raises(DataError, match="larger than"):
        load_tokenizer(Path("/dev/zero"))


def test_missing_and_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="nowhere"):
        load_tokenizer(tmp_path / "nowhere" / "tokenizer.json")
    with pytest.raises(StorageError, match="cannot be read"):
        load_tokenizer(tmp_path)
