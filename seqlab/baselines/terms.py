"""Text as the terms that search compares: its words in lower case, cut to their stems by Porter's rules for English.

What nobody sees in a word, such as a soft hyphen, is no part of it, and a ligature is its letters. Scripts that put no
space between words are read as single characters and pairs of neighbors: a word is then found by its pairs, wherever it
begins.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

import Stemmer

from seqlab.data.invisible import VISIBLE, may_have_invisible
from seqlab.tokenization.letters import LETTER

WORD = re.compile(rf"[{LETTER}]+")
WITH_INVISIBLE = re.compile(rf"[{LETTER}](?:[{LETTER}\u00ad\u200b\u2060\ufeff]*[{LETTER}])?")
COLORS = re.compile("\x1b\\[[0-9;]*m")  # of a terminal
# Thai, Lao, Myanmar, Khmer; kana and Chinese characters, also half-width ones and those beyond the basic plane
UNSPACED = (
    r"\u0e00-\u0e4e\u0e80-\u0ece\u1000-\u103f\u1780-\u17d3\u3005-\u3007\u3041-\u30ff"
    r"\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
ANY_UNSPACED = re.compile(f"[{UNSPACED}]")
PART = re.compile(rf"[{UNSPACED}]|[^{UNSPACED}]+")  # of a word: characters one by one, and what is between them


class Terms:
    """The terms of a collection and their ids, in the order in which they were first seen."""

    def __init__(self, terms: Iterable[str] = ()):
        self.ids = {term: place for place, term in enumerate(terms)}
        self._stemmer = Stemmer.Stemmer("english")
        self._stems: dict[str, str] = {}  # of the words that documents have

    def __len__(self) -> int:
        return len(self.ids)

    def learn(self, text: str) -> list[int]:
        """The ids of a document's terms; a new term gets the next id."""
        stems, ids = self._stems, self.ids
        words = words_of(text)
        new = [word for word in words if word not in stems]
        stems.update(zip(new, self._stemmer.stemWords(new), strict=True))
        return [ids.setdefault(stems[word], len(ids)) for word in words]

    def known(self, text: str) -> list[int]:
        """The ids of a query's terms, without those that no document has."""
        return [self.ids[stem] for stem in self.stems(text) if stem in self.ids]

    def stems(self, text: str) -> list[str]:
        return self.stems_of(words_of(text))

    def stems_of(self, words: list[str]) -> list[str]:
        return self._stemmer.stemWords(words)


def words_of(text: str) -> list[str]:
    """The words of a text in lower case; of scripts without spaces, characters and pairs of neighbors."""
    text = plain_form(text)
    if text.isascii() or not ANY_UNSPACED.search(text):
        return WORD.findall(text)
    return [text[start:end] for start, end in word_spans(text)]


def plain_form(text: str) -> str:
    """A text in lower case, as words are compared."""
    if "\x1b" in text:
        text = COLORS.sub("", text)
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text.translate(VISIBLE) if may_have_invisible(text) else text).lower()


def has_word(text: str) -> bool:
    """Whether search by words can find a text at all."""
    return WORD.search(text) is not None


def word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where each word of `words_of` starts and ends, if its plain form has as many characters, or within a text."""
    for word in WITH_INVISIBLE.finditer(text):
        if not ANY_UNSPACED.search(word[0]):
            yield word.span()
            continue
        before = -1  # the end of the last single character
        for part in PART.finditer(text, *word.span()):
            start, end = part.span()
            if ANY_UNSPACED.match(part[0]):
                if start == before:
                    yield start - 1, end
                before = end
            yield start, end
