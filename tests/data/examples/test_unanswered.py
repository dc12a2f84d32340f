"""Test rows without answers, as competitions give them: refused with what to do."""

import re
from pathlib import Path

import pytest
from example_tables import corpus

from seqlab.data.examples.load import open_examples, open_unsplit
from seqlab.errors import DataError

TRAIN = "id,text,label\n" + "".join(f"{at},text {at},{'odd' if at % 2 else 'even'}\n" for at in range(30))
TEST = "id,text\n" + "".join(f"{at},new {at}\n" for at in range(9))


@pytest.mark.parametrize("columns", [None, ("text", "label")])
@pytest.mark.parametrize("split", ["validation", "test"])
def test_a_held_out_file_without_answers(write, split: str, columns: tuple[str, str] | None) -> None:
    train, test = write("train.csv", TRAIN), write("my test.csv", TEST)
    with pytest.raises(DataError) as refused:
        open_examples("labeled", corpus(train, columns=columns, **{split: (test,)}))
    said = str(refused.value)
    assert "there is no column 'label' among 'id', 'text': these rows have no answers" in said
    assert f"train on {train} alone" in said and said.endswith(f"seqlab predict RUN --file '{test}'")


def test_other_columns_may_have_them(write) -> None:
    train = write("train.csv", TRAIN)
    test = write("test.csv", "id,text,place\n" + "".join(f"{at},new {at},a\n" for at in range(9)))
    with pytest.raises(DataError, match=r"no answers .* If 'place' has them, rename it in the header to 'label'$"):
        open_examples("labeled", corpus(train, test=(test,)))


def test_a_file_to_score_without_answers(write) -> None:
    test = write("test.csv", TEST)
    with pytest.raises(DataError, match=f"no answers .*To predict them: .* --file {re.escape(str(test))}$"):
        open_unsplit("labeled", corpus(test), ["odd", "even"], [("text", "label")])


def test_answers_of_another_name_are_no_missing_ones(write) -> None:
    train, test = write("train.csv", TRAIN), write("test.csv", TRAIN.replace("label", "class").replace("text ", "new "))
    assert len(open_examples("labeled", corpus(train, test=(test,))).splits["test"]) == 30


def test_a_misspelled_column_is_said_as_such(write) -> None:
    train: Path = write("train.csv", TRAIN)
    with pytest.raises(DataError, match=r"corpus\.columns names 'lable', but the columns are"):
        open_examples("labeled", corpus(train, columns=("text", "lable")))
