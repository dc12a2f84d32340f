"""Checks of a set of examples in splits: errors, and notes for the log.

Labels come from the training split. An unknown label of a text is an error. An unknown tag of a word is allowed and
scored as a mistake, as published results do.
"""

from collections import Counter
from collections.abc import Collection, Mapping

from seqlab.data.examples.example import UNSCORED, Example, LabeledText, TaggedSentence
from seqlab.data.examples.lines import quote_list
from seqlab.data.examples.split import LocatedExamples
from seqlab.errors import DataError


def check_splits(splits: Mapping[str, LocatedExamples]) -> list[str]:
    """Notes on a set with a training split; DataError if it cannot be trained on or scored."""
    labels = count_labels(splits["train"])
    if labels is not None and len(labels) < 2:
        only = f"only the label {quote_list(list(labels))}" if labels else "no label"
        raise DataError(f"'{splits['train'][0].location.path}' has {only}; training needs at least two.")
    notes = []
    for split in splits:
        if labels is not None and split != "train":
            notes += check_labels(split, splits[split], labels)
    return notes + _repeated_inputs(splits)


def count_labels(examples: LocatedExamples) -> Counter[str] | None:
    """How often each scored label or tag occurs; None for pairs."""
    counts: Counter[str] = Counter()
    for located in examples:
        if isinstance(located.example, LabeledText):
            counts[located.example.label] += 1
        elif isinstance(located.example, TaggedSentence):
            counts.update(tag for tag in located.example.tags if tag != UNSCORED)
        else:
            return None
    return counts


def check_labels(split: str, examples: LocatedExamples, known: Collection[str]) -> list[str]:
    """A note on unknown tags; DataError for an unknown label, or if all tags are unknown."""
    counts = count_labels(examples) or Counter()
    unknown = {label: count for label, count in counts.items() if label not in known}
    if not unknown:
        return []
    first = next(located for located in examples if _labels(located.example) & unknown.keys())
    label = next(label for label in sorted(_labels(first.example)) if label in unknown)
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


def _labels(example: Example) -> set[str]:
    if isinstance(example, LabeledText):
        return {example.label}
    return set(example.tags) - {UNSCORED} if isinstance(example, TaggedSentence) else set()


def _repeated_inputs(splits: Mapping[str, LocatedExamples]) -> list[str]:
    """Notes on held-out inputs that an earlier split has too."""
    inputs = {split: {located.example.input for located in examples} for split, examples in splits.items()}
    notes = []
    for split, earlier in (("validation", "train"), ("test", "train"), ("test", "validation")):
        if split in splits and earlier in splits:
            repeated = sum(located.example.input in inputs[earlier] for located in splits[split])
            share = f"{100 * repeated / len(splits[split]):.1f} %"
            also = (
                f"{'is' if repeated == 1 else 'are'} also in the {'training' if earlier == 'train' else earlier} split"
            )
            if repeated:
                notes.append(f"{repeated:,} of the {len(splits[split]):,} {split} inputs ({share}) {also}")
    return notes
