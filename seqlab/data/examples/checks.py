"""Checks of a set of examples in splits: errors, and notes for the log.

Labels come from the training split. An unknown label of a text is an error. An unknown tag of a word is allowed and
scored as a mistake, as published results do.
"""

from collections import Counter
from collections.abc import Collection, Mapping

from seqlab.data.examples.example import UNSCORED, Example, LabeledText, TaggedSentence, TextPair
from seqlab.data.examples.lines import LocatedExamples, quote_list
from seqlab.errors import DataError


def check_splits(splits: Mapping[str, LocatedExamples]) -> list[str]:
    """Notes on a set with a training split; DataError if it cannot be trained on or scored."""
    labels = count_labels(splits["train"])
    notes = []
    if not isinstance(splits["train"][0].example, TextPair):
        if len(labels) < 2:
            only = f"only the label {quote_list(list(labels))}" if labels else "no label"
            raise DataError(f"'{splits['train'][0].location.path}' has {only}; training needs at least two.")
        for split in splits:
            notes += check_labels(split, splits[split], labels)
    return notes + _repeated_inputs(splits)


def count_labels(examples: LocatedExamples) -> Counter[str]:
    """How often each scored label or tag occurs."""
    return Counter(label for located in examples for label in labels_of(located.example))


def check_labels(split: str, examples: LocatedExamples, known: Collection[str]) -> list[str]:
    """A note on unknown tags; DataError for an unknown label, or if all tags are unknown."""
    counts = count_labels(examples)
    unknown = {label: count for label, count in counts.items() if label not in known}
    if not unknown:
        return []
    first = next(located for located in examples if unknown.keys() & labels_of(located.example))
    label = min(unknown.keys() & labels_of(first.example))
    expected = f"The training split has {quote_list(sorted(known))}."
    if isinstance(first.example, LabeledText):
        raise DataError(
            f"{first.location}: unknown label '{label}'. {expected} Correct it, or add training examples of it."
        )
    if len(unknown) == len(counts):
        raise DataError(f"{first.location}: unknown tag '{label}', like all others of the {split} split. {expected}")
    return [
        f"{sum(unknown.values()):,} of the {counts.total():,} {split} tags do not occur in the training split "
        f"({quote_list(sorted(unknown), 5)}; '{label}' in the sentence at {first.location}): each counts as an error"
    ]


def labels_of(example: Example) -> list[str]:
    """The label, or the scored tags; none for pairs."""
    if isinstance(example, LabeledText):
        return [example.label]
    return [tag for tag in example.tags if tag != UNSCORED] if isinstance(example, TaggedSentence) else []


def _repeated_inputs(splits: Mapping[str, LocatedExamples]) -> list[str]:
    """Notes on held-out inputs that an earlier split has too."""
    inputs = {split: {located.example.input for located in examples} for split, examples in splits.items()}
    notes = []
    for split, earlier in (("validation", "train"), ("test", "train"), ("test", "validation")):
        if split in splits and earlier in splits:
            total = len(splits[split])
            count = sum(located.example.input in inputs[earlier] for located in splits[split])
            share, are = f"{100 * count / total:.1f}%", "is" if count == 1 else "are"
            name = "training" if earlier == "train" else earlier
            if count:
                notes.append(f"{count:,} of the {total:,} {split} inputs ({share}) {are} also in the {name} split")
    return notes
