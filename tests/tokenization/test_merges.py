"""The plain byte-pair loop on the textbook's example."""

from hypothesis import given
from hypothesis import strategies as st
from merges import merge_pairs

TEXTBOOK = {(b"a", b"a"): 0, (b"a", b"b"): 1, (b"aa", b"ab"): 2}


def test_the_textbook_example() -> None:
    """aaabdaaabac: Z = aa, Y = ab, X = ZY gives XdXac."""
    assert merge_pairs(b"aaabdaaabac", TEXTBOOK) == [b"aaab", b"d", b"aaab", b"a", b"c"]


def test_the_leftmost_pair_goes_first_and_the_lowest_rank_before_it() -> None:
    assert merge_pairs(b"aaa", TEXTBOOK) == [b"aa", b"a"]
    assert merge_pairs(b"bab", {(b"b", b"a"): 1, (b"a", b"b"): 0}) == [b"b", b"ab"]
    assert merge_pairs(b"", TEXTBOOK) == []


@given(piece=st.binary(max_size=30))
def test_parts_join_to_the_piece(piece: bytes) -> None:
    assert b"".join(merge_pairs(piece, TEXTBOOK)) == piece
    assert merge_pairs(piece, {}) == [bytes([value]) for value in piece]
