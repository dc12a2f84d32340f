"""A dataset: data in splits, as text and as ids, and the vocabulary that was built from the training split."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from seqlab.config import RunSettings
from seqlab.data.content_notes import notes_on_content
from seqlab.data.corpora.large_text import LargeText
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.examples.example import Examples
from seqlab.data.text.split import SplitText
from seqlab.data.text.tokens import TokenSplit, encode_split
from seqlab.errors import SeqlabWarning
from seqlab.registry import TOKENIZERS
from seqlab.threads import available_cores
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.vocabulary import Vocabulary

Log = Callable[[str], None]
Data = TypeVar("Data")
Split = TypeVar("Split")


@dataclass(frozen=True)
class Dataset(Generic[Data, Split]):
    """`data` is what was read, `splits` are its encoded ids."""

    name: str
    about: str
    fingerprint: str  # SHA-256 of the content
    data: Data
    vocabulary: Vocabulary
    splits: Mapping[str, Split]
    notes: tuple[str, ...] = ()  # all that was said when it was opened and settings were fitted to it

    @property
    def stdin_copy(self) -> Path | None:
        """The file that holds standard input, if that is where the text came from."""
        return self.data.corpus.stdin_copy if isinstance(self.data, SplitText) else None

    def facts(self) -> dict[str, Any]:
        """The description of the data in config.json."""
        assert isinstance(self.data, SplitText | Examples)
        said = {"notes": list(self.notes)} if self.notes else {}
        return {"name": self.name, "about": self.about, **self.data.facts(), **said}


class KeptNotes:
    """A log that keeps what it says, for the card of a run and the report of a comparison: not the first example,
    which may be private."""

    def __init__(self, log: Log):
        self.log = log
        self.notes: list[str] = []

    def __call__(self, note: str) -> None:
        self.log(note)
        if not note.startswith(("first example: ", "first tokens: ")):
            self.notes.append(note)

    def all(self, notes: Iterable[str]) -> None:
        for note in notes:
            self(note)


TextDataset = Dataset[SplitText, TokenSplit]
ExampleDataset = Dataset[Examples, ExampleSplit]
AnyDataset = Dataset[Any, Any]


def warn_of_notes(data: SplitText | Examples) -> None:
    """Say what was noticed while other data was read, and what is odd in it."""
    for note in (*data.notes, *notes_on_content(data)):
        warnings.warn(note, SeqlabWarning, stacklevel=3)


def text_dataset(split: SplitText, settings: RunSettings, vocabulary: Vocabulary | None = None) -> TextDataset:
    """The splits as ids; without a vocabulary, a tokenizer is trained first."""
    if isinstance(split, LargeText):
        return _large_dataset(split, settings, vocabulary)
    vocabulary = vocabulary or Vocabulary(train_tokenizer(split, settings))
    corpus, splits = split.corpus, encode_split(split, vocabulary.tokenizer)
    return Dataset(corpus.name, corpus.about, split.stats.fingerprint, split, vocabulary, splits)


def _large_dataset(text: LargeText, settings: RunSettings, vocabulary: Vocabulary | None) -> TextDataset:
    """The splits in shards; the tokenizer is learned from a sample, which is said."""
    if vocabulary is None:
        text.refuse_empty()
        text = text.with_sample()
        tokenizer = TOKENIZERS.load(settings.tokenizer.name)
        vocabulary = Vocabulary(tokenizer.train(text.sample_chunks(), settings.tokenizer.settings))
        if text.sample is not None and text.sample.documents:  # a tokenizer of bytes reads none
            text.log(str(text.sample))
    text, splits = text.encode(vocabulary.tokenizer, settings.train.threads or available_cores())
    return Dataset(text.corpus.name, text.corpus.about, text.stats.fingerprint, text, vocabulary, splits)


def train_tokenizer(split: SplitText, settings: RunSettings) -> Tokenizer:
    """Train on the training split only: held-out text must not leak into the vocabulary."""
    tokenizer = TOKENIZERS.load(settings.tokenizer.name)
    return tokenizer.train(split.chunks("train"), settings.tokenizer.settings, split.by_lines)
