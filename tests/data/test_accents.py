"""Accents in two forms are said; in one form, or on letters that have no other, they are not."""

import pytest

from seqlab.analysis.scan import scan_text
from seqlab.data.accents import accent_notes, count_characters
from seqlab.data.text.corpus import corpus_from_text

MIXED = "café müde " * 3 + "cafe\u0301 mu\u0308de " * 2


def test_both_ways_are_counted() -> None:
    (note,) = accent_notes(count_characters([MIXED]))
    assert "6 as part of their letter, 4 as characters of their own (U+0301, U+0308)" in note


@pytest.mark.parametrize("text", ["café müde", "cafe\u0301", "plain", "мой сло\u0301во"])
def test_one_way_is_no_note(text: str) -> None:
    assert accent_notes(count_characters([text])) == []


def test_the_doctor_says_it() -> None:
    stats = scan_text(corpus_from_text(MIXED + "\u2028", "mixed")).character_stats
    assert any("accents are written in two ways: 6" in note for note in stats.notes)
    assert [one.code for one in stats.invisible] == ["U+2028"]
