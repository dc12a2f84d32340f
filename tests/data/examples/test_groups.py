"""Groups of examples: found by a column, said aloud, and kept together when the user asks."""

import json
from pathlib import Path

import numpy as np
import pytest

from seqlab.config import CorpusSettings
from seqlab.data.examples.example import Examples
from seqlab.data.examples.load import open_examples
from seqlab.data.text.split import SHUFFLE_SEED
from seqlab.errors import DataError, UsageError

HEADER = "text,label,author\n"
ROWS = [f"text number {at},{'good' if at % 3 else 'bad'},Author {at % 40}\n" for at in range(200)]


def opened(folder: Path, rows: list[str], header: str = HEADER, **corpus: object) -> Examples:
    path = folder / "reviews.csv"
    path.write_text(header + "".join(rows), encoding="utf-8")
    return open_examples("labeled", CorpusSettings(source=(str(path),), **corpus))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("ratios", ["90/10", "80/10/10"])
def test_groups_stay_together_when_asked(tmp_path: Path, ratios: str) -> None:
    result = opened(tmp_path, ROWS, groups="author", split_ratios=ratios)
    assert result.groups is not None and result.groups.column == "author"
    sides = [{group for group in result.groups.splits[split] if group} for split in result.splits]
    assert all(not one & other for at, one in enumerate(sides) for other in sides[at + 1 :])
    assert sum(map(len, sides)) == 40 and [len(some) for some in result.splits.values()][1:] == [20] * (len(sides) - 1)
    assert "keeps equal inputs and groups of 'author' together" in result.rule
    assert not [note for note in result.notes if "group" in note]


def test_equal_inputs_tie_their_groups(tmp_path: Path) -> None:
    """Two authors of the same text are in the same split, and so is everything else of theirs."""
    rows = [*ROWS, "text number 0,good,Author 1\n"]
    groups = opened(tmp_path, rows, groups="author").groups
    assert groups is not None
    places = {name: split for split, some in groups.splits.items() for _, name in filter(None, some)}
    assert places["Author 0"] == places["Author 1"]


@pytest.mark.parametrize("column", ["author", "Author_ID", "userId", "document", "thread_id"])
def test_a_known_column_is_said_and_changes_nothing(tmp_path: Path, column: str) -> None:
    plain = opened(tmp_path, ROWS, "text,label,stars\n")
    result = opened(tmp_path, ROWS, f"text,label,{column}\n")
    assert result.splits == plain.splits and result.fingerprint == plain.fingerprint
    assert plain.groups is None and result.groups is not None and result.groups.shared("validation") > 10
    [note] = [note for note in result.notes if "group" in note and not note.startswith("columns of")]
    assert f"'{column}' seems to name groups: {result.groups.shared('validation')} of the 20 validation" in note
    assert f"Give --set corpus.groups={column} to keep every group in one split" in note
    assert opened(tmp_path, ROWS, f"text,label,{column}\n", groups="none").groups is None


def test_what_is_no_group(tmp_path: Path) -> None:
    """Few values are categories; a column that is read as text or label names no groups."""
    sources = [",".join([*row.split(",")[:2], f"web{at % 5}\n"]) for at, row in enumerate(ROWS)]
    assert opened(tmp_path, sources, "text,label,source\n").groups is None
    assert opened(tmp_path, ROWS, "document,label,stars\n").groups is None
    named = opened(tmp_path, [row.replace("Author ", "") for row in ROWS], "text,label,n\n", groups="N")
    assert named.groups is not None and named.groups.column == "n"


@pytest.mark.parametrize("speakers", [2, 200])
def test_a_known_column_that_is_no_group_hides_no_other_one(tmp_path: Path, speakers: int) -> None:
    """Speakers come before conversations, but two of them are a category, and one for each row groups nothing."""
    rows = [f"text number {at},{'good' if at % 3 else 'bad'},c{at // 5},s{at % speakers}\n" for at in range(200)]
    result = opened(tmp_path, rows, "text,label,conversation_id,speaker\n")
    assert result.groups is not None and result.groups.column == "conversation_id"
    [columns] = [note for note in result.notes if note.startswith("columns of")]
    assert "groups" not in columns and "not used: 'conversation_id', 'speaker'" in columns
    assert [note for note in result.notes if note.startswith("'conversation_id' seems to name groups: ")]


def test_a_known_column_that_is_no_group_is_named_with_the_reason(tmp_path: Path) -> None:
    rows = [row.rpartition(" ")[0] + f" {at % 2}\n" for at, row in enumerate(ROWS)]
    notes = opened(tmp_path, rows).notes
    assert (
        "columns of reviews.csv: text 'text', label 'label'; not used: 'author' (Author 0 100, Author 1 100)" in notes
    )
    [note] = [note for note in notes if note.startswith("'author' is not taken for groups: ")]
    assert "it has 2 different values" in note and "at least 10" in note
    large = [row.rpartition(",")[0] + f",{max(at - 100, 0)}\n" for at, row in enumerate(ROWS)]
    assert [note for note in opened(tmp_path, large).notes if "one value is in 101 of 200 examples" in note]


def test_a_column_that_names_groups_is_not_suggested_as_the_text(tmp_path: Path) -> None:
    header = "text,label,document\n"
    assert "others may be meant" not in " ".join(opened(tmp_path, ROWS, header).notes)
    texts = [row.rpartition(",")[0] + f",another text {at}\n" for at, row in enumerate(ROWS)]
    assert "others may be meant, 'document'" in " ".join(opened(tmp_path, texts, header).notes)


def test_examples_without_a_group_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    rows = [{"text": f"text {at}", "label": at % 2, "user": None if at % 10 == 0 else at % 20} for at in range(200)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    result = open_examples("labeled", CorpusSettings(source=(str(path),), groups="user"))
    assert "20 examples without a value in 'user': each is a group of its own" in result.notes


def test_groups_that_may_stand_for_a_missing_value_are_named(tmp_path: Path) -> None:
    rows = [row.replace("Author 1\n", "N/A\n").replace("Author 2\n", "unknown\n") for row in ROWS]
    for groups in ("author", "auto"):
        [note] = [note for note in opened(tmp_path, rows, groups=groups).notes if "missing" in note]
        assert "'unknown' (5)" in note and "'N/A' (5)" in note and "in 'author' may stand for a missing value" in note


def test_groups_that_look_alike_are_named_with_their_sizes(tmp_path: Path) -> None:
    names = ["Ann", "ann", "Zoë", "Zoe\u0308", " Bob", "Bob", *(f"Author {at}" for at in range(14))]
    rows = [f"text number {at},{'good' if at % 3 else 'bad'},{names[at % 20]}\n" for at in range(200)]
    notes = opened(tmp_path, rows, groups="author").notes
    tail = ". They are different groups, which may be in different splits"
    assert f"groups of 'author' that differ only in case, 20 examples in all: 'Ann' (10), 'ann' (10){tail}" in notes
    alike = [note for note in notes if "only in Unicode form, 20 examples in all" in note]
    assert len(alike) == 1 and r"'Zoe\u0308' (10)" in alike[0]
    assert "removed the spaces around 10 names of groups" in notes
    assert not [note for note in notes if "Bob" in note]  # spaces around them make no difference


def test_only_the_first_groups_that_look_alike_are_named(tmp_path: Path) -> None:
    rows = [f"text number {at},{'good' if at % 3 else 'bad'},{'Aa'[at % 2]}uthor {at // 2 % 10}\n" for at in range(200)]
    [note] = [note for note in opened(tmp_path, rows, groups="author").notes if "that differ" in note]
    assert "200 examples in all" in note and note.count(";") == 3 and "; and 7 more sets. They" in note
    assert not [note for note in opened(tmp_path, rows, groups="none").notes if "that differ" in note]


def test_what_cannot_be_kept_together_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"corpus\.groups names 'writer', but the other columns are 'author'"):
        opened(tmp_path, ROWS, groups="writer")
    few = [",".join([*row.split(",")[:2], f"Author {at % 5}\n"]) for at, row in enumerate(ROWS)]
    with pytest.raises(DataError, match="has 5 groups of 'author' in 200 examples; splitting needs at least 10"):
        opened(tmp_path, few, groups="author")
    shared = [f"text {at % 3},good,{at % 12 if at else ''}\n" for at in range(60)]
    said = "12 groups of 'author' and 1 example without one in 60 examples, of which equal inputs join some: 3 can be"
    with pytest.raises(DataError, match=said):
        opened(tmp_path, shared, groups="author")
    last = int(np.random.default_rng(SHUFFLE_SEED).permutation(17).argmax())  # the group that is placed last
    authors = [min(at, last) if at < 184 + last else at - 183 for at in range(200)]
    rows = [",".join([*row.split(",")[:2], f"{author}\n"]) for author, row in zip(authors, ROWS, strict=True)]
    with pytest.raises(DataError, match="split would be empty, since some groups of 'author' are too large"):
        opened(tmp_path, rows, groups="author")
    (tmp_path / "words.conll").write_text("a X\n\n" * 20, encoding="utf-8")
    with pytest.raises(UsageError, match="has tagged words: leave it out"):
        open_examples("tagged", CorpusSettings(source=(str(tmp_path / "words.conll"),), groups="author"))
    with pytest.raises(UsageError, match="has no columns: leave out"):
        open_examples("labeled", CorpusSettings(source=("adding",), groups="author"))
