"""Which example goes into which split.

Files given for a split fix it, and so does a column (split_column.py). Otherwise a fixed shuffle assigns the examples,
as in text/split.py. Equal inputs stay together, and alike ones (../alike.py); groups too, if corpus.groups names their
column. Within a split, examples keep the order of their file.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from seqlab.data.alike import same_form
from seqlab.data.examples.example import LabeledText, TaggedSentence
from seqlab.data.examples.lines import Group, LocatedExample, LocatedExamples, Location, quote_list
from seqlab.data.file_names import shorten
from seqlab.data.invisible import show_invisible
from seqlab.data.text.split import SHUFFLE_SEED, SPLIT_ENDS
from seqlab.errors import DataError
from seqlab.wording import counted, split_in_words

MIN_INPUTS = 10  # distinct ones, so that every split gets one
# a held-out split of another size than these, as a share of what was asked for, is said
LEAST_SHARE, MOST_SHARE = 0.7, 1.5
FEWEST_OFF = 5  # examples; fewer are a matter of rounding
SHUFFLED = "assigned by a fixed shuffle that keeps"


@dataclass(frozen=True)
class ExampleSplits:
    """Examples in splits, the rule in words, and notes for the log."""

    splits: dict[str, LocatedExamples]
    rule: str
    notes: tuple[str, ...] = ()


def split_examples(
    files: Mapping[str, LocatedExamples], ratios: str, groups: str | None = None, origin: str = "from files"
) -> ExampleSplits:
    """Splits from the examples for `train`, and perhaps for `validation` and `test`, which come from `origin`.

    `groups` is the column whose groups stay together where examples are shuffled."""
    kept_together = f"equal inputs{f' and groups of {groups!r}' if groups else ''} together"
    if "validation" in files:
        held_out = " and ".join(split for split in files if split != "train")
        return ExampleSplits(dict(files), f"{held_out} {origin}")
    if "test" in files:
        splits, notes = _shuffle(files["train"], "90/10", groups)
        rule = f"test {origin}; validation is a tenth of the training examples, {SHUFFLED} {kept_together}"
        return ExampleSplits({**splits, "test": files["test"]}, rule, notes)
    splits, notes = _shuffle(files["train"], ratios, groups)
    return ExampleSplits(splits, f"{ratios}, {SHUFFLED} {kept_together}", notes)


def _shuffle(
    examples: LocatedExamples, ratios: str, groups: str | None
) -> tuple[dict[str, LocatedExamples], tuple[str, ...]]:
    """Assign the units that stay together (I) by their place in a shuffle, and with them the examples (N)."""
    unit_N = _kept_together(examples, groups is not None)
    unit_of = dict(zip((located.example.input for located in examples), unit_N, strict=True))
    sizes_I = np.bincount(list(unit_of.values()))  # in different inputs
    if len(sizes_I) < MIN_INPUTS:
        tagged = isinstance(examples[0].example, TaggedSentence)
        blank = " No blank line separates its sentences: put one after each." if tagged and len(examples) == 1 else ""
        if tagged and len(examples) > 1 and not groups:
            words = shorten(examples[0].example.input, 60)
            blank = f" The column that is read as the words begins '{words}': if they are in another, put it first."
        raise DataError(
            f"'{examples[0].location.path}' has {_units_in_words(examples, len(sizes_I), groups)}; splitting needs at "
            f"least {MIN_INPUTS}.{blank} Give more examples, or files for corpus.validation."
        )
    ends = {split: int(sizes_I.sum()) * percent // 100 for split, percent in SPLIT_ENDS[ratios].items()}
    rank_I = np.random.default_rng(SHUFFLE_SEED).permutation(len(sizes_I))
    before_I = np.cumsum(sizes_I[np.argsort(rank_I)])[rank_I] - sizes_I  # inputs of the units before
    split_I = [next(split for split, end in ends.items() if before < end) for before in before_I.tolist()]
    uneven = _uneven_note(examples, unit_N, split_I, SPLIT_ENDS[ratios], groups)
    moved, count = _move_missing_labels(examples, unit_N, split_I)
    splits: dict[str, LocatedExamples] = {
        split: [located for located, index in zip(examples, unit_N, strict=True) if split_I[index] == split]
        for split in ends
    }
    for split in splits:
        if not splits[split]:
            joined = len(sizes_I) < len({_group_or_example(located) for located in examples})
            large = f"some groups of '{groups}'{', which equal inputs join,' if joined else ''} are too large"
            own = (
                f"almost every example has its own label ({quote_list(moved, 5)}). Is this the right column of labels?"
            )
            raise DataError(
                f"'{examples[0].location.path}': the {split} split would be empty, since {own if moved else large}"
            )
    labels = quote_list(moved)
    note = f"moved {counted(count, 'example')} into the training split, which had none with these labels: {labels}"
    return splits, tuple(some for some in (uneven, note if moved else "") if some)


def _units_in_words(examples: LocatedExamples, units: int, groups: str | None) -> str:
    """How many inputs or groups there are, and how many `units` they are where some of them stay together."""
    in_all = counted(len(examples), "example")
    if not groups:
        inputs = len({located.example.input for located in examples})
        rest = f", which are {units:,} but for case, spaces and the like" if units < inputs else ""
        return f"{counted(inputs, 'different input')} in {in_all}{rest}"
    found = {_group_or_example(located) for located in examples}
    named = sum(isinstance(group, Group) for group in found)
    alone = f" and {counted(len(found) - named, 'example')} without one" if named < len(found) else ""
    rest = f", of which equal inputs join some: {units:,} can be kept apart" if units < len(found) else ""
    return f"{counted(named, f'group of {groups!r}', f'groups of {groups!r}')}{alone} in {in_all}{rest}"


def _group_or_example(located: LocatedExample) -> Group | Location:
    """The group of an example, which is one of its own without any."""
    return next(iter(located.groups), located.location)


def _uneven_note(
    examples: LocatedExamples,
    unit_N: Sequence[int],
    split_I: Sequence[str],
    ends: Mapping[str, int],
    groups: str | None,
) -> str:
    """A note on held-out splits whose share of the examples is clearly another than was asked for, and why.

    Shares are those of different inputs: a repeated one would otherwise decide alone."""
    counts = Counter(split_I[unit] for unit in unit_N)
    asked = dict(zip(ends, np.diff([0, *ends.values()]).tolist(), strict=True))
    off = {
        split: f"{100 * counts[split] / len(examples):.0f}% of the examples instead of {percent}% are for {split}"
        for split, percent in asked.items()
        if split != "train" and not LEAST_SHARE <= 100 * counts[split] / len(examples) / percent <= MOST_SHARE
    }
    if not off or abs(counts["train"] - asked["train"] * len(examples) / 100) < FEWEST_OFF:
        return ""
    first = next(iter(off))
    crowded = first if counts[first] > asked[first] * len(examples) / 100 else "train"  # where it weighs
    unit, largest = Counter(unit for unit in unit_N if split_I[unit] == crowded).most_common(1)[0]
    text = shorten(
        next(located.example.input for located, one in zip(examples, unit_N, strict=True) if one == unit), 40
    )
    kept = f"equal inputs{f' and groups of {groups!r}' if groups else ''} stay together"
    share, where = f"{100 * largest / len(examples):.0f}%", split_in_words(split_I[unit])
    named = f"that of '{show_invisible(text)}'" if groups else f"'{show_invisible(text)}'"
    return f"{', '.join(off.values())}, because {kept}: {named} is {share} of the examples, all of it in {where}"


def _kept_together(examples: LocatedExamples, with_groups: bool) -> list[int]:
    """A number for each example, equal where inputs are alike or, `with_groups`, groups are equal, directly or by
    others."""
    first: dict[Hashable, int] = {}  # the first example of each input and group
    parent_N = list(range(len(examples)))

    def root(index: int) -> int:
        while parent_N[index] != index:
            parent_N[index] = index = parent_N[parent_N[index]]
        return index

    for index, located in enumerate(examples):
        for key in (same_form(located.example.input), *(located.groups if with_groups else ())):
            earlier, later = sorted((root(first.setdefault(key, index)), root(index)))
            parent_N[later] = earlier
    numbers: dict[int, int] = {}
    return [numbers.setdefault(root(index), len(numbers)) for index in range(len(examples))]


def _move_missing_labels(examples: LocatedExamples, unit_N: Sequence[int], split_I: list[str]) -> tuple[list[str], int]:
    """Move units into training until it has every label; returns the labels that it lacked, and how many examples."""
    labels_I: dict[int, list[str]] = {}
    for located, index in zip(examples, unit_N, strict=True):
        if isinstance(located.example, LabeledText):
            labels_I.setdefault(index, []).append(located.example.label)
    known = {label for index, labels in labels_I.items() if split_I[index] == "train" for label in labels}
    moved: list[str] = []
    count = 0
    for index, labels in labels_I.items():
        missing = [label for label in dict.fromkeys(labels) if label not in known]
        if missing:
            split_I[index] = "train"
            known.update(missing)
            moved += missing
            count += len(labels)
    return moved, count
