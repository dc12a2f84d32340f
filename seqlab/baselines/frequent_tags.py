"""The most frequent tag of each word: what counting knows of a word without its context.

A word that training did not have gets the tag of rare words that end as it does: the longest ending that is known,
among words of the same shape.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from seqlab.data.examples.example import UNSCORED, TaggedSentence

LONGEST_ENDING = 5  # characters
RARE = 3  # words seen at most this often stand for those never seen


class FrequentTags:
    """A tag for each known word, for each shape and ending, and for whatever is left."""

    about = "the most frequent tag of each word; of an unknown word, that of rare words with its shape and ending"

    def __init__(self, by_word: dict[str, str], by_ending: dict[tuple[str, str], str], otherwise: str):
        self.by_word, self.by_ending, self.otherwise = by_word, by_ending, otherwise

    @classmethod
    def fit(cls, examples: Sequence[TaggedSentence]) -> "FrequentTags":
        by_word: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for example in examples:
            for word, tag in zip(example.words, example.tags, strict=True):
                if tag != UNSCORED:
                    by_word[word][tag] += 1
        assert by_word, "there is at least one tag to count"

        by_ending: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        rare: Counter[str] = Counter()
        for word, tags in by_word.items():
            if tags.total() <= RARE:
                rare.update(tags)
                for key in _endings(word):
                    by_ending[key].update(tags)
        # a small set may repeat every word so often that none is rare
        otherwise = _most_frequent(rare or sum(by_word.values(), Counter()))
        return cls(
            {word: _most_frequent(tags) for word, tags in by_word.items()},
            {key: _most_frequent(tags) for key, tags in by_ending.items()},
            otherwise,
        )

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
        """A tag for every word of every sentence."""
        return [tuple(self._tag(word) for word in words) for words in sentences]

    def _tag(self, word: str) -> str:
        if word in self.by_word:
            return self.by_word[word]
        return next((self.by_ending[key] for key in _endings(word) if key in self.by_ending), self.otherwise)


def _endings(word: str) -> Iterator[tuple[str, str]]:
    """The word's shape with each of its endings, the longest first and the empty one last."""
    shape = "digits" if any(map(str.isdigit, word)) else "capital" if word[:1].isupper() else "other"
    for length in range(min(LONGEST_ENDING, len(word)), -1, -1):
        yield shape, word[len(word) - length :].lower()


def _most_frequent(tags: Counter[str]) -> str:
    """Of equally frequent tags the first in alphabetical order, so that the order of the examples does not matter."""
    return min(tags, key=lambda tag: (-tags[tag], tag))
