"""Published sets of labelled examples, read from the folder that SEQLAB_DATA names; nothing is downloaded."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from seqlab.config import CorpusSettings
from seqlab.data.examples.example import Examples
from seqlab.data.examples.load import open_examples
from seqlab.errors import MissingInput, UsageError


def sst(difficulty: int | None = None) -> Examples:
    """Sentences of film reviews as positive or negative; trained on the labelled phrases of the training sentences."""
    files = {"source": ["train-phrases.tsv"], "validation": ["dev.tsv"], "test": ["test.tsv"]}
    about = "film reviews, positive or negative (Socher et al. 2013); trained on phrases, scored on sentences"
    return _published("sst", "classify", files, about, difficulty)


def ud_ewt(difficulty: int | None = None) -> Examples:
    """English web text with universal part-of-speech tags."""
    files = {
        part: [f"en_ewt-ud-{name}.conllu"]
        for part, name in (("source", "train"), ("validation", "dev"), ("test", "test"))
    }
    about = "parts of speech of English web text (Universal Dependencies)"
    return _published("ud-ewt", "tag", files, about, difficulty)


def wnut17(difficulty: int | None = None) -> Examples:
    """Emerging entities in noisy text."""
    files = {"source": ["train.conll"], "validation": ["dev.conll"], "test": ["test.conll"]}
    about = "rare and new entities in posts and comments (Derczynski et al. 2017)"
    return _published("wnut17", "tag", files, about, difficulty)


def multi30k(difficulty: int | None = None) -> Examples:
    """Captions of pictures, English to German, lower-cased and tokenised."""
    splits = (("source", "train"), ("validation", "val"), ("test", "test2016"))
    files = {part: [f"{name}.en", f"{name}.de"] for part, name in splits}
    about = "captions of pictures, English to German (Elliott et al. 2016)"
    return _published("multi30k-en-de", "translate", files, about, difficulty)


def _published(name: str, task: str, files: Mapping[str, list[str]], about: str, difficulty: int | None) -> Examples:
    if difficulty is not None:
        raise UsageError(f"'{name}' is as hard as it is: leave corpus.difficulty out.")
    folder = Path(os.environ.get("SEQLAB_DATA") or "nowhere") / name
    paths = {part: tuple(str(folder / file) for file in given) for part, given in files.items()}
    if not all(Path(path).is_file() for given in paths.values() for path in given):
        wanted = ", ".join(file for given in files.values() for file in given)
        raise MissingInput(f"'{name}' is not here: set SEQLAB_DATA to a folder in which {name}/ holds {wanted}.")
    settings = CorpusSettings(source=paths["source"], validation=paths["validation"], test=paths["test"])
    return replace(open_examples(task, settings), name=name, about=about)
