"""Published sets of examples, read from the folder that SEQLAB_DATA names; nothing is downloaded."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from seqlab.config import CorpusSettings, ExampleKind
from seqlab.data.examples.example import Examples
from seqlab.data.examples.load import open_examples
from seqlab.errors import MissingInput, UsageError


def sst(difficulty: int | None = None) -> Examples:
    """Sentences of movie reviews, positive or negative; training uses the labeled phrases of its sentences."""
    files = {"source": ["train-phrases.tsv"], "validation": ["dev.tsv"], "test": ["test.tsv"]}
    about = "movie reviews, positive or negative (Socher et al. 2013); trained on phrases, scored on sentences"
    return _published("sst", "labeled", files, about, difficulty)


def ud_ewt(difficulty: int | None = None) -> Examples:
    """English web text with universal part-of-speech tags."""
    names = (("source", "train"), ("validation", "dev"), ("test", "test"))
    files = {split: [f"en_ewt-ud-{name}.conllu"] for split, name in names}
    about = "parts of speech of English web text (Universal Dependencies)"
    return _published("ud-ewt", "tagged", files, about, difficulty)


def wnut17(difficulty: int | None = None) -> Examples:
    """Emerging entities in noisy text."""
    files = {"source": ["train.conll"], "validation": ["dev.conll"], "test": ["test.conll"]}
    about = "rare and new entities in posts and comments (Derczynski et al. 2017)"
    return _published("wnut17", "tagged", files, about, difficulty)


def multi30k(difficulty: int | None = None) -> Examples:
    """Image captions, English to German, lowercased and tokenized."""
    names = (("source", "train"), ("validation", "val"), ("test", "test2016"))
    files = {split: [f"{name}.en", f"{name}.de"] for split, name in names}
    about = "image captions, English to German (Elliott et al. 2016)"
    return _published("multi30k-en-de", "pairs", files, about, difficulty)


def _published(
    name: str, kind: ExampleKind, files: Mapping[str, list[str]], about: str, difficulty: int | None
) -> Examples:
    if difficulty is not None:
        raise UsageError(f"'{name}' has no difficulty to set: leave out corpus.difficulty.")
    folder = Path(os.environ.get("SEQLAB_DATA") or "nowhere") / name
    paths = {split: tuple(str(folder / file) for file in names) for split, names in files.items()}
    if not all(Path(path).is_file() for group in paths.values() for path in group):
        expected = ", ".join(file for names in files.values() for file in names)
        raise MissingInput(f"'{name}' is not available: set SEQLAB_DATA to a folder in which {name}/ has {expected}.")
    settings = CorpusSettings(source=paths["source"], validation=paths["validation"], test=paths["test"])
    return replace(open_examples(kind, settings), name=name, about=about)
