"""Splits that a column of the table gives, as many published tables have it: train, dev and test in one file."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from seqlab.data.examples.columns import find_other_column
from seqlab.data.examples.groups import AUTO, NONE
from seqlab.data.examples.lines import GivenSplit, LocatedExample, LocatedExamples, Location, quote_list
from seqlab.data.split_files import split_named
from seqlab.errors import DataError
from seqlab.wording import counted

KNOWN = (
    *("split", "partition", "fold", "set", "subset", "data_split", "dataset_split"),
    *("usage", "dataset", "train_test", "train_or_test", "train_test_split"),
)
PUBLISHED = {"publictest": "validation", "privatetest": "test", "holdout": "test", "heldout": "test"}  # by letters
SPLITS = ("train", "validation", "test")
IGNORED = "--set corpus.split_column=none"
ADVICE = f"Correct it, or ignore the column: {IGNORED}"


def find_split_column(
    names: Sequence[str],
    rows: Callable[[], Iterable[Mapping[str, Any]]],
    requested: str,
    used: Sequence[str],
    header: Location,
) -> str | None:
    """The requested column, or one with a known name that mostly says train, validation or test; not one that is read
    already."""
    if requested == NONE:
        return None
    if requested != AUTO:
        return find_other_column(names, requested, used, header, "corpus.split_column")
    found = {name.casefold(): name for name in reversed(names) if name not in used}
    columns = [found[known] for known in KNOWN if known in found]
    return next((column for column in columns if _names_splits(rows(), column)), None)


def _names_splits(rows: Iterable[Mapping[str, Any]], column: str) -> bool:
    named = [split_of(str(row.get(column, ""))) is not None for row in rows]
    return 2 * sum(named) > len(named)


def split_of(value: str) -> str | None:
    """The split that a value names: a word of `SPLIT_WORDS`, or one that published tables have."""
    return PUBLISHED.get(re.sub(r"[\W_]", "", value.casefold())) or split_named(value)


def given_split(fields: Mapping[str, Any], column: str | None) -> GivenSplit | None:
    """What the column says of a row."""
    if column is None:
        return None
    value = fields.get(column)
    text = "" if value is None else str(value).strip()
    return GivenSplit(column, text, split_of(text))


class ColumnSplits(NamedTuple):
    """Examples in splits, the column that gave them, or None if none did, and notes for the log."""

    splits: Mapping[str, LocatedExamples]
    column: str | None = None
    notes: tuple[str, ...] = ()


def split_by_column(files: Mapping[str, LocatedExamples]) -> ColumnSplits:
    """Divide the examples of the only file by its column; files for several splits must agree with theirs."""
    given = [located.split for some in files.values() for located in some if located.split is not None]
    if not given:
        return ColumnSplits(files)
    column = given[0].column
    if "train" not in files:  # a file that is scored is not divided
        counts = Counter(one.split or f"'{one.value}'" for one in given)
        named = ", ".join(f"{count:,} {split}" for split, count in counts.items())
        return ColumnSplits(files, notes=(f"the column '{column}' gives {named}: all of them are scored",))
    examples = [located for some in files.values() for located in some]
    _refuse_unknown(examples, column)
    if len(files) > 1:
        _refuse_contradiction(files, column)
        return ColumnSplits(files)
    _refuse_missing(examples, column)
    splits = {split: [located for located in examples if _split(located) == split] for split in SPLITS}
    splits = {split: some for split, some in splits.items() if some}
    counts = ", ".join(f"{len(some):,} {split}" for split, some in splits.items())
    if list(splits) == ["train"]:
        return ColumnSplits(files)
    if len(splits) == 1:
        return ColumnSplits(files, notes=(f"the column '{column}' gives {counts}: all of them are trained on",))
    if "train" not in splits:
        raise DataError(f"the column '{column}' gives {counts}, and none to train on. {ADVICE}")
    counts += "" if "validation" in splits else ", of which a tenth of train is for validation"
    return ColumnSplits(splits, column, (f"the column '{column}' gives the splits: {counts} ({IGNORED} ignores it)",))


def _refuse_contradiction(files: Mapping[str, LocatedExamples], column: str) -> None:
    for split, examples in files.items():
        others = [located for located in examples if located.split and located.split.split != split]
        if others:
            raise DataError(
                f"{others[0].location}: the file is given for the {split} split, but its column '{column}' says "
                f"something else for {len(others):,} of the {counted(len(examples), 'example')}. Leave out "
                f"--validation and --test to use the column, or ignore it: {IGNORED}"
            )


def _refuse_missing(examples: LocatedExamples, column: str) -> None:
    if missing := [located for located in examples if located.split is None]:
        raise DataError(
            f"{missing[0].location}: there is no column '{column}', which gives the splits of another file. Add it, or "
            f"ignore it everywhere: {IGNORED}"
        )


def _refuse_unknown(examples: LocatedExamples, column: str) -> None:
    unknown = [located for located in examples if located.split and located.split.split is None]
    if unknown:
        values = Counter(located.split.value for located in unknown if located.split)
        raise DataError(
            f"{unknown[0].location}: the column '{column}' gives the splits, but {counted(len(unknown), 'example')} "
            f"{'has' if len(unknown) == 1 else 'have'} another value there: {quote_list([*values], 5, values)}. "
            f"Expected train, validation (dev) or test. {ADVICE}"
        )


def _split(located: LocatedExample) -> str | None:
    return located.split.split if located.split else None
