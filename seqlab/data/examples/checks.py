"""What is wrong with a set of examples, or worth knowing, once it is in parts.

Labels are learnt from the training part: a text with any other label is refused, while a word with another tag is kept
and counts as an error when it is scored, as published figures count it.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

from seqlab.data.examples.example import UNSCORED, Example, LabeledText, TaggedSentence
from seqlab.data.examples.lines import joined
from seqlab.data.examples.split import Part
from seqlab.errors import DataError


def look_over(splits: Mapping[str, Part]) -> list[str]:
    """What to say of a set with a training part; DataError where it cannot be learnt or scored."""
    kinds = labels_of(splits["train"])
    if kinds is not None and len(kinds) < 2:
        only = f"the one label {joined(list(kinds))}" if kinds else "no label"
        raise DataError(f"'{_file(splits['train'])}' has {only} to learn: at least two different ones are needed.")
    notes = []
    for part in splits:
        if kinds is not None and part != "train":
            notes += unknown_labels(part, splits[part], kinds)
    return notes + _on_two_sides(splits)


def labels_of(part: Part) -> Counter[str] | None:
    """How often each label or tag occurs, those that are not scored left out; None of pairs."""
    found: Counter[str] = Counter()
    for one in part:
        if isinstance(one.example, LabeledText):
            found[one.example.label] += 1
        elif isinstance(one.example, TaggedSentence):
            found.update(tag for tag in one.example.tags if tag != UNSCORED)
        else:
            return None
    return found


def unknown_labels(name: str, part: Part, known: Collection[str]) -> list[str]:
    """DataError for a label that training does not have, or where it has none of the tags; some tags are told of."""
    tags = labels_of(part) or Counter()
    unknown = {tag: count for tag, count in tags.items() if tag not in known}
    if not unknown:
        return []
    first = next(one for one in part if _own_labels(one.example) & unknown.keys())
    which = next(label for label in sorted(_own_labels(first.example)) if label in unknown)
    has = f"The training part has {joined(sorted(known))}."
    if isinstance(first.example, LabeledText):
        raise DataError(f"{first.place}: unknown label '{which}'. {has} Correct it, or train with examples of it.")
    if len(unknown) == len(tags):
        raise DataError(f"{first.place}: unknown tag '{which}', as are all others of the {name} part. {has}")
    return [
        f"{sum(unknown.values()):,} of the {tags.total():,} {name} tags do not occur in the training part "
        f"({joined(sorted(unknown), 5)}; '{which}' in the sentence at {first.place}): each counts as an error"
    ]


def _own_labels(example: Example) -> set[str]:
    if isinstance(example, LabeledText):
        return {example.label}
    return set(example.tags) - {UNSCORED} if isinstance(example, TaggedSentence) else set()


def _on_two_sides(splits: Mapping[str, Part]) -> list[str]:
    """How many held-out inputs have been met before."""
    inputs = {name: {one.example.input for one in part} for name, part in splits.items()}
    notes = []
    for name, earlier in (("validation", "train"), ("test", "train"), ("test", "validation")):
        if name in splits and earlier in splits:
            met = sum(one.example.input in inputs[earlier] for one in splits[name])
            other = "training" if earlier == "train" else earlier
            share = f"{100 * met / len(splits[name]):.1f} %"
            stand = "stands" if met == 1 else "stand"
            if met:
                notes.append(
                    f"{met:,} of the {len(splits[name]):,} {name} inputs ({share}) also {stand} in the {other} part"
                )
    return notes


def _file(part: Part) -> Path:
    return part[0].place.path
