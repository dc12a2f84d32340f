import bz2
import gzip
import lzma
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from seqlab.data import files as reading
from seqlab.data.files import InputFixes, decode, existing_path, read_beginning, read_file
from seqlab.data.foreign import FOREIGN
from seqlab.errors import DataError, MissingInput, StorageError

blocks = st.integers(4, 9)
texts = st.lists(st.sampled_from([*"ab \r\né日😀\ufeff", "\r\n"]), max_size=40).map("".join)
quick = settings(max_examples=150)


def pieces(raw, size):
    return (raw[at : at + size] for at in range(0, len(raw), size))


@quick
@given(texts, blocks)
def test_text_is_what_python_reads(text, size):
    raw, fixes = text.encode(), InputFixes()
    decoded = list(decode(pieces(raw, size), "x", fixes))
    clean = raw.decode("utf-8-sig")
    assert "".join(decoded) == clean.replace("\r\n", "\n")
    assert all(decoded)
    assert fixes.crlf_lines == clean.count("\r\n")
    assert fixes.byte_order_marks == text.startswith("\ufeff")


@quick
@given(texts, st.binary(min_size=1, max_size=4), texts, blocks)
def test_a_bad_byte_is_found_where_python_finds_it(before, bad, after, size):
    raw = before.encode() + bad + after.encode()
    assume(not raw.startswith(tuple(FOREIGN)))  # files of other kinds have a message of their own
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        line, byte = 1 + raw[: error.start].count(b"\n"), raw[error.start]
        expected = f"'x', line {line}, offset {error.start}: byte 0x{byte:02x} is not UTF-8"
    else:
        return
    with pytest.raises(DataError) as refused:
        list(decode(pieces(raw, size), "x", InputFixes()))
    message = str(refused.value)
    assert message.startswith(expected) or "NUL" in message
    if b"\0" not in bad:
        assert message.startswith(expected)
        assert "iconv" in message


def test_a_binary_file_is_called_so(tmp_path):
    """Its encoding cannot be converted."""
    path = tmp_path / "photo.txt"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    with pytest.raises(DataError, match=r"photo\.txt' is binary, not text: it has NUL bytes\. Give a file of text\.$"):
        list(read_file(path, InputFixes()))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 1000])
def test_a_bad_byte_across_blocks(tmp_path, monkeypatch, size):
    """The euro sign lacks its last byte, so that the fault begins in one block and shows in the next."""
    monkeypatch.setattr(reading, "BLOCK", size)
    path = tmp_path / "bad.txt"
    path.write_bytes(b"one\r\ntwo\n" + b"\xe2\x82 three\n")
    with pytest.raises(DataError, match=r"bad\.txt', line 3, offset 9: byte 0xe2 is not UTF-8"):
        list(read_file(path, InputFixes()))


def test_a_character_that_the_file_ends_within(tmp_path):
    path = tmp_path / "cut.txt"
    path.write_bytes("déjà".encode()[:-1])
    with pytest.raises(DataError, match="line 1, offset 4: byte 0xc3"):
        list(read_file(path, InputFixes()))


@pytest.mark.parametrize("size", [3, 4, 5])
def test_an_offset_counts_the_byte_order_mark(monkeypatch, tmp_path, size):
    monkeypatch.setattr(reading, "BLOCK", size)
    path = tmp_path / "marked.txt"
    path.write_bytes(b"\xef\xbb\xbfab\ncd\xff")
    with pytest.raises(DataError, match="line 2, offset 8"):
        list(read_file(path, InputFixes()))


@pytest.mark.parametrize("size", [3, 7, 1000])
def test_only_the_first_byte_order_mark_is_left_out(monkeypatch, tmp_path, size):
    monkeypatch.setattr(reading, "BLOCK", size)
    path, fixes = tmp_path / "marked.txt", InputFixes()
    path.write_bytes(b"\xef\xbb\xbfa\xef\xbb\xbfb")
    assert "".join(read_file(path, fixes)) == "a\ufeffb"
    assert fixes.byte_order_marks == 1


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_line_ends_across_blocks(monkeypatch, tmp_path, size):
    monkeypatch.setattr(reading, "BLOCK", size)
    path, fixes = tmp_path / "dos.txt", InputFixes()
    path.write_bytes(b"a\r\nb\r\r\nc\rd\n\r")
    assert "".join(read_file(path, fixes)) == "a\nb\r\nc\rd\n\r"
    assert fixes.crlf_lines == 2


@pytest.mark.parametrize("size", [2, 1000])
def test_nul_is_refused_with_its_line(monkeypatch, tmp_path, size):
    monkeypatch.setattr(reading, "BLOCK", size)
    path = tmp_path / "binary.txt"
    path.write_bytes(b"a\nb\r\nc\0d\n")
    with pytest.raises(DataError, match="line 3: a NUL character"):
        list(read_file(path, InputFixes()))


def test_gzip(tmp_path):
    path = tmp_path / "packed.txt.gz"
    path.write_bytes(gzip.compress("première\r\n".encode()) + gzip.compress(b"second\n"))
    fixes = InputFixes()
    assert "".join(read_file(path, fixes)) == "première\nsecond\n"
    assert fixes.crlf_lines == 1


@pytest.mark.parametrize("damage", ["truncated", "not gzip", "flipped"])
def test_damaged_gzip(tmp_path, damage):
    packed = gzip.compress(bytes(range(32, 127)) * 1000)
    raw = {
        "truncated": packed[:-20],
        "not gzip": b"plain text",
        "flipped": packed[:30] + bytes([packed[30] ^ 0xFF]) + packed[31:],
    }[damage]
    path = tmp_path / "packed.gz"
    path.write_bytes(raw)
    with pytest.raises(DataError, match=r"packed\.gz' ends in \.gz but cannot be unpacked"):
        list(read_file(path, InputFixes()))


def test_a_line_of_ten_megabytes(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(b"x" * 10_000_000 + "é\n".encode())
    decoded = list(read_file(path, InputFixes()))
    assert "".join(decoded) == "x" * 10_000_000 + "é\n"
    assert max(map(len, decoded)) <= reading.BLOCK


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(MissingInput, match="there is no file"):
        list(read_file(tmp_path / "none.txt", InputFixes()))
    with pytest.raises(StorageError, match="cannot be read: Is a directory"):
        list(read_file(tmp_path, InputFixes()))


def test_an_empty_file_has_no_blocks(tmp_path):
    path = tmp_path / "empty.txt"
    path.write_bytes(b"")
    assert list(read_file(path, InputFixes())) == []


@pytest.mark.parametrize(
    ("begins", "advice"),
    [
        (b"%PDF-1.4\n%\xe2", "is a PDF, not text. Extract its text: pdftotext 'my notes.txt' new.txt"),
        (
            gzip.compress(b"text"),
            "is packed by gzip, not text. Give it a name that ends in .gz, or unpack it: gzip",
        ),
        (bz2.compress(b"text"), "is packed by bzip2, not text. Unpack it: bzip2 -dc < 'my notes.txt' > new.txt"),
        (lzma.compress(b"text"), "is packed by xz, not text. Unpack it: xz -dc <"),
    ],
    ids=["pdf", "gzip", "bzip2", "xz"],
)
def test_files_that_are_no_text_are_recognized(tmp_path, monkeypatch, begins, advice):
    monkeypatch.chdir(tmp_path)
    path = Path("my notes.txt")
    path.write_bytes(begins)
    for read in (lambda: list(read_file(path, InputFixes())), lambda: read_beginning(path, 1000)):
        with pytest.raises(DataError) as refused:
            read()
        assert advice in str(refused.value)


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_cr_ends_lines_where_there_is_no_lf(tmp_path, monkeypatch, size):
    monkeypatch.setattr(reading, "BLOCK", size)
    path, fixes = tmp_path / "old.txt", InputFixes()
    path.write_bytes(b"one\rtwo\r\rfour\r")
    assert "".join(read_file(path, fixes)) == "one\ntwo\n\nfour\n"
    assert fixes.notes() == ["read 4 CR line endings as LF, since there is no LF"]
    assert read_beginning(path, 1000)[0] == ["one", "two", "", "four", ""]
    path.write_bytes(b"one\rtwo\nthree")  # otherwise it is a character of the text
    assert "".join(read_file(path, InputFixes())) == "one\rtwo\nthree"


@pytest.mark.parametrize("target", ["nowhere", "link.txt"])
def test_a_broken_link_is_called_that(tmp_path, monkeypatch, target):
    monkeypatch.chdir(tmp_path)
    Path("link.txt").symlink_to(target)
    with pytest.raises(MissingInput, match=f"'link.txt' is a broken link: it leads to '{target}'"):
        existing_path("link.txt")
