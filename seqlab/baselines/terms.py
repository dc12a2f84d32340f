"""Text as the terms that search compares: its words in lower case, cut to their stems by Porter's rules for English."""

import re
from collections.abc import Iterable

import Stemmer

from seqlab.tokenization.letters import LETTER

WORD = re.compile(rf"[{LETTER}]+")


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
        words = WORD.findall(text.lower())
        new = [word for word in words if word not in stems]
        stems.update(zip(new, self._stemmer.stemWords(new), strict=True))
        return [ids.setdefault(stems[word], len(ids)) for word in words]

    def known(self, text: str) -> list[int]:
        """The ids of a query's terms, without those that no document has."""
        return [self.ids[stem] for stem in self.stems(text) if stem in self.ids]

    def stems(self, text: str) -> list[str]:
        return self.stems_of(WORD.findall(text.lower()))

    def stems_of(self, words: list[str]) -> list[str]:
        return self._stemmer.stemWords(words)
