"""Labels and texts that are probably something else are said, with their numbers."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from example_tables import corpus, many, reviews

from seqlab.data.examples.example import LabeledText, TextPair
from seqlab.data.examples.load import open_examples
from seqlab.data.examples.odd_values import missing_texts, odd_labels


def test_texts_that_may_be_missing_are_counted(write):
    rows = [*many(12), ("NaN", "odd"), ("null", "even"), (" NaN ", "odd"), ("#N/A", "odd")]
    notes = open_examples("labeled", corpus(write("a.tsv", reviews(*rows)))).notes
    assert ("4 texts may stand for a missing one, 'NaN' (2), 'null' (1), '#N/A' (1). Delete such rows if so") in notes
    assert missing_texts([TextPair("a", "None"), TextPair("-", "b")])[0].startswith("2 texts may stand for")
    assert missing_texts([LabeledText("none of it", "NA")]) == []  # labels have a note of their own


@pytest.mark.parametrize("labels", [
    {"a": 9, "b;c": 4, "b": 3, "a;c": 5},
    {"a|b": 9, "b|c": 4, "a|c": 2},
    {'["a", "b"]': 5, '["b"]': 3, '["a", "c"]': 2, '["c"]': 1},
    {"1,2": 5, "2,3": 3, "1,3": 2, "1": 1},
])  # fmt: skip
def test_lists_of_labels_are_said(labels: dict[str, int]) -> None:
    (note,) = odd_labels(Counter(labels))
    assert "look like lists of labels, such as " in note and "each combination is learned as a class" in note


@pytest.mark.parametrize("labels, number", [
    ({"a|b": 4, "b|c": 4, "a;c": 4}, 3),
    ({"a|b": 4, "b;a": 4, "a": 2, "b": 2}, 2),
    ({"a|b": 4, "b|d": 2, "a;c": 4, "a, d": 2}, 4),
    ({"a|b": 4, "b|a": 4, "a;c": 4}, 3),
    ({"a|b": 4, "b|c": 4, "a|c": 2, "News, local": 4}, 3),
])  # fmt: skip
def test_lists_between_different_marks_are_counted(labels: dict[str, int], number: int) -> None:
    assert f"{number} labels look like lists of labels, such as " in odd_labels(Counter(labels))[-1]


def test_lists_of_the_same_labels_between_different_marks_are_said():
    first, _ = odd_labels(Counter({"a|b": 4, "b;a": 4, "a": 2, "b": 2}))
    assert "in another order or with other marks between them, such as 'a|b' (4), 'b;a' (4)" in first


@pytest.mark.parametrize("labels", [{"1,0": 9, "0,0": 4, "1": 3, "0": 5}, {"1,0": 2, "0,0": 3, "0,1": 2, "1,1": 1}])
def test_decimal_commas_make_no_lists(labels: dict[str, int]) -> None:
    assert odd_labels(Counter(labels)) == []


@pytest.mark.parametrize("labels", [{"a": 1, "b": 2}, {"yes, very": 3, "no; never": 2}, {"News, local": 3, "Art": 1}])
def test_other_labels_are_no_lists(labels: dict[str, int]) -> None:
    assert odd_labels(Counter(labels)) == []


def test_lists_of_the_same_labels_in_another_order_are_said():
    labels = Counter({"Comedy, Drama": 39, "Drama, Comedy": 36, "Drama": 20, "Action, Drama": 5, "Comedy": 9})
    first, second = odd_labels(labels)
    assert first.startswith("2 labels are lists of the same labels as another one, in another order, such as ")
    assert "'Comedy, Drama' (39), 'Drama, Comedy' (36): they are different labels" in first
    assert "look like lists of labels" in second
    assert len(odd_labels(Counter({"a, b": 3, "b, c": 3, "a, c": 2, "a": 9}))) == 1


@pytest.mark.parametrize("code", ["-1", "-99", "-1.0", r"\N", "."])
def test_codes_for_a_missing_label_are_said(code):
    labels = Counter({"0": 9, "1": 8, "2": 7, code: 3})
    assert odd_labels(labels) == [
        f"'{code}' (3) may stand for a missing label: it is learned like any other. Delete such rows if so"
    ]


@pytest.mark.parametrize("labels", [("-1", "0", "1"), ("-1", "1"), ("-2", "-1", "0", "1", "2"), ("-1", "pos")])
def test_negative_numbers_of_a_scale_are_labels(labels):
    assert odd_labels(Counter(dict.fromkeys(labels, 5))) == []


def test_a_point_alone_may_stand_for_a_missing_text():
    assert missing_texts([LabeledText(".", "a")])[0].startswith("1 text may stand for a missing one, '.' (1)")


@pytest.mark.parametrize(
    ("dates", "others"),
    [
        (("02-Jan", "05-Mar"), ("1-2", "3-5")),
        (("05. Mrz", "02. Jan"), ("0-0", "20-30")),
        (("05.Mrz", "1-déc.", "03-août"), ("0-0", "20-30")),
        (("Jan-20",), ("1-2", "1-32")),
        (("2024-01-02 00:00:00",), ("1-32", "2-40")),
    ],
)
def test_labels_that_a_spreadsheet_made_dates_are_said(dates: tuple[str, ...], others: tuple[str, ...]) -> None:
    (note,) = odd_labels(Counter(dict.fromkeys((*dates, *others), 5)))
    look = "looks like a date" if len(dates) == 1 else "look like dates"
    assert note.startswith(f"{len(dates)} of the {len(dates + others)} labels {look}, '{dates[0]}' (5)")
    assert f"unlike '{others[0]}', '{others[1]}': did a spreadsheet make them" in note


def test_training_says_them(write: Callable[[str, str], Path]) -> None:
    rows = [(f"text {number}", ("1-32", "02-Jan", "05. Mrz")[number % 3]) for number in range(60)]
    notes = open_examples("labeled", corpus(write("a.tsv", reviews(*rows)))).notes
    assert any("2 of the 3 labels look like dates" in note for note in notes)


@pytest.mark.parametrize(
    "labels", [("02-Jan", "05-Mar"), ("1-2", "3-5"), ("mar", "may"), ("may 5 pm", "no"), ("2-3 may", "no")]
)
def test_dates_alone_and_other_labels_are_no_such_dates(labels: tuple[str, ...]) -> None:
    assert odd_labels(Counter(dict.fromkeys(labels, 5))) == []
