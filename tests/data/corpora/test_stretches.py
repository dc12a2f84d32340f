"""How a text file is cut into stretches: the same from any place, whatever the blocks and workers."""

import json

import pytest
from corpus_files import set_sizes
from hypothesis import given
from hypothesis import strategies as st

from seqlab.data.corpora.documents import DocumentReader
from seqlab.data.corpora.faults import Faults
from seqlab.data.corpora.source import TextSource
from seqlab.data.corpora.streams import ByteWindow
from seqlab.errors import DataError

SOURCE = TextSource("a.txt", 1, "")
ROWS = TextSource("a.jsonl", 1, "", "rows", column="text")
ROW_TEXTS = st.lists(st.text(st.sampled_from('ab"\\é日\n'), max_size=30), max_size=20)
TEXTS = st.text(st.sampled_from("ab é\n日 \t"), max_size=300)


def read(raw: bytes, source: TextSource, first: int, last: int | None, block: int) -> list[str]:
    """The documents from `first` on, as a worker reads them: it begins one byte before."""
    before = max(0, first - 1)
    blocks = (raw[at : at + block] for at in range(before, len(raw), block))
    reader = DocumentReader(source, Faults())
    return [document.text for document in reader.documents(ByteWindow(blocks, before), first, last)]


@given(TEXTS, st.integers(3, 40), st.integers(1, 64), st.integers(1, 4))  # near: the rest of a character at least
def test_pieces_joined_are_the_whole(text: str, near: int, block: int, stretches: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        set_sizes(patch, 40, near, stretches)
        raw = text.encode()
        whole = read(raw, SOURCE, 0, None, block)
        piece = 40 * stretches
        pieces = [read(raw, SOURCE, first, first + piece, 7) for first in range(0, len(raw), piece)]
        assert [document for some in pieces for document in some] == whole
        assert all(len(document.encode()) <= 40 + near + 1 for document in whole)


@given(TEXTS, st.integers(1, 64))
def test_nothing_is_lost(text: str, block: int) -> None:
    """But for stretches of spaces, which are empty documents, and the newline that ends a document."""
    with pytest.MonkeyPatch.context() as patch:
        set_sizes(patch, 50, 20, 1)
        joined = "".join(read(text.encode(), SOURCE, 0, None, block))
        assert "".join(joined.split()) == "".join(text.split())


@given(ROW_TEXTS, st.integers(1, 90), st.integers(1, 50))
def test_rows_are_read_once(texts: list[str], piece: int, block: int) -> None:
    raw = "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts).encode()
    pieces = [read(raw, ROWS, first, first + piece, block) for first in range(0, len(raw), piece)]
    expected = [text if text.endswith("\n") else text + "\n" for text in texts if text.strip()]
    assert [document for some in pieces for document in some] == expected
    assert read(raw, ROWS, 0, None, block) == expected


def test_a_line_without_end_is_cut_at_spaces() -> None:
    raw = ("word " * 200_000).encode()
    documents = read(raw, SOURCE, 0, None, 1 << 20)
    assert len(documents) == 4 and {len(document) // 1000 for document in documents[:-1]} == {262}
    assert all(document.rstrip("\n").strip().startswith("word") for document in documents)
    nothing_to_cut_at = read("日".encode() * 200_000, SOURCE, 0, None, 1 << 20)
    assert "".join(nothing_to_cut_at).replace("\n", "") == "日" * 200_000
    assert len(nothing_to_cut_at) == 3


def test_a_row_that_is_too_long_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.data.corpora.documents.MAX_LINE", 1000)
    monkeypatch.setattr("seqlab.data.corpora.documents.SCANNED", 100)
    raw = b'{"text": "a"}\n{"text": "' + b"b" * 5000 + b'"}\n{"text": "c"}\n'
    faults = Faults()
    reader = DocumentReader(ROWS, faults)
    window = ByteWindow(iter([raw[at : at + 64] for at in range(0, len(raw), 64)]))
    assert [document.text for document in reader.documents(window, 0, None)] == ["a\n", "c\n"]
    assert faults.notes() == [
        "skipped 1 row that cannot be read; the first: 'a.jsonl', offset 14: a line of more than 1,000 bytes"
    ]


def test_other_encodings_are_refused_with_the_offset() -> None:
    raw = b"plain text\n" + b"\xe4\xe9 \xfc " * 100
    with pytest.raises(DataError, match=r"'a.txt', offset 11: 300 of 511 bytes around it are not UTF-8"):
        read(raw, SOURCE, 0, None, 1 << 20)
