"""Groups of examples that belong together, such as those of one author: a column of the table names them.

A model recognizes an author that it was trained on, so held-out examples of known authors are easier than new ones.
"""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqlab.data.alike import difference, same_form
from seqlab.data.examples.columns import find_other_column, match_other_columns
from seqlab.data.examples.lines import MISSING_VALUES, Group, LocatedExamples, Location, quote_list
from seqlab.data.files import InputFixes
from seqlab.wording import counted

AUTO, NONE = "auto", "none"  # instead of the name of a column: a known name, which is said; no groups
# columns that usually name groups, with or without "id" at their end; the first one in this order that works is taken
KNOWN = (
    *("group", "author", "writer", "user", "username", "speaker", "participant", "patient", "customer"),
    *("conversation", "dialogue", "dialog", "thread", "session", "document", "doc", "article", "source"),
)
# a column with fewer values, or with a larger share of one value, is a category rather than a group
MIN_GROUPS, MAX_SHARE = 10, 0.25
NOBODY = {*MISSING_VALUES, "unknown", "anonymous"}  # what programs write where there is no name
MAX_ALIKE = 3  # sets of groups that a note names


@dataclass(frozen=True)
class Groups:
    """The group of each example by split; None for an example without one."""

    column: str
    splits: Mapping[str, Sequence[Group | None]]

    def shared(self, split: str) -> int:
        """How many examples of a held-out split belong to a group that the training split has too."""
        known = set(self.splits["train"]) - {None}
        return sum(group in known for group in self.splits[split])


def find_group_columns(
    names: Sequence[str], requested: str, used: Sequence[str], header: Location, trains: bool
) -> list[str]:
    """The columns that may name groups: the requested one, or those with known names; not one that is read already.
    A table that a run is scored on need not have the one that was requested for training."""
    if requested == NONE or (requested == AUTO and not trains):
        return []
    if requested == AUTO:
        known = [name for name in dict.fromkeys(names) if name not in used and _stem(name) in KNOWN]
        return sorted(known, key=lambda name: KNOWN.index(_stem(name)))
    if not trains and len(match_other_columns(names, requested, used)) != 1:
        return []
    return [find_other_column(names, requested, used, header, "corpus.groups")]


def _stem(name: str) -> str:
    """A name without "id": author_id, authorId and Author are the same."""
    stem = name.casefold()
    return stem.removesuffix("id").rstrip("_- ") if len(stem) > 2 else stem


def groups_of(
    fields: Mapping[str, Any], columns: Sequence[str], requested: str, fixes: InputFixes
) -> tuple[Group, ...]:
    """The groups that a row belongs to, without the spaces around their names; none of an empty field."""
    found = []
    for column in columns:
        value = fields.get(column)
        written = str(value) if isinstance(value, str | int | float) else ""
        if name := written.strip():
            found.append(Group(column, name))
            fixes.trimmed_groups += requested != AUTO and name != written  # others may turn out to be no groups
    return tuple(found)


def why_no_groups(sizes: Mapping[Any, int], examples: int) -> str:
    """Why the values of a column with a known name, of these sizes, are no groups; nothing if they are."""
    if len(sizes) < MIN_GROUPS:
        return f"it has {counted(len(sizes), 'different value')}, and groups are expected to be at least {MIN_GROUPS}"
    if max(sizes.values()) > MAX_SHARE * examples:
        share = f"{max(sizes.values()):,} of {counted(examples, 'example')}"
        return f"one value is in {share}, and the largest group is expected to have {MAX_SHARE:.0%} at most"
    return "every value is there once" if max(sizes.values()) == 1 else ""


def collect_groups(splits: Mapping[str, LocatedExamples], requested: str) -> tuple[Groups | None, list[str]]:
    """The groups of all splits, or None if no column names any; and notes on them, or why there are none."""
    sizes = _sizes([located for some in splits.values() for located in some])
    examples = sum(map(len, splits.values()))
    reasons = {column: why_no_groups(counts, examples) if requested == AUTO else "" for column, counts in sizes.items()}
    column = next((column for column, reason in reasons.items() if not reason), None)
    if column is None:
        return None, [f"{quote_list([other])} is not taken for groups: {reason}" for other, reason in reasons.items()]
    groups = {
        split: [next((group for group in located.groups if group.column == column), None) for located in some]
        for split, some in splits.items()
    }
    found = Groups(column, groups)
    return found, _notes(found, requested)


def groups_to_score(examples: LocatedExamples) -> Groups | None:
    """The groups of examples that a run is scored on, in the column that it was trained with; None without any."""
    groups = [next(iter(located.groups), None) for located in examples]
    column = next((group.column for group in groups if group), None)
    return Groups(column, {"whole": groups}) if column else None


def _sizes(examples: LocatedExamples) -> dict[str, Counter[str]]:
    """The sizes of the groups by column, in the order of the known names."""
    sizes: dict[str, Counter[str]] = {}
    for located in examples:
        for group in located.groups:
            sizes.setdefault(group.column, Counter())[group.name] += 1
    order = {known: place for place, known in enumerate(KNOWN)}
    return dict(sorted(sizes.items(), key=lambda item: order.get(_stem(item[0]), 0)))


def _notes(groups: Groups, requested: str) -> list[str]:
    """What a user should know: groups that were found by their name alone, or that are on both sides."""
    notes = []
    without = sum(group is None for some in groups.splits.values() for group in some)
    if requested != AUTO and without:
        notes.append(f"{counted(without, 'example')} without a value in '{groups.column}': each is a group of its own")
    sizes = Counter(group.name for some in groups.splits.values() for group in some if group is not None)
    if nobody := [name for name in sizes if name.casefold() in NOBODY]:
        notes.append(
            f"{quote_list(nobody, counts=sizes)} in '{groups.column}' may stand for a missing value, but is one group. "
            "Empty these cells if so: an example without a value is a group of its own"
        )
    notes += _alike_notes(groups.column, sizes)
    if belong := known_groups(groups):
        keep = f"--set {shlex.quote(f'corpus.groups={groups.column}')}"
        advice = f". Give {keep} to keep every group in one split, or --set corpus.groups=none if these are no groups"
        notes.append(f"'{groups.column}' seems to name groups: {belong}{advice if requested == AUTO else ''}")
    return notes


def known_groups(groups: Groups) -> str:
    """How many held-out examples belong to a group that the training split has too; nothing if there are none."""
    counts = [
        f"{shared:,} of the {counted(len(groups.splits[split]), f'{split} example')}"
        for split in groups.splits
        if split != "train" and (shared := groups.shared(split))
    ]
    return f"{' and '.join(counts)} belong to a group that is also in the training split" if counts else ""


def _alike_notes(column: str, sizes: Mapping[str, int]) -> list[str]:
    """Notes on groups that are probably the same one, by how their names differ, with their numbers of examples."""
    spellings: dict[str, list[str]] = {}
    for name in sizes:
        spellings.setdefault(same_form(name), []).append(name)
    found: dict[str, list[list[str]]] = {}
    for same in spellings.values():
        if len(same) > 1:
            found.setdefault(difference(same), []).append(sorted(same))
    notes = []
    for how, alike in found.items():
        shown = "; ".join(quote_list(same, 5, sizes) for same in alike[:MAX_ALIKE])
        more = f"; and {len(alike) - MAX_ALIKE:,} more sets" if len(alike) > MAX_ALIKE else ""
        total = counted(sum(sizes[name] for same in alike for name in same), "example")
        names = f"groups of '{column}' that differ {how}, {total} in all: {shown}{more}"
        notes.append(f"{names}. They are different groups, which may be in different splits")
    return notes
