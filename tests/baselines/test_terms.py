"""Words are compared as a reader sees them: invisible characters and compatibility forms make no other word."""

import pytest

from seqlab.baselines.terms import plain_form, word_spans, words_of


def test_colors_of_a_terminal_are_no_part_of_words() -> None:
    assert words_of("\x1b[1;31mred\x1b[0m words") == ["red", "words"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("co\u00adoperate para\u200bgraph\ufeff", ["cooperate", "paragraph"]),
        ("\ufb01nancial o\ufb03ce", ["financial", "office"]),
        ("\uff26\uff55\uff4c\uff4c", ["full"]),
        ("cafe\u0301", ["caf\u00e9"]),
        ("a\u200b b", ["a", "b"]),
    ],
)
def test_words_as_a_reader_sees_them(text: str, words: list[str]) -> None:
    assert words_of(text) == words == words_of(text.upper()) == [plain_form(text[a:b]) for a, b in word_spans(text)]
