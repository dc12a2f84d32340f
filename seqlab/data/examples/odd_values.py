"""Labels and texts that are probably not what they are read as: missing values, measured numbers, lists of labels."""

from collections import Counter
from collections.abc import Sequence

from seqlab.data.alike import NUMBER
from seqlab.data.examples.example import Example, LabeledText, TextPair
from seqlab.data.examples.lines import MISSING_VALUES, quote_list
from seqlab.wording import counted

FEWEST_NUMBERS = 20  # different ones, that look measured
MANY_COPIES = 0.5  # the share of targets from which they are said
BETWEEN_LABELS = ";|,"
FEWEST_LISTS = 2  # different labels that look like lists


def odd_labels(labels: Counter[str]) -> list[str]:
    """Notes on labels of texts, by how often each occurs."""
    return [*_missing_values(labels), *_measured(labels), *_lists(labels)]


def missing_texts(examples: Sequence[Example]) -> list[str]:
    """A note on texts and targets that other programs write where there is none."""
    texts = [example.input for example in examples if isinstance(example, LabeledText | TextPair)]
    texts += [example.target for example in examples if isinstance(example, TextPair)]
    found = Counter(text.strip() for text in texts if text.strip().casefold() in MISSING_VALUES)
    if not found:
        return []
    named = quote_list(list(found), counts=found)
    return [f"{counted(found.total(), 'text')} may stand for a missing one, {named}. Delete such rows if so"]


def copied_sources(examples: Sequence[Example]) -> list[str]:
    """A note on targets that are their sources, if many are: a copy would be a perfect translation."""
    pairs = [example for example in examples if isinstance(example, TextPair)]
    copied = sum(pair.source.strip() == pair.target.strip() for pair in pairs)
    if not pairs or copied < MANY_COPIES * len(pairs):
        return []
    return [f"{copied:,} of the {counted(len(pairs), 'target')} equal their sources: are both sides the same file?"]


def _missing_values(labels: Counter[str]) -> list[str]:
    """A note on labels that other programs write where there is none."""
    found = [label for label in labels if label.casefold() in MISSING_VALUES]
    if not found:
        return []
    named = quote_list(found, counts=labels)
    return [f"{named} may stand for a missing label: it is learned like any other. Delete such rows if so"]


def _measured(labels: Counter[str]) -> list[str]:
    """A note on labels that are measurements: many different numbers, hardly any of them twice."""
    numbers = [label for label in labels if NUMBER.fullmatch(label)]
    if len(numbers) < max(FEWEST_NUMBERS, len(labels)) or 2 * len(numbers) < labels.total():
        return []
    return [
        f"the {len(numbers):,} different labels look like measured numbers, such as {quote_list(numbers, 3)}: each is "
        "learned as a class of its own, and being near the right one does not count. Divide them into a few ranges"
    ]


def _lists(labels: Counter[str]) -> list[str]:
    """A note on labels that are made of others, as the cells of several labels for one text are."""
    for mark in BETWEEN_LABELS:
        joined = [label for label in labels if mark in label.strip(mark)]
        parts = Counter(part.strip(" []'\"") for label in labels for part in set(label.split(mark)))
        shared = {part.strip(" []'\"") for label in joined for part in label.split(mark)}
        if len(joined) >= FEWEST_LISTS and 2 * sum(parts[part] > 1 for part in shared) > len(shared):
            named = quote_list(sorted(joined, key=lambda label: -labels[label]), 3, labels)
            return [
                f"{counted(len(joined), 'label')} look like lists of labels, such as {named}: a text has one label, so "
                f"each combination is learned as a class of its own"
            ]
    return []
