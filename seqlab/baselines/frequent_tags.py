"""The most frequent tag of each word, without its context.

An unknown word gets the tag of rare words with the same shape and the longest known suffix in common.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from seqlab.baselines.majority import most_frequent
from seqlab.data.examples.example import UNSCORED, TaggedSentence

MAX_SUFFIX = 5  # characters
RARE = 3  # words seen at most this often represent the unknown ones


class FrequentTags:
    """A tag for each known word, for each shape and suffix, and for all other words."""

    about = "the most frequent tag of each word; for unknown words, by shape and suffix"

    def __init__(self, by_word: dict[str, str], by_suffix: dict[tuple[str, str], str], default: str):
        self.by_word, self.by_suffix, self.default = by_word, by_suffix, default

    @classmethod
    def fit(cls, examples: Sequence[TaggedSentence]) -> "FrequentTags":
        by_word: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for example in examples:
            for word, tag in zip(example.words, example.tags, strict=True):
                if tag != UNSCORED:
                    by_word[word][tag] += 1
        assert by_word, "no tag to count"

        by_suffix: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        rare: Counter[str] = Counter()
        for word, tags in by_word.items():
            if tags.total() <= RARE:
                rare.update(tags)
                for key in _suffixes(word):
                    by_suffix[key].update(tags)
        # in a small set, every word may be too frequent to be rare
        default = most_frequent(rare or sum(by_word.values(), Counter()))
        return cls(
            {word: most_frequent(tags) for word, tags in by_word.items()},
            {key: most_frequent(tags) for key, tags in by_suffix.items()},
            default,
        )

    def predict(self, examples: Sequence[TaggedSentence]) -> list[tuple[str, ...]]:
        """A tag for every word of every sentence."""
        return [tuple(self._tag(word) for word in example.words) for example in examples]

    def _tag(self, word: str) -> str:
        if word in self.by_word:
            return self.by_word[word]
        return next((self.by_suffix[key] for key in _suffixes(word) if key in self.by_suffix), self.default)


def _suffixes(word: str) -> Iterator[tuple[str, str]]:
    """The word's shape with each of its suffixes, from the longest to the empty one."""
    shape = "digits" if any(map(str.isdigit, word)) else "capital" if word[:1].isupper() else "other"
    for length in range(min(MAX_SUFFIX, len(word)), -1, -1):
        yield shape, word[len(word) - length :].lower()
