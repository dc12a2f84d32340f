"""Published sets of examples, read from the folder that SEQLAB_DATA names; nothing is downloaded."""

import os
from dataclasses import replace
from pathlib import Path

from seqlab.config import CorpusSettings, ExampleKind
from seqlab.data.examples.example import Examples
from seqlab.data.examples.load import open_examples
from seqlab.errors import MissingInput, UsageError

Names = tuple[str, ...]


def sst(difficulty: int | None = None) -> Examples:
    about = "movie reviews, positive or negative (Socher et al. 2013); trained on phrases, scored on sentences"
    return _published("sst", "labeled", ("train-phrases.tsv",), ("dev.tsv",), ("test.tsv",), about, difficulty)


def ud_ewt(difficulty: int | None = None) -> Examples:
    train, dev, test = ((f"en_ewt-ud-{split}.conllu",) for split in ("train", "dev", "test"))
    about = "parts of speech of English web text (Universal Dependencies)"
    return _published("ud-ewt", "tagged", train, dev, test, about, difficulty)


def wnut17(difficulty: int | None = None) -> Examples:
    about = "rare and new entities in posts and comments (Derczynski et al. 2017)"
    return _published("wnut17", "tagged", ("train.conll",), ("dev.conll",), ("test.conll",), about, difficulty)


def multi30k(difficulty: int | None = None) -> Examples:
    train, val, test = ((f"{split}.en", f"{split}.de") for split in ("train", "val", "test2016"))
    about = "image captions, English to German (Elliott et al. 2016)"
    return _published("multi30k-en-de", "pairs", train, val, test, about, difficulty)


def _published(
    name: str, kind: ExampleKind, train: Names, validation: Names, test: Names, about: str, difficulty: int | None
) -> Examples:
    if difficulty is not None:
        raise UsageError(f"'{name}' has no difficulty to set: leave out corpus.difficulty.")
    folder = Path(os.environ.get("SEQLAB_DATA") or "nowhere") / name
    files = [[str(folder / file) for file in names] for names in (train, validation, test)]
    if not all(Path(path).is_file() for paths in files for path in paths):
        expected = ", ".join((*train, *validation, *test))
        raise MissingInput(f"'{name}' is not available: set SEQLAB_DATA to a folder in which {name}/ has {expected}.")
    settings = CorpusSettings(source=tuple(files[0]), validation=tuple(files[1]), test=tuple(files[2]))
    return replace(open_examples(kind, settings), name=name, about=about)
