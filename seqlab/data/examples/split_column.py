"""Splits that a column of the table gives, as many published tables have it: train, dev and test in one file.

A column such as is_test has 0 or 1 instead. Of any other, such as numbers of folds, the user names the value of the
test rows: `corpus.split_column=fold=9`.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from seqlab.data.examples.columns import find_other_column
from seqlab.data.examples.groups import AUTO, NONE
from seqlab.data.examples.lines import GivenSplit, LocatedExample, LocatedExamples, Location, quote_list
from seqlab.data.split_files import SPLIT_WORDS, split_named
from seqlab.errors import DataError
from seqlab.wording import counted

KNOWN = (
    *("split", "partition", "fold", "set", "subset", "data_split", "dataset_split"),
    *("usage", "dataset", "train_test", "train_or_test", "train_test_split"),
)
PUBLISHED = {  # by letters
    **dict.fromkeys(("publictest", "eval", "evaluation", "devel", "devset", "evalset"), "validation"),
    **dict.fromkeys(("privatetest", "holdout", "heldout"), "test"),
}
UNLABELED = {"unlabeled", "unlabelled", "unannotated", "unknown", "unsup", "unsupervised"}  # by letters
MAX_WORDS = 5  # for one split, that are named
SPLITS = ("train", "validation", "test")
FLAG = re.compile(
    rf"(is|in|for)?[\W_]*({'|'.join([*SPLIT_WORDS, 'holdout', 'heldout'])})[\W_]*(set|split)?", re.IGNORECASE
)
TRUTH = {**dict.fromkeys(("1", "1.0", "true", "yes"), True), **dict.fromkeys(("0", "0.0", "false", "no"), False)}
IGNORED = "--set corpus.split_column=none"
ADVICE = f"Correct it, or ignore the column: {IGNORED}"


class SplitColumn(NamedTuple):
    """A column, and what its values mean: words for splits; 0 and 1, if it is a flag; or test, if one is held out."""

    name: str
    flag: str | None = None  # the split of rows with 1
    held_out: str | None = None  # the value of test rows; others that name no split are for training

    def given(self, fields: Mapping[str, Any]) -> GivenSplit:
        """What the column says of a row."""
        value = _text(fields, self.name)
        return GivenSplit(self.name, value, self._split_of(value), self.held_out)

    def _split_of(self, value: str) -> str | None:
        if self.held_out is not None:
            return None if not value else "test" if value == self.held_out else split_of(value) or "train"
        if self.flag is None or value.casefold() not in TRUTH:
            return split_of(value)
        otherwise = "test" if self.flag == "train" else "train"
        return self.flag if TRUTH[value.casefold()] else otherwise


def find_split_column(
    names: Sequence[str],
    rows: Callable[[], Iterable[Mapping[str, Any]]],
    requested: str,
    used: Sequence[str],
    header: Location,
) -> SplitColumn | None:
    """The requested column, perhaps with the value of test rows; or one with a known name that mostly says train,
    validation or test, or the only one such as is_test; not one that is read already."""
    free = [name for name in names if name not in used]
    if requested == NONE:
        return None
    if requested != AUTO:
        name, equals, value = requested.rpartition("=")
        held_out = value if equals and requested not in free else None
        name = find_other_column(names, requested if held_out is None else name, used, header, "corpus.split_column")
        return SplitColumn(name, flag_of(name), held_out)
    found = {name.casefold(): name for name in reversed(free)}
    columns = [found[known] for known in KNOWN if known in found]
    for column in columns:
        if _names_splits(rows(), column):
            return SplitColumn(column)
    flags = [name for name in free if is_certain_flag(name) and has_truth({_text(row, name) for row in rows()})]
    return SplitColumn(flags[0], flag_of(flags[0])) if len(flags) == 1 else None


def flag_of(name: str) -> str | None:
    """The split of the rows in which a column of this name has 1: is_test, in_train, holdout."""
    match = FLAG.fullmatch(name)
    return split_of(match[2]) if match else None


def is_certain_flag(name: str) -> bool:
    """Whether nothing else has this name; the column 'test' may be the result of one."""
    match = FLAG.fullmatch(name)
    return match is not None and (match[1] is not None or match[2].casefold() in PUBLISHED)


def has_truth(values: Collection[str]) -> bool:
    """Whether these are 0 and 1, or true and false."""
    return {TRUTH.get(value.casefold()) for value in values} == {True, False}


def _text(fields: Mapping[str, Any], column: str) -> str:
    value = fields.get(column)
    return "" if value is None else str(value).strip()


def _names_splits(rows: Iterable[Mapping[str, Any]], column: str) -> bool:
    named = [split_of(str(row.get(column, ""))) is not None for row in rows]
    return 2 * sum(named) > len(named)


def split_of(value: str) -> str | None:
    """The split that a value names: a word of `SPLIT_WORDS`, or one that published tables have."""
    return PUBLISHED.get(_letters(value)) or split_named(value)


def _letters(value: str) -> str:
    return re.sub(r"[\W_]", "", value.casefold())


class ColumnSplits(NamedTuple):
    """Examples in splits, the column that gave them, or None if none did, and notes for the log."""

    splits: Mapping[str, LocatedExamples]
    column: str | None = None
    notes: tuple[str, ...] = ()


def split_by_column(files: Mapping[str, LocatedExamples], ratios: str = "90/10") -> ColumnSplits:
    """Divide the examples of the only file by its column; files for several splits must agree with theirs.

    `ratios` are those of the shuffle that divides examples without a column."""
    given = [located.split for some in files.values() for located in some if located.split is not None]
    if not given:
        return ColumnSplits(files)
    column = given[0].column
    if "train" not in files:  # a file that is scored is not divided
        named = _counted_splits(given)
        return ColumnSplits(files, notes=(f"the column '{column}' gives {named}: all of them are scored",))
    examples = [located for some in files.values() for located in some]
    _refuse_unknown(examples, column)
    if len(files) > 1:
        _refuse_contradiction(files, column)
        return ColumnSplits(files)
    _refuse_missing(examples, column)
    splits = {split: [located for located in examples if _split(located) == split] for split in SPLITS}
    splits = {split: some for split, some in splits.items() if some}
    counts = _counted_splits([located.split for some in splits.values() for located in some if located.split])
    if given[0].held_out is not None and "test" not in splits:
        raise DataError(
            f"corpus.split_column names the value '{given[0].held_out}' of '{column}', and no row has it: there is "
            f"{quote_list(_values(given), 10)}."
        )
    if len(splits) == 1:
        says = f"the column '{column}' says only {next(iter(splits))}: a fixed shuffle splits these rows {ratios}"
        return ColumnSplits(files, notes=(says,))
    if "train" not in splits:
        raise DataError(f"the column '{column}' gives {counts}, and none to train on. {ADVICE}")
    counts += "" if "validation" in splits else ", of which a tenth of train is for validation"
    said = f"the column '{column}' gives the splits: {counts} ({IGNORED} ignores it)"
    return ColumnSplits(splits, column, (said, *_trained_on(splits["train"])))


def _counted_splits(given: Sequence[GivenSplit]) -> str:
    """How many rows each split has, with the values that were read as its name, if these are other words."""
    values: dict[str, Counter[str]] = {}
    for one in given:
        values.setdefault(one.split or f"'{one.value}'", Counter())[one.value] += 1
    return ", ".join(f"{some.total():,} {split}{_other_words(split, some)}" for split, some in values.items())


def _other_words(split: str, values: Counter[str]) -> str:
    named = {value: count for value, count in values.items() if split_of(value) == split}
    if all(value.casefold() == split for value in named):
        return ""
    return f" ({quote_list([*named])})" if len(named) == 1 else f" ({_with_numbers(named)})"


def _with_numbers(values: Mapping[str, int]) -> str:
    shown = ", ".join(f"{quote_list([value])} {count:,}" for value, count in [*values.items()][:MAX_WORDS])
    return f"{shown} and {len(values) - MAX_WORDS:,} more" if len(values) > MAX_WORDS else shown


def _trained_on(examples: LocatedExamples) -> tuple[str, ...]:
    """A note on the values of training rows that do not say so, where the user named the value of test rows."""
    given = [located.split.value for located in examples if located.split and located.split.held_out is not None]
    values = Counter(value for value in given if split_of(value) is None)
    if not values:
        return ()
    return (
        f"{counted(values.total(), 'row')} whose value names no split are trained on: "
        f"{quote_list([*values], 5, values)}",
    )


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
            f"Expected train, validation (dev) or test. {_advice(examples, column, values)}{ADVICE}"
        )


def _advice(examples: LocatedExamples, column: str, values: Counter[str]) -> str:
    """What to do about values that name no split."""
    unlabeled = [value for value in values if _letters(value) in UNLABELED]
    placeholders = "if their answers stand for none, or name their split"  # rows without any are no examples
    remove = f"Remove the rows with {quote_list(unlabeled)} {placeholders}. " if unlabeled else ""
    return remove + ("" if any(_split(located) == "test" for located in examples) else hold_out_advice(column, values))


def hold_out_advice(column: str, counts: Counter[str]) -> str:
    """How to name the value of test rows, for a column without words for splits: the last of numbered folds; of other
    values the one that is the rarest by far, since test rows are few."""
    values = [value for value in counts if _letters(value) not in UNLABELED]
    if len(values) < 2 or any(map(split_of, values)) or "" in values:
        return ""
    chosen = max(values, key=lambda value: (len(value), value))  # 10 comes after 9
    if not all(re.search(r"\d", value) for value in values):
        chosen, second = sorted(values, key=counts.__getitem__)[:2]
        if 2 * counts[chosen] > counts[second]:
            named = quote_list(values, 5)
            setting = shlex.quote(f"corpus.split_column={column}=VALUE")
            return f"Name the value of the test rows, one of {named}: --set {setting}. "
    setting = shlex.quote(f"corpus.split_column={column}={chosen}")
    return f"To test on the rows with {quote_list([chosen])}: --set {setting}. "


def _values(given: Sequence[GivenSplit]) -> list[str]:
    return list(dict.fromkeys(one.value for one in given))


def _split(located: LocatedExample) -> str | None:
    return located.split.split if located.split else None
