"""Which columns of a table were read as what, and which were not: nothing is left out in silence."""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from seqlab.data.examples.lines import quote_list
from seqlab.data.examples.split_column import KNOWN, flag_of, has_truth, hold_out_advice, split_of
from seqlab.data.split_files import SPLIT_WORDS
from seqlab.wording import counted

MAX_UNUSED = 10  # columns that are named
MAX_VALUES = 6  # different values of an unused column that are named
MAX_SPLITS = 20  # different values of a column that may name splits or folds
SPLIT_NAMES = {*SPLIT_WORDS, *KNOWN, "folds", "kfold", "splits", "holdout", "heldout", "istest", "istrain", "isvalid"}
WHOLE_NAMES = {"set", "dataset"}  # that are words of many other names
Rows = Callable[[], Iterable[Mapping[str, Any]]]


def columns_note(file: str, roles: Mapping[str, str], names: Sequence[str], rows: Rows, splits: bool = True) -> str:
    """The columns by role and the unused ones, with their values if there are few.

    `splits`: whether a column that looks like splits should have been used."""
    read = ", ".join(f"{role} {quote_list([name])}" for role, name in roles.items())
    unused = [name for name in dict.fromkeys(names) if name not in roles.values()]
    counts = _count_values(rows, unused)
    numbers = Counter(names)
    shown = ", ".join(
        _with_values(name, counts[name])
        if numbers[name] == 1
        else f"{numbers[name]} columns named {quote_list([name])}"
        for name in unused[:MAX_UNUSED]
    )
    more = f" and {counted(len(unused) - MAX_UNUSED, 'more column')}" if len(unused) > MAX_UNUSED else ""
    note = f"columns of {file}: {read}" + (f"; not used: {shown}{more}" if unused else "")
    found = [name for name in unused if splits and numbers[name] == 1 and _looks_like_splits(name, counts[name])]
    return note + "".join(f"; {_held_out_advice(name, counts[name])}" for name in found)


def _count_values(rows: Rows, names: Sequence[str]) -> dict[str, Counter[str]]:
    """How often each column has each value, until it has too many different ones to name splits."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    open_names = list(names)
    for row in rows() if names else ():
        for name in open_names:
            value = row.get(name)
            counts[name].update([_text_of(value)])
        open_names = [name for name in open_names if len(counts[name]) <= MAX_SPLITS]
        if not open_names:
            break
    return counts


def _text_of(value: Any) -> str:
    if isinstance(value, dict | list | bytes):
        return "..."
    return "" if value is None else str(value).strip()


def _with_values(name: str, counts: Counter[str]) -> str:
    values = [value for value, _ in counts.most_common()]
    if not 0 < len(values) <= MAX_VALUES or values == ["..."]:
        return quote_list([name])
    return f"{quote_list([name])} ({', '.join(f'{_shown(value)} {counts[value]:,}' for value in values)})"


def _shown(value: str) -> str:
    return quote_list([value])[1:-1] if value else "empty"


def _looks_like_splits(name: str, counts: Counter[str]) -> bool:
    """By its name, or because a value is one of train, validation and test."""
    if not 1 < len(counts) <= MAX_SPLITS:
        return False
    words = {word for word in re.split(r"[\W_]+", name.casefold()) if word}
    by_name = name.casefold() in WHOLE_NAMES or bool(words & (SPLIT_NAMES - WHOLE_NAMES))
    return by_name or any(map(_names_a_split, counts))


def _names_a_split(value: str) -> bool:
    """Whether nothing but the word of a split is there: the word may also occur in a text."""
    return len(value) <= len("Development_01") and split_of(value) is not None


def _held_out_advice(name: str, counts: Counter[str]) -> str:
    found = {split_of(value) for value in counts}
    said = f"{quote_list([name])} looks like splits, but no row is held out by it:"
    if (None not in found and "train" in found and len(found) > 1) or (flag_of(name) and has_truth(counts)):
        return f"{said} --set {shlex.quote(f'corpus.split_column={name}')} uses it"
    if advice := hold_out_advice(name, counts):
        return f"{said} {advice[0].lower()}{advice[1:].removesuffix('. ')}"
    return f"{said} write train, validation or test there, or put those rows into files for --validation and --test"


def types_note(column: str, types: Mapping[str, Counter[str]]) -> list[str]:
    """A note on labels of different types, by label and type, and on those that became the same label."""
    total = sum(types.values(), Counter[str]())
    if len(total) < 2:
        return []

    def named(kinds: Counter[str]) -> str:
        return ", ".join(counted(count, kind) for kind, count in kinds.most_common())

    merged = [f"'{label}' ({named(kinds)})" for label, kinds in types.items() if len(kinds) > 1]
    same = f"; read as the same label: {', '.join(merged)}" if merged else ""
    return [f"the values of '{column}' have different types: {named(total)}{same}"]
