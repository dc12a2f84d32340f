"""Which two columns of a table to read: those that corpus.columns names, else those with known names.

If the names are ambiguous, nothing is chosen, and the error says how to name the columns.
"""

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqlab.data.alike import NUMBER
from seqlab.data.examples.lines import WITHOUT_HEADER, Location, column_word, quote_list, suffix
from seqlab.data.examples.no_labels import why_no_labels
from seqlab.data.examples.repeated_columns import refuse_repeated, repeated
from seqlab.data.nested_json import nested_texts_advice
from seqlab.errors import DataError

FRACTION = re.compile(r"-?\d*[.,]\d*[1-9]\d*")  # a number that is not whole
SCORE = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?|\d+-\d+")  # or words that are aligned, 0-1


@dataclass(frozen=True)
class ColumnPair:
    """The known names of two columns; the first name of each takes precedence."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    weak: frozenset[str] = frozenset()  # names that count only in a table of two columns
    languages: bool = False  # whether two columns named by language codes are this pair, in their order

    @property
    def header(self) -> str:
        return f'"{self.first[0]}<TAB>{self.second[0]}"'


Fields = Mapping[str, Any]  # of a row, by column
LICENSE = 20  # characters at least with which every value of such a column begins
FEWEST_ROWS = 10  # in which labels are seen to repeat
MAX_NAME = 100  # characters of a column's name that a command repeats
SEPARATORS = "Fields are separated by tabs, commas, semicolons or vertical bars"
LABELED = ColumnPair(
    ("text", "sentence", "review", "content", "comment", "document", "tweet", "message", "title", "body"),
    ("label", "class", "category", "sentiment", "tag", "target", "y", "intent"),
)
PAIRS = ColumnPair(
    ("source", "src", "input", "en", "text"),
    ("target", "tgt", "output", "translation", "label"),
    weak=frozenset({"en", "text", "label"}),
    languages=True,
)


def find_columns(
    names: Sequence[str],
    pair: ColumnPair,
    requested: tuple[str, str] | None,
    header: Location,
    sample: Callable[[], Sequence[Fields]] = list,
    usual: tuple[str, str] | None = None,
) -> tuple[str, str]:
    """The names of the two columns as the file has them, or DataError that begins with the header's location.

    It suggests columns by the rows of a sample, or the `usual` names where no option can name others."""
    first, second = requested or _infer(names, pair, header, sample, usual)
    columns = match_column(names, first, header), match_column(names, second, header)
    refuse_repeated(names, columns, header)
    if columns[0] == columns[1]:
        raise DataError(f"{header}: the column '{columns[0]}' cannot be both. Name two columns in corpus.columns.")
    return columns


def find_other_column(names: Sequence[str], requested: str, used: Sequence[str], header: Location, setting: str) -> str:
    """The column that a setting names, besides those that are read already."""
    matches = match_other_columns(names, requested, used)
    if len(matches) != 1:
        free = [name for name in names if name not in used]
        others = f"the other columns are {quote_list(free)}" if free else "there is no other column"
        raise DataError(f"{header}: {setting} names '{requested}', but {others}.")
    return matches[0]


def match_other_columns(names: Sequence[str], requested: str, used: Sequence[str]) -> list[str]:
    """The columns of this name besides those that are read already; in any case if none has exactly this name."""
    free = [name for name in names if name not in used]
    exact = [name for name in free if name == requested]
    return exact or [name for name in free if name.casefold() == requested.casefold()]


def known_columns(names: Sequence[str], pair: ColumnPair) -> tuple[str, str] | None:
    """The two columns, if both names are known and unambiguous."""
    if pair.languages and len(names) == 2 and len(set(names)) == 2 and all(map(_is_language, names)):
        return names[0], names[1]
    first, second = _candidates(names, pair.first, pair), _candidates(names, pair.second, pair)
    return (first[0], second[0]) if len(first) == len(second) == 1 else None


def refuse_other_answers(columns: tuple[str, str], trained: Sequence[tuple[str, str]], header: Location) -> None:
    """DataError if a run is to be scored on a column of answers with another name than those it was trained on."""
    known = list(dict.fromkeys(second for _, second in trained if not second.isdigit()))
    if known and columns[1].casefold() not in [name.casefold() for name in known]:
        raise DataError(
            f"{header}: the run was trained on the answers in {quote_list(known)}, and here they would be read from "
            f"{quote_list([columns[1]])}. If it has the same kind of answers, rename it in the header to "
            f"{quote_list(known[:1])}."
        )


def columns_option(names: Sequence[str]) -> str:
    """The option that names these columns, as a shell takes it."""
    return f"--set {shlex.quote(f'corpus.columns={json.dumps(names, ensure_ascii=False)}')}"


def _infer(
    names: Sequence[str],
    pair: ColumnPair,
    header: Location,
    sample: Callable[[], Sequence[Fields]],
    usual: tuple[str, str] | None,
) -> tuple[str, str]:
    if columns := known_columns(names, pair):
        return columns
    first, second = _candidates(names, pair.first, pair), _candidates(names, pair.second, pair)
    others = [name for name in names if name.casefold() not in (*pair.first, *pair.second)]
    if len(names) == 2 and len(others) == 1 and is_name(others[0]):  # the unknown name is the other role
        return (first[0], others[0]) if first else (others[0], second[0])
    if usual:
        advice = f"Rename two of them to {quote_list(usual)}"
        above = "" if suffix(header.path) in WITHOUT_HEADER else "; if this is no header, write one above it"
        raise DataError(
            f"{header}: which {column_word(header.path)}s to read is unclear among "
            f"{quote_list(names, 10)}. {advice}{above}."
        )
    numbers = Counter(names)
    rows = [{name: value for name, value in row.items() if numbers[name] == 1} for row in readable_columns(sample())]
    example = None
    if rows and len(rows[0]) > 1:
        example = (suggest_pair(rows) if pair is PAIRS else None) or suggest_columns(rows)
    inside = nested_texts_advice(sample(), str(header.path)) if len(names) == 1 else ""
    why = _explain(names, (first, second), pair, header.path, example)
    raise DataError(f"{header}: {why}{inside and f' {inside}'}")


def readable_columns(rows: Sequence[Fields]) -> list[dict[str, Any]]:
    """Rows without the columns that nobody can name or read: those without a name, and most objects and arrays."""
    filled = Counter(name for row in rows for name in row)
    nested = Counter(name for row in rows for name, value in row.items() if isinstance(value, dict | list | bytes))
    names = [name for name in filled if name and 2 * nested[name] <= filled[name]]
    return [{name: row.get(name, "") for name in names} for row in rows]


def suggest_columns(rows: Sequence[Fields]) -> tuple[str, str]:
    """A text and its label, that the user may name: known names; else the longest texts, and the other column with the
    fewest different values, none of them empty if possible."""
    names = list(rows[0])
    first, second = _candidates(names, LABELED.first, LABELED), _candidates(names, LABELED.second, LABELED)
    text = max(first or [name for name in names if [name] != second], key=lambda name: length_of(rows, name))
    labels = [name for name in second or names if name != text] or [name for name in names if name != text]

    def unlikely(name: str) -> tuple[bool, bool, bool, bool, int]:
        values = Counter(str(row.get(name, "")) for row in rows)
        repeated = sum(count > 1 for count in values.values())  # lines below the header may explain a constant column
        measured = any(FRACTION.fullmatch(value) for value in values)  # such as weights
        return why_no_labels(rows, name) is not None, repeated < 2, measured, "" in values, len(values)

    return text, min(reversed(labels), key=unlikely)


def may_be_labels(rows: Sequence[Fields], name: str) -> bool:
    """Whether the values of a column repeat, as labels do, or are too few to tell; by its name, too."""
    few = len(rows) < FEWEST_ROWS or 2 * _different(rows, name) <= len(rows)
    return few or name.casefold() in LABELED.second


def suggest_pair(rows: Sequence[Fields]) -> tuple[str, str] | None:
    """Two columns of texts, that the user may name: known names; else the longest, in their order. None if fewer
    columns have texts: numbers are none, nor are values that hardly differ."""
    texts = [name for name in rows[0] if _has_texts(rows, name)]
    words = [name for name in texts if not _has_lists_of_numbers(rows, name)]
    texts = words if len(words) > 1 else texts  # scores beside two texts are no text; digits may be one to reverse
    if len(texts) < 2:
        return None
    lengths = {name: length_of(rows, name) for name in texts}
    known = [[name for name in texts if name.casefold() in role] for role in (PAIRS.first, PAIRS.second)]
    if len(known[0]) == 1 or len(known[1]) == 1:  # the other column is the first of about the length of the longest
        role = 0 if len(known[0]) == 1 else 1
        others = {name: length for name, length in lengths.items() if name != known[role][0]}
        named = [name for name in known[1 - role] if name in others]
        other = (named or [name for name in others if 2 * others[name] >= max(others.values())])[0]
        return (known[0][0], other) if role == 0 else (other, known[1][0])
    source, target = sorted(sorted(texts, key=lengths.__getitem__)[-2:], key=texts.index)
    return source, target


def is_pair_rather(rows: Sequence[Fields], labeled: tuple[str, str], pair: tuple[str, str]) -> bool:
    """Whether one column is the target of a source rather than the label of a text, as of sentences with a column
    'document'. Not if it has labels, and the text is longer than the source, which then says where it is from."""
    if labeled[1] != pair[1] or labeled[0] == pair[0]:
        return False
    return not rows or _has_texts(rows, pair[1]) or length_of(rows, pair[0]) >= length_of(rows, labeled[0])


def _has_texts(rows: Sequence[Fields], name: str) -> bool:
    return 2 * _different(rows, name) > len(rows) and not has_numbers(rows, name)


def has_numbers(rows: Sequence[Fields], name: str) -> bool:
    return 2 * sum(NUMBER.fullmatch(str(row.get(name, "")).strip()) is not None for row in rows) > len(rows)


def _has_lists_of_numbers(rows: Sequence[Fields], name: str) -> bool:
    return 2 * sum(all(map(SCORE.fullmatch, str(row.get(name, "")).split())) for row in rows) > len(rows)


def length_of(rows: Sequence[Fields], name: str) -> int:
    """The characters of a column, without a beginning that all its values share, as the license of sentences has."""
    values = [str(row.get(name, "")) for row in rows]
    first, last = min(values), max(values)
    differ = (place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1])
    shared = next(differ, len(first)) if len(values) > 1 else 0
    return sum(map(len, values)) - (len(values) * shared if shared >= LICENSE else 0)


def _different(rows: Sequence[Fields], name: str) -> int:
    return len({str(row.get(name, "")) for row in rows})


def other_columns(names: Sequence[str], pair: ColumnPair, chosen: tuple[str, str]) -> str:
    """Which other columns have known names, and how to read them; nothing if none has."""
    known = [[name for name in names if name.casefold() in role] for role in (pair.first, pair.second)]
    if len(names) > 2:  # names that count only in a table of two columns
        known = [[name for name in some if name.casefold() not in pair.weak] for some in known]
    others = [[name for name in some if name not in chosen] for some in known]
    if not any(others):
        return ""
    example = columns_option([some[0] if some else name for some, name in zip(others, chosen, strict=True)])
    return f"others may be meant, {quote_list([*others[0], *others[1]])}: {example}"


def _explain(
    names: Sequence[str],
    found: tuple[Sequence[str], Sequence[str]],
    pair: ColumnPair,
    path: Path,
    example: tuple[str, str] | None,
) -> str:
    """Why the columns are unclear, and what to do: `example` are columns that may be meant."""
    first, second = found
    example = example or (names[0], names[-1]) if names else ("", "")
    advice = f"name the two columns: {columns_option(example)}"
    if max(map(len, example)) > MAX_NAME or repeated(names, example):
        advice = "give the columns other names, short ones that differ"
    given, expected = quote_list(names, 10), f"a header line such as {pair.header}"
    has_header, word = suffix(path) not in WITHOUT_HEADER, column_word(path)
    if not has_header:
        such = f"{word}s such as '{pair.first[0]}' and '{pair.second[0]}'"
        given = f"the {word}{'' if len(names) == 1 else 's'} {given}"
        expected = f"an object with {such}" if word == "key" else such
    if len(names) < 2:
        separators = f" {SEPARATORS}." if has_header else ""
        return f"expected {expected}, but there is only {given or 'nothing'}.{separators}"
    if (not first and not second) or not all(map(is_name, names)):
        places = [str(names.index(name) + 1) for name in example if name in names]
        numbers = f"; if there is no header, count them: {columns_option(places)}" if has_header else ""
        return f"expected {expected}, but there is {given}. If that is right, {advice}{numbers}"
    problems = [
        f"{'several' if columns else 'no'} columns for the {role}{' (' + quote_list(columns) + ')' if columns else ''}"
        for role, columns in ((pair.first[0], first), (pair.second[0], second))
        if len(columns) != 1
    ]
    return f"{' and '.join(problems)} among {quote_list(names)}. Please {advice}"


def match_column(names: Sequence[str], requested: str, header: Location) -> str:
    """The column's name as the file has it: an exact match, else one that ignores case."""
    matches = {name for name in names if name.casefold() == requested.casefold()}
    if requested in matches:
        return requested
    if len(matches) == 1:
        return matches.pop()
    raise DataError(f"{header}: corpus.columns names '{requested}', but the columns are {quote_list(names)}.")


def _candidates(names: Sequence[str], known: Sequence[str], pair: ColumnPair) -> list[str]:
    usable = [name for name in known if len(names) == 2 or name not in pair.weak]
    candidates = [name for name in names if name.casefold() in usable]
    best = [name for name in candidates if name.casefold() == known[0]]
    return best or candidates


def is_name(field: str) -> bool:
    """Whether it is one word: a line with a sentence in it is not a header."""
    return re.fullmatch(r"\S{1,40}", field) is not None


def _is_language(name: str) -> bool:
    return re.fullmatch("[A-Za-z]{2}", name) is not None
