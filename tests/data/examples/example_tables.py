"""Small tables of labelled texts, the settings that open them, and what came out."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seqlab.config import CorpusSettings
from seqlab.data.examples.example import Examples, LabeledText, TaggedSentence


def reviews(*rows: tuple[str, str]) -> str:
    return "text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows)


def many(count: int, start: int = 0) -> list[tuple[str, str]]:
    return [(f"text {number}", "odd" if number % 2 else "even") for number in range(start, start + count)]


def corpus(
    *source: str | Path, validation: Iterable[str | Path] = (), test: Iterable[str | Path] = (), **others: Any
) -> CorpusSettings:
    files = {"source": source, "validation": validation, "test": test}
    return CorpusSettings(**{part: tuple(map(str, paths)) for part, paths in files.items()}, **others)


def labels(examples: Examples, *names: str) -> list[Any]:
    """The labels or tags of some parts."""
    result: list[Any] = []
    for example in (example for name in names for example in examples.splits[name]):
        assert isinstance(example, LabeledText | TaggedSentence)
        result.append(example.label if isinstance(example, LabeledText) else example.tags)
    return result
