"""What is wrong with a set of examples, or worth knowing, once it is in parts.

Labels are learnt from the training part: a text with any other label is refused, while a word with another tag is kept
and counts as an error when it is scored, as published figures count it.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from seqlab.data.dealing import Part
from seqlab.data.examples import UNSCORED, Labelled, Tagged
from seqlab.data.lines import joined
from seqlab.errors import DataError


def look_over(parts: Mapping[str, Part]) -> list[str]:
    """What to say of a set with a training part; DataError where it cannot be learnt or scored."""
    kinds = labels_of(parts["train"])
    if kinds is not None and len(kinds) < 2:
        only = f"the one label {joined(list(kinds))}" if kinds else "no label"
        raise DataError(f"'{_file(parts['train'])}' has {only} to learn: at least two different ones are needed.")
    notes = []
    for part in parts:
        if kinds is not None and part != "train":
            _refuse_unknown_labels(parts[part], kinds)
            notes += _unknown_tags(part, parts[part], kinds)
    return notes + _on_two_sides(parts)


def labels_of(part: Part) -> Counter[str] | None:
    """How often each label or tag occurs, those that are not scored left out; None of pairs."""
    found: Counter[str] = Counter()
    for one in part:
        if isinstance(one.example, Labelled):
            found[one.example.label] += 1
        elif isinstance(one.example, Tagged):
            found.update(tag for tag in one.example.tags if tag != UNSCORED)
        else:
            return None
    return found


def _refuse_unknown_labels(part: Part, known: Counter[str]) -> None:
    for one in part:
        if isinstance(one.example, Labelled) and one.example.label not in known:
            raise DataError(
                f"{one.place}: unknown label '{one.example.label}'. The training part has {joined(sorted(known))}."
            )


def _unknown_tags(name: str, part: Part, known: Counter[str]) -> list[str]:
    tags = labels_of(part) or Counter()
    unknown = {tag: count for tag, count in tags.items() if tag not in known}
    if not unknown:
        return []
    return [
        f"{sum(unknown.values()):,} of the {tags.total():,} {name} tags do not occur in the training part "
        f"({joined(sorted(unknown), 5)}): each counts as an error"
    ]


def _on_two_sides(parts: Mapping[str, Part]) -> list[str]:
    """How many held-out inputs have been met before."""
    inputs = {name: {one.example.input for one in part} for name, part in parts.items()}
    notes = []
    for name, earlier in (("validation", "train"), ("test", "train"), ("test", "validation")):
        if name in parts and earlier in parts:
            met = sum(one.example.input in inputs[earlier] for one in parts[name])
            other = "training" if earlier == "train" else earlier
            share = f"{100 * met / len(parts[name]):.1f} %"
            stand = "stands" if met == 1 else "stand"
            if met:
                notes.append(
                    f"{met:,} of the {len(parts[name]):,} {name} inputs ({share}) also {stand} in the {other} part"
                )
    return notes


def _file(part: Part) -> Path:
    return part[0].place.path
