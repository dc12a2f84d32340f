"""Columns that hold no labels are not suggested as such."""

import json

import pytest

from seqlab.data.task_inference import unclear_layout

TEXTS = [f"a film of {at} hours" for at in range(40)]


@pytest.mark.parametrize(("column", "values", "why"), [
    ("id", ["7", "8"] * 20, "'id' tells rows apart"),
    ("tweet_id", ["7", "8"] * 20, "'tweet_id' tells rows apart"),
    ("Status", ["IP Address"] * 40, "'Status' is the same in all rows"),
    ("answer", ["accept", "reject"] * 20, "'answer' says what an annotator accepted"),
    ("part", ["train", "train", "test", "Validation"] * 10, "'part' says which rows are for training"),
    ("score", [f"{at / 41:.4f}" for at in range(40)], "'score' has measured numbers, and there is no regression"),
])  # fmt: skip
def test_they_are_named_with_the_reason(write, column: str, values: list[str], why: str) -> None:
    rows = [{"text": text, column: value} for text, value in zip(TEXTS, values, strict=True)]
    layout = unclear_layout([str(write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))])
    assert layout is not None and layout.kind == "other"
    assert f". No column has labels: {why}" in layout.reason
    rows = [{**row, "verdict": "yes" if at % 3 else "no"} for at, row in enumerate(rows)]
    layout = unclear_layout([str(write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))])
    assert layout is not None and layout.columns == ("text", "verdict")


def test_splits_are_not_named_among_possible_labels(write) -> None:
    rows = "".join(f"{text},{'dev' if at % 3 else 'train'},{at % 2},{at % 5}\n" for at, text in enumerate(TEXTS))
    layout = unclear_layout([str(write("a.csv", f"story,part,verdict,stars\n{rows}"))])
    assert layout is not None and "'verdict' (2), 'stars' (5)" in layout.reason and "'part' (" not in layout.reason


@pytest.mark.parametrize(
    "values",
    [
        ["test", "fix"] * 20,
        ["test", "dev"] * 20,
        ["yes", "no"] * 20,
        ["1.5", "2.5"] * 20,
        [str(at % 5) for at in range(40)],
    ],
)
def test_others_are_suggested(write, values: list[str]) -> None:
    rows = "".join(f"{text},{value}\n" for text, value in zip(TEXTS, values, strict=True))
    layout = unclear_layout([str(write("a.csv", f"text,verdict\n{rows}"))])
    assert layout is not None and layout.columns == ("text", "verdict")


def test_a_column_that_is_nearly_constant_is_not_suggested(write) -> None:
    explained = "Response Type,What do you think?,Satisfied\n"
    rows = "".join(f"IP Address,{text},{'yes' if at % 3 else 'no'}\n" for at, text in enumerate(TEXTS))
    layout = unclear_layout([str(write("a.csv", f"Status,Q1,Q2\n{explained}{rows}"))])
    assert layout is not None and layout.columns == ("Q1", "Q2")
