import gzip
import unicodedata
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from seqlab.analysis import scan as scanning
from seqlab.analysis.scan import scan_text
from seqlab.config import CorpusSettings
from seqlab.data import files as reading
from seqlab.data.foreign import FOREIGN
from seqlab.data.text.corpus import Corpus, corpus_from_text, measure_corpus, open_corpus
from seqlab.data.text.split import split_text
from seqlab.errors import DataError

quick = settings(max_examples=150)
texts = st.lists(st.sampled_from([*"ab \t\r\né日😀\u3000\ufeff\x0c", "\r\n"]), max_size=40).map("".join)


def of_bytes(folder, *contents, suffix=".txt"):
    for number, content in enumerate(contents):
        (folder / f"{number}{suffix}").write_bytes(content)
    return open_corpus([str(folder / f"{number}{suffix}") for number in range(len(contents))])


def faults(found):
    return {fault.kind: fault for fault in found.faults}


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(reading, "BLOCK", 4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("texts")


@quick
@example(contents=["aaé\n\r\r"], size=4)  # a block that begins with LF and ends with CR
@given(contents=st.lists(texts, min_size=1, max_size=3, unique=True), size=st.integers(4, 30))
def test_sizes_are_those_that_training_reads(folder, contents, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BLOCK", size)
        corpus = of_bytes(folder, *(content.encode() for content in contents))
        text, result, known = "".join(corpus.blocks()), scan_text(corpus), measure_corpus(corpus)
    lines = text.split("\n")[: known.lines]
    assert (result.characters, result.lines.total) == (known.characters, known.lines)
    assert result.bytes == sum(len(content.encode()) for content in contents) + result.added_newlines
    assert result.words == len(text.split())
    assert result.character_stats.distinct == len(set(text))
    assert (result.byte_order_marks, result.lines.crlf) == (
        corpus.fixes.byte_order_marks,
        corpus.fixes.crlf_lines,
    )
    assert result.lines.cr == corpus.fixes.cr_lines
    assert result.lines.longest == max(map(len, lines), default=0)
    assert result.lines.empty == sum(not line.strip() for line in lines)
    assert result.lines.lone_cr == text.count("\r")
    assert result.lines.lf + result.lines.crlf + result.lines.cr == text.count("\n")


@quick
@example(content=b"\x1f\x8b\x08", size=4)  # the beginning of a packed file
@given(content=st.lists(st.one_of(texts.map(str.encode), st.binary(max_size=3))).map(b"".join), size=st.integers(4, 30))
def test_the_first_fault_is_the_one_that_training_stops_at(folder, content, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BLOCK", size)
        corpus = of_bytes(folder, content)
        result = faults(scan_text(corpus))
    try:
        list(corpus.blocks())
    except DataError as error:
        refusal = str(error)
    else:
        refusal = None
    refused = {"bytes that are not UTF-8", "NUL characters", "U+FFFD, left by a conversion that went wrong"} & {*result}
    if b"\xef\xbf\xbd" in content or content.startswith((b"\xff\xfe", b"\xfe\xff", *FOREIGN)):
        return
    assert bool(refused) == (refusal is not None)
    if "bytes that are not UTF-8" in refused:
        place = result["bytes that are not UTF-8"].locations[0]
        assert refusal is not None
        stopped = f"line {place.line}, offset {place.offset}: byte {place.what} is not UTF-8" in refusal
        assert stopped or ("NUL characters" in refused and "NUL" in refusal)  # binary, or whichever is read first
        assert content[place.offset] == int(place.what, 16)


def test_every_bad_byte_is_listed_with_its_place(tmp_path, small_blocks):
    content = b"\xef\xbb\xbfcaf\xe9\r\n\xff\xfe\nok \xe2\x82\n\x80"
    result = faults(scan_text(of_bytes(tmp_path, content)))["bytes that are not UTF-8"]
    assert [(place.line, place.offset, place.what) for place in result.locations] == [
        (1, 6, "0xe9"),
        (2, 9, "0xff"),
        (2, 10, "0xfe"),
        (3, 15, "0xe2"),
        (3, 16, "0x82"),
        (4, 18, "0x80"),
    ]
    assert {place.file for place in result.locations} == {str(tmp_path / "0.txt")}


def test_many_bad_bytes_are_counted_and_the_first_shown(tmp_path):
    result = scan_text(of_bytes(tmp_path, b"a\x81\n" * 1000, b"b\x81\n" * 10))
    fault = faults(result)["bytes that are not UTF-8"]
    assert (fault.count, len(fault.locations)) == (1010, scanning.MAX_LISTED)
    assert [place.line for place in fault.locations] == list(range(1, 21))
    assert result.character_stats.distinct == 3  # a byte is not a symbol


def test_lines_are_counted_in_each_file(tmp_path):
    fault = faults(scan_text(of_bytes(tmp_path, b"a\nb", b"\n\x81")))["bytes that are not UTF-8"]
    assert [(place.file, place.line, place.offset) for place in fault.locations] == [(str(tmp_path / "1.txt"), 2, 1)]


def test_other_faults(tmp_path):
    result = faults(scan_text(of_bytes(tmp_path, "a\0b\x1b\n\t\x85\ufffd\r\n".encode())))
    assert {kind: [(p.line, p.offset, p.what) for p in fault.locations] for kind, fault in result.items()} == {
        "NUL characters": [(1, 1, "U+0000")],
        "control characters": [(1, 3, "U+001B"), (2, 6, "U+0085")],
        "U+FFFD, left by a conversion that went wrong": [(2, 8, "U+FFFD")],
    }


def test_other_encodings_are_scanned_as_training_reads_them(tmp_path):
    result = scan_text(of_bytes(tmp_path, b"narrow\n", "wïde\r\n".encode("utf-16"), b"caf\xe9 au lait\n"))
    assert faults(result) == {}
    assert (result.characters, result.bytes, result.lines.crlf) == (7 + 5 + 13, 7 + 7 + 14, 1)
    assert result.encodings == {
        str(tmp_path / "1.txt"): "UTF-16",
        str(tmp_path / "2.txt"): "Windows-1252 (Latin-1)",
    }


def test_a_packed_file_that_breaks_off_is_read_as_far_as_possible(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "BLOCK", 100)
    packed = gzip.compress(b"".join(b"line %d\n" % number for number in range(5000)))
    result = scan_text(of_bytes(tmp_path, packed[: len(packed) // 2], suffix=".gz"))
    assert "cannot be unpacked" in faults(result)["truncated .gz files"].locations[0].what
    assert result.characters > 1000


def test_line_ends(tmp_path, small_blocks):
    lines = scan_text(of_bytes(tmp_path, b"a\r\nb\nc\rd\r\n\n")).lines
    assert (lines.crlf, lines.lf, lines.lone_cr, lines.total) == (2, 2, 1, 4)
    assert (lines.longest, lines.empty) == (len("c\rd"), 1), "a line does not include its end"


def test_long_lines(tmp_path):
    content = b"short\n" + b"x" * 20_000 + b"\r\n" + b"y" * 3_000_000 + b"\n" + b"z" * 10_000
    lines = scan_text(of_bytes(tmp_path, content)).lines
    assert (lines.long, lines.longest) == (2, 3_000_000)
    assert lines.longest_at == f"{tmp_path / '0.txt'}, line 3"


def test_rare_symbols_are_named():
    text = "e" * 100 + "éé" + "日本日本日" + "ß" * 4 + "\x07"
    symbols = scan_text(corpus_from_text(text, "x")).character_stats
    counts = Counter(text)
    rare = [symbol for symbol in counts if counts[symbol] < 5]
    assert (symbols.distinct, symbols.rare) == (len(counts), len(rare))
    assert symbols.rare_occurrences == sum(counts[symbol] for symbol in rare)
    assert [(symbol.code, symbol.count) for symbol in symbols.rarest] == [
        ("U+0007", 1),
        ("U+00E9", 2),
        ("U+672C", 2),
        ("U+65E5", 3),
        ("U+00DF", 4),
    ]
    assert symbols.rarest[0].name == "control character"
    assert symbols.rarest[1].name == unicodedata.name("é")
    assert symbols.invisible == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("".join(f"name {number}\n" for number in range(100)), True),
        ("".join(f"name {number}\n" for number in range(10)), False),
        ("".join(f"{'x' * 50} {number}\n" for number in range(100)), False),
        ("".join(f"a line of verse, no {number}\n" for number in range(100)), False),
        ("".join(f"name {number}\n\n" for number in range(100)), False),
        ("".join(f"name {number}\n" for number in range(297)) + "\n\nname\n\n\n\n", True),
    ],
)
def test_what_looks_like_a_list(text, expected):
    assert scan_text(corpus_from_text(text, "x")).looks_like_a_list is expected


def test_a_built_in_corpus_has_no_faults():
    result = scan_text(open_corpus(["toy-words"]))
    assert result.faults == []
    assert result.words == 20_000
    assert not result.looks_like_a_list


def test_nothing():
    result = scan_text(Corpus("x", lambda: iter([])))
    assert (result.characters, result.lines.total, result.words, result.faults) == (0, 0, 0, [])


def test_lines_of_white_space_alone_count_as_empty_like_those_that_training_skips(folder):
    corpus = of_bytes(folder, "a list\n  \n\n\u3000\t\nof words \n".encode() * 30)
    by_lines = split_text(corpus, CorpusSettings(source=("x",), documents="lines"))
    assert scan_text(corpus).lines.empty == by_lines.count_empty_lines() == 90
