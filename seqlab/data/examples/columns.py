"""Which two columns of a table are meant: those that were named, else those whose names are known.

Where names leave a doubt, nothing is chosen: the message says how to name the columns.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.data.examples.lines import JSON_LINES, Place, joined, suffix
from seqlab.errors import DataError


@dataclass(frozen=True)
class Roles:
    """What two columns stand for, and the names that tell it; the first of each wins over the others."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    weak: frozenset[str] = frozenset()  # names that mean this only where there are no other columns
    languages: bool = False  # two columns named by languages are these, in their order

    @property
    def header(self) -> str:
        return f'"{self.first[0]}<TAB>{self.second[0]}"'


LABELLED = Roles(
    ("text", "sentence", "review", "content", "comment", "document", "tweet", "message", "title", "body"),
    ("label", "class", "category", "sentiment", "tag", "target", "y", "intent"),
)
PAIRS = Roles(
    ("source", "src", "input", "en", "text"),
    ("target", "tgt", "output", "translation", "label"),
    weak=frozenset({"en", "text", "label"}),
    languages=True,
)


def find_columns(names: Sequence[str], roles: Roles, named: tuple[str, str] | None, place: Place) -> tuple[str, str]:
    """The names of the two columns, as the file spells them at `place`, or DataError."""
    wanted = named or _found(names, roles, place)
    chosen = _spelt(names, wanted[0], place), _spelt(names, wanted[1], place)
    for name in chosen:
        if list(names).count(name) > 1:
            raise DataError(f"{place}: {list(names).count(name)} columns are named '{name}'. Rename all but one.")
    if chosen[0] == chosen[1]:
        raise DataError(f"{place}: the column '{chosen[0]}' cannot be both. Name two columns in corpus.columns.")
    return chosen


def known_columns(names: Sequence[str], roles: Roles) -> tuple[str, str] | None:
    """The two columns where both are known by their names, without a doubt."""
    if roles.languages and len(names) == 2 and len(set(names)) == 2 and all(map(_is_language, names)):
        return names[0], names[1]
    first, second = _candidates(names, roles.first, roles), _candidates(names, roles.second, roles)
    return (first[0], second[0]) if len(first) == len(second) == 1 else None


def _found(names: Sequence[str], roles: Roles, place: Place) -> tuple[str, str]:
    if known := known_columns(names, roles):
        return known
    first, second = _candidates(names, roles.first, roles), _candidates(names, roles.second, roles)
    others = [name for name in names if name.casefold() not in (*roles.first, *roles.second)]
    if len(names) == 2 and len(others) == 1 and _is_name(others[0]):  # it can only be what the known one is not
        return (first[0], others[0]) if first else (others[0], second[0])
    raise DataError(f"{place}: {_doubt(names, first, second, roles, suffix(place.path) in JSON_LINES)}")


def _doubt(names: Sequence[str], first: list[str], second: list[str], roles: Roles, keys: bool) -> str:
    """Why no two columns could be chosen, and what to do."""
    pair = list(names) if len(names) == 2 else [(*first, "...")[0], (*second, "...")[0]]
    example = json.dumps([name if len(name) <= 40 else "..." for name in pair], ensure_ascii=False)
    advice = f"name the two columns: --set 'corpus.columns={example}'"
    there, expected = joined(names, 10), f"a header line such as {roles.header}"
    if keys:
        there, expected = f"the keys {there}", f"an object with keys such as '{roles.first[0]}' and '{roles.second[0]}'"
    if len(names) < 2:
        separated = "" if keys else " Fields are separated by tabs in .tsv and by commas in .csv."
        return f"{expected} is expected, but there is only {there or 'nothing'}.{separated}"
    if (not first and not second) or not all(map(_is_name, names)):
        return f"{expected} is expected, but there is {there}. If that is right, {advice}"
    what = [
        f"{'several' if found else 'no'} columns for the {role}{' (' + joined(found) + ')' if found else ''}"
        for role, found in ((roles.first[0], first), (roles.second[0], second))
        if len(found) != 1
    ]
    return f"{' and '.join(what)} among {joined(names)}. Please {advice}"


def _spelt(names: Sequence[str], wanted: str, place: Place) -> str:
    """The column's name as the file has it: exactly, else whatever its case."""
    alike = {name for name in names if name.casefold() == wanted.casefold()}
    if wanted in alike:
        return wanted
    if len(alike) == 1:
        return alike.pop()
    raise DataError(f"{place}: there is no column '{wanted}', which corpus.columns names, but {joined(names)}.")


def _candidates(names: Sequence[str], known: Sequence[str], roles: Roles) -> list[str]:
    counted = [name for name in known if len(names) == 2 or name not in roles.weak]
    found = [name for name in names if name.casefold() in counted]
    best = [name for name in found if name.casefold() == known[0]]
    return best or found


def _is_name(field: str) -> bool:
    """A word: where there is a sentence, the line is no header."""
    return re.fullmatch(r"\S{1,40}", field) is not None


def _is_language(name: str) -> bool:
    return re.fullmatch("[A-Za-z]{2}", name) is not None
