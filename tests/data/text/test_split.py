from itertools import chain

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from seqlab.config import CorpusSettings
from seqlab.data.text.corpus import Corpus, corpus_from_text
from seqlab.data.text.split import MIN_CHARACTERS, slice_text, split_text
from seqlab.errors import DataError

quick = settings(max_examples=80)
ONNX_BACKBONES = {"90/10": ["train", "validation"], "80/10/10": ["train", "validation", "test"], "whole": ["whole"]}
texts = st.text(st.sampled_from("ab é日\n"), min_size=MIN_CHARACTERS, max_size=150)


def split(corpus, is_whole=False, **values):
    return split_text(corpus, CorpusSettings(source=("x",), **values), is_whole)


def split_or_whole(corpus, shares, **values):
    return split(corpus, is_whole=True, **values) if shares == "whole" else split(corpus, split_ratios=shares, **values)


def corpus_of(blocks):
    return Corpus("x", lambda: iter(blocks))


def cut(text, size):
    return [text[at : at + size] for at in range(0, len(text), size)]


def numbered(count):
    return "".join(f"line {number}\n" for number in range(count))


@quick
@given(texts, st.integers(1, 60), st.sampled_from([*ONNX_BACKBONES]))
def test_the_parts_of_a_stream_are_the_text(text, size, shares):
    text_splits = split_or_whole(corpus_of(cut(text, size)), shares)
    splits = {name: text_splits.text(name) for name in text_splits.splits}
    assert text_splits.splits == ONNX_BACKBONES[shares]
    assert "".join(splits.values()) == text
    n = len(text)
    cuts = {"90/10": [9 * n // 10], "80/10/10": [8 * n // 10, 9 * n // 10], "whole": []}[shares]
    assert list(splits.values()) == [text[a:b] for a, b in zip([0, *cuts], [*cuts, n], strict=True)]


@pytest.mark.parametrize("length", [64, 65, 69, 70, 71, 1001])
def test_the_training_part_is_the_floor_of_nine_tenths(length):
    text_splits = split(corpus_from_text("x" * length, "x"))
    assert len(text_splits.text("train")) == int(length * 9 / 10)


@quick
@given(texts, st.integers(1, 60), st.integers(0, 200), st.integers(0, 200))
def test_a_stretch(text, size, first, length):
    text_splits = list(slice_text(iter(cut(text, size)), first, first + length))
    assert "".join(text_splits) == text[first : first + length]
    assert all(text_splits)


@quick
@given(
    st.lists(st.text(st.sampled_from("ab é"), max_size=8), min_size=10, max_size=60), st.sampled_from([*ONNX_BACKBONES])
)
def test_the_parts_of_lines_are_the_lines(lines, shares):
    """Each line is in one part, in the corpus's order; those without content are in none."""
    numbered = [f"{number} {line}" if line else "" for number, line in enumerate(lines)]
    text = "\n".join(numbered) + "\n"
    assume(len(text) >= MIN_CHARACTERS)
    text_splits = split_or_whole(corpus_of(cut(text, 7)), shares, documents="lines")
    splits = {name: list(text_splits.lines(name)) for name in text_splits.splits}
    expected = [line for line in numbered if line]
    assert sorted(chain(*splits.values())) == sorted(expected)
    for name, kept in splits.items():
        assert kept == [line for line in expected if line in set(kept)]
        assert text_splits.text(name) == "".join(line + "\n" for line in kept)


def test_lines_are_dealt_out_by_number():
    text_splits = split(corpus_from_text(numbered(1000), "x"), documents="lines", split_ratios="80/10/10")
    assert [len(list(text_splits.lines(name))) for name in text_splits.splits] == [800, 100, 100]


def test_lines_are_dealt_out_alike_each_time():
    first, second = (
        list(split(corpus_from_text(numbered(50), "x"), documents="lines").lines("train")) for _ in range(2)
    )
    assert first == second


def test_the_held_out_lines_are_from_all_over_the_list():
    held_out = list(split(corpus_from_text(numbered(1000), "x"), documents="lines").lines("validation"))
    numbers = [int(line.split()[1]) for line in held_out]
    assert min(numbers) < 100
    assert max(numbers) > 900
    assert 350 < sum(numbers) / len(numbers) < 650


@pytest.mark.parametrize("empty", ["", "  ", "\t", "\u3000\xa0"])
def test_empty_lines_and_lines_in_two_splits_are_said(empty):
    same = split(corpus_from_text(f"the same line\n{empty}\n" * 40, "x"), documents="lines")
    assert {*same.lines("train")} == {"the same line"}
    count = len([*same.lines("validation")])
    assert same.notes[0] == "skipped 40 lines, empty or of spaces alone: every other line is a document"
    assert same.notes[1].startswith(f"{count} of {count} validation lines (100.0%) are also in the training split")
    assert split(corpus_from_text(numbered(30), "x"), documents="lines").notes == []
    assert split(corpus_from_text("the same line\n\n" * 20, "x")).notes == []


def test_a_last_line_without_a_newline_is_a_line():
    text_splits = split(corpus_from_text(numbered(20).rstrip("\n"), "x"), documents="lines", is_whole=True)
    assert list(text_splits.lines("whole"))[-1] == "line 19"


def test_a_line_longer_than_many_blocks():
    blocks = ["x" * 1000] * 50 + ["\n"] + ["short\n"] * 20
    text_splits = split(corpus_of(blocks), documents="lines", is_whole=True)
    assert [len(line) for line in text_splits.lines("whole")] == [50_000] + [5] * 20


def test_a_limit_is_the_beginning_of_a_part():
    text_splits = split(corpus_of(["abcdefghij"] * 20))
    assert text_splits.text("train", 15) == "abcdefghijabcde"
    assert text_splits.text("validation", 10**9) == "abcdefghij" * 2
    assert text_splits.text("train", 0) == ""
    assert text_splits.tail("train", 12) == "ijabcdefghij"


@pytest.mark.parametrize("length", [0, 1, MIN_CHARACTERS - 1])
def test_too_short_a_text(length):
    with pytest.raises(DataError, match=f"has {length} characters?; training needs at least 64") as refused:
        split(corpus_from_text("x" * length, "tiny"))
    assert "toy-words" in str(refused.value)


def test_a_text_that_is_only_scored_may_be_short():
    assert split(corpus_from_text("ab", "x"), is_whole=True).text("whole") == "ab"
    with pytest.raises(DataError, match="nothing to score"):
        split(corpus_from_text("a", "x"), is_whole=True)


def test_too_few_lines():
    with pytest.raises(DataError, match="has 9 lines; --documents lines needs at least 10"):
        split(corpus_from_text("a line of text\n" * 9, "x"), documents="lines")
