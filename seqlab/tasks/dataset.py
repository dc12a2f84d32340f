"""What a run works on: its data in parts, and the symbols that were learnt from the training part."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from seqlab.config import RunSettings
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.examples.example import Examples
from seqlab.data.text.corpus import Corpus, open_corpus
from seqlab.data.text.split import SplitText, split_text
from seqlab.data.text.tokens import TokenSplit, encode_split
from seqlab.errors import UsageError
from seqlab.registry import TOKENIZERS
from seqlab.tokenization.tokenizer import Tokenizer, chunk_text
from seqlab.tokenization.vocabulary import Vocabulary

Log = Callable[[str], None]
Data = TypeVar("Data")
Part = TypeVar("Part")


@dataclass(frozen=True)
class Dataset(Generic[Data, Part]):
    name: str
    about: str
    fingerprint: str
    data: Data
    vocabulary: Vocabulary
    splits: Mapping[str, Part]

    @property
    def kept(self) -> Path | None:
        """What came from standard input."""
        return self.data.corpus.kept if isinstance(self.data, SplitText) else None

    def facts(self) -> dict[str, Any]:
        """What config.json says of it."""
        about = {"name": self.name, "about": self.about}
        if isinstance(self.data, SplitText):
            return {**about, **asdict(self.data.survey)}
        assert isinstance(self.data, Examples)
        counts = {part: len(examples) for part, examples in self.data.splits.items()}
        characters = characters_of(self.data)
        rule, notes = self.data.rule, list(self.data.notes)
        return {**about, "characters": characters, "fingerprint": self.fingerprint, "examples": counts,
                "rule": rule, "notes": notes}  # fmt: skip


class DatasetChanged(Exception):
    """The data is not what it was when a run was trained on it."""

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
    """A running text: read once, split, its tokenizer learnt unless it is given, and encoded.

    ChangedData, before anything is encoded, where its fingerprint is not the expected one."""
    corpus = open_corpus(settings.corpus.source, kept=kept)
    split = split_text(corpus, settings.corpus)
    if expected not in (None, split.survey.fingerprint):
        raise DatasetChanged(split.survey.characters)
    tell_oddities(corpus, log)
    if vocabulary is None:
        vocabulary = Vocabulary(train_tokenizer(split, settings))
    elif vocabulary.tokenizer.documents != split.by_lines:
        raise UsageError("the tokenizer is taken over from another run, so --documents must be as it was there.")
    return text_dataset(split, vocabulary)


def text_dataset(split: SplitText, vocabulary: Vocabulary) -> TextDataset:
    corpus = split.corpus
    splits = encode_split(split, vocabulary.tokenizer)
    return Dataset(corpus.name, corpus.about, split.survey.fingerprint, split, vocabulary, splits)


def characters_of(examples: Examples) -> int:
    return sum(len(example.input) for part in examples.splits.values() for example in part)


def train_tokenizer(split: SplitText, settings: RunSettings) -> Tokenizer:
    """Of the training part only: what is held out must not leak into the vocabulary."""
    pieces = chunk_text(split.blocks("train")) if not split.by_lines else split.lines("train")
    return TOKENIZERS.load(settings.tokenizer.name).train(pieces, settings.tokenizer.settings, split.by_lines)


def tell_oddities(corpus: Corpus, log: Log) -> None:
    if corpus.oddities.byte_order_marks:
        log("a byte-order mark at the start of the text was left out")
    if corpus.oddities.carriage_returns:
        log(f"{corpus.oddities.carriage_returns:,} line ends were CRLF and are read as LF")
