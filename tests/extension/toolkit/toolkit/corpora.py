"""A running text, and labeled examples whose corpus names the task that they are for."""

from random import Random

from seqlab.data.examples.example import Examples, LabeledText
from seqlab.data.text.corpus import Corpus, corpus_from_text
from seqlab.registry import Entry


def counting() -> Corpus:
    return corpus_from_text("".join(f"{number} and then " for number in range(600)), "counting")


def grades(difficulty: int | None = None) -> Examples:
    """The label is the number of exclamation marks."""
    draw = Random(0)
    rows = [(f"text {number}{'!' * count}", str(count)) for number in range(40) for count in (draw.randint(1, 3),)]
    examples = [LabeledText(text, label) for text, label in rows]
    splits = {"train": examples[:24], "validation": examples[24:32], "test": examples[32:]}
    return Examples("grades", splits, "the first 24 to train, 8 to validate, 8 to test")


GRADES = Entry("toolkit.corpora:grades", "texts by their marks", default_overrides={"task.name": "smoothed"})
