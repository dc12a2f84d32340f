from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seqlab.decode.stop_strings import StopStrings
from seqlab.errors import UsageError


class Bytes:
    """Each id a byte of UTF-8, so that characters can be cut through; counts what it decodes. 256 has no spelling."""

    def __init__(self) -> None:
        self.decoded = 0

    def decode(self, ids: Sequence[int], /) -> str:
        self.decoded += len(ids)
        return bytes(token for token in ids if token < 256).decode(errors="replace")


class Pieces:
    """Each id a piece of text, some of them long."""

    spelling = ("a", "b", "ab", "ba\n", "\n", "abab\nab", "")

    def decode(self, ids: Sequence[int], /) -> str:
        return "".join(self.spelling[token] for token in ids)


STRINGS = st.lists(st.text("aé漢😀", min_size=1, max_size=4), max_size=3)


@given(text=st.text("aé漢😀", max_size=30), strings=STRINGS)
def test_it_stops_at_the_byte_that_completes_a_string(text: str, strings: list[str]):
    stop, tokens = StopStrings(Bytes(), strings), list(text.encode())
    stopped = [stop(0, tokens[:count]) for count in range(1, len(tokens) + 1)]
    first = next((i for i in range(len(text) + 1) if any(s in text[:i] for s in strings)), None)
    if first is None:
        assert not any(stopped)
        assert stop.cut(tokens) == text
    else:
        assert stopped.index(True) == len(text[:first].encode()) - 1
        assert stop.cut(tokens) == text[: min(text.find(s) for s in strings if s in text)]


@given(tokens=st.lists(st.integers(0, 6), min_size=1, max_size=40), strings=st.lists(st.text("ab\n", min_size=1)))
@example(tokens=[0, *[6] * 20, 5], strings=["aab"])
def test_long_and_empty_pieces_hide_nothing(tokens: list[int], strings: list[str]):
    tokenizer = Pieces()
    stop = StopStrings(tokenizer, strings)
    for count in range(1, len(tokens) + 1):
        stopped = stop(0, tokens[:count])
        assert stopped == any(string in tokenizer.decode(tokens[:count]) for string in strings)
        if stopped:
            break


def test_the_cost_of_asking_does_not_grow_with_the_text():
    tokenizer = Bytes()
    stop, tokens = StopStrings(tokenizer, ["\n\n", "END"]), list(b"no end in sight, " * 200)
    for count in range(1, len(tokens) + 1):
        assert not stop(0, tokens[:count])
    assert tokenizer.decoded < 20 * len(tokens)


@pytest.mark.parametrize("wrong", ["END", ["END", ""]])
def test_what_is_no_list_of_strings_is_refused(wrong: Sequence[str]):
    with pytest.raises(UsageError, match="stop strings"):
        StopStrings(Bytes(), wrong)
