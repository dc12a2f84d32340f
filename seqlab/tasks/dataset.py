"""A dataset: data in splits, as text and as ids, and the vocabulary that was built from the training split."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from seqlab.config import RunSettings
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.examples.example import Examples
from seqlab.data.text.corpus import open_corpus
from seqlab.data.text.split import SplitText, split_text
from seqlab.data.text.tokens import TokenSplit, encode_split
from seqlab.errors import UsageError
from seqlab.registry import TOKENIZERS
from seqlab.tokenization.tokenizer import Tokenizer, chunk_text
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

    @property
    def kept(self) -> Path | None:
        """The file that holds standard input, if that is where the text came from."""
        return self.data.corpus.stdin_copy if isinstance(self.data, SplitText) else None

    def facts(self) -> dict[str, Any]:
        """The description of the data in config.json."""
        about = {"name": self.name, "about": self.about}
        if isinstance(self.data, SplitText):
            return {**about, **asdict(self.data.stats)}
        assert isinstance(self.data, Examples)
        counts = {split: len(examples) for split, examples in self.data.splits.items()}
        characters = characters_of(self.data)
        rule, notes = self.data.rule, list(self.data.notes)
        return {**about, "characters": characters, "fingerprint": self.fingerprint, "examples": counts,
                "rule": rule, "notes": notes}  # fmt: skip


class DatasetChanged(Exception):
    """The data has changed since a run was trained on it."""

    def __init__(self, characters: int):
        super().__init__()
        self.characters = characters


TextDataset = Dataset[SplitText, TokenSplit]
ExampleDataset = Dataset[Examples, ExampleSplit]


def open_text_dataset(
    settings: RunSettings,
    log: Log,
    vocabulary: Vocabulary | None = None,
    kept: Path | None = None,
    expected: str | None = None,
) -> TextDataset:
    """A running text: read once, split and encoded; without a vocabulary, a tokenizer is trained first.

    Raises DatasetChanged, before anything is encoded, if the fingerprint is not the expected one."""
    corpus = open_corpus(settings.corpus.source, stdin_copy=kept)
    split = split_text(corpus, settings.corpus)
    if expected not in (None, split.stats.fingerprint):
        raise DatasetChanged(split.stats.characters)
    for note in corpus.fixes.notes():
        log(note)
    if vocabulary is None:
        vocabulary = Vocabulary(train_tokenizer(split, settings))
    elif vocabulary.tokenizer.documents != split.by_lines:
        raise UsageError("the tokenizer comes from a run that was trained with another --documents: use the same.")
    return text_dataset(split, vocabulary)


def text_dataset(split: SplitText, vocabulary: Vocabulary) -> TextDataset:
    corpus = split.corpus
    splits = encode_split(split, vocabulary.tokenizer)
    return Dataset(corpus.name, corpus.about, split.stats.fingerprint, split, vocabulary, splits)


def characters_of(examples: Examples) -> int:
    return sum(len(example.input) for split in examples.splits.values() for example in split)


def train_tokenizer(split: SplitText, settings: RunSettings) -> Tokenizer:
    """Train on the training split only: held-out text must not leak into the vocabulary."""
    pieces = chunk_text(split.blocks("train")) if not split.by_lines else split.lines("train")
    return TOKENIZERS.load(settings.tokenizer.name).train(pieces, settings.tokenizer.settings, split.by_lines)
