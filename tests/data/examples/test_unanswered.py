"""Test rows without answers, as competitions give them: refused with what to do."""

import re
import shlex
from pathlib import Path

import pytest
from example_tables import corpus

from seqlab.data.examples.load import open_examples, open_unsplit
from seqlab.data.examples.table_sample import can_be_joined
from seqlab.errors import DataError
from seqlab.typed_command import typed_command

TRAIN = "id,text,label\n" + "".join(f"{at},text {at},{'odd' if at % 2 else 'even'}\n" for at in range(30))
MISSING = "text,label\n" + "".join(f"new {at},-1\n" for at in range(9))
TEST = "id,text\n" + "".join(f"{at},new {at}\n" for at in range(9))


@pytest.mark.parametrize("columns", [None, ("text", "label")])
@pytest.mark.parametrize("split", ["validation", "test"])
def test_a_held_out_file_without_answers(write, split: str, columns: tuple[str, str] | None) -> None:
    train, test = write("train.csv", TRAIN), write("my test.csv", TEST)
    with pytest.raises(DataError) as refused:
        open_examples("labeled", corpus(train, columns=columns, **{split: (test,)}))
    said = str(refused.value)
    assert "there is no column 'label' among 'id', 'text': these rows have no answers" in said
    assert said.endswith(f"\n  seqlab train {train}\n  seqlab predict RUN --file '{test}'")


def test_other_columns_may_have_them(write) -> None:
    train = write("train.csv", TRAIN)
    test = write("test.csv", "id,text,place\n" + "".join(f"{at},new {at},a\n" for at in range(9)))
    with pytest.raises(DataError, match=r"no answers .* If 'place' has them, rename it in .* to 'label'. Otherwise l"):
        open_examples("labeled", corpus(train, test=(test,)))


def test_a_file_to_score_without_answers(write) -> None:
    test = write("test.csv", TEST)
    with pytest.raises(DataError, match=f"no answers .*To predict them: .* --file {re.escape(str(test))}$"):
        open_unsplit("labeled", corpus(test), ["odd", "even"], [("text", "label")])


@pytest.mark.parametrize("content", [TEST, MISSING])
def test_the_command_without_the_file_keeps_the_split(write, content: str) -> None:
    train, dev = write("train.csv", TRAIN), write("dev.csv", TRAIN.replace("text ", "dev "))
    test = write("test.csv", content)
    expected = ["seqlab", "train", str(train), "--steps", "5", "--validation", str(dev)]
    held_out = ["--validation", str(dev), "--test", str(test)]
    folder = ["train", str(train.parent), "--steps", "5"]
    for words in (folder, ["train", str(train), *held_out, "--steps", "5"], [*folder, f"--test={test}"]):
        with typed_command(words), pytest.raises(DataError, match="these rows have no answers") as refused:
            open_examples("labeled", corpus(train, validation=(dev,), test=(test,)))
        command, predict = str(refused.value).splitlines()[1:]
        assert shlex.split(command) == expected and predict == f"  seqlab predict RUN --file {test}"
    with typed_command(["train", str(train), str(dev), str(test)]), pytest.raises(DataError) as refused:
        open_examples("labeled", corpus(train, dev, write("new.csv", TEST)))
    assert shlex.split(str(refused.value).splitlines()[1])[2:4] == [str(train), str(dev)]


def test_labels_that_stand_for_missing_ones(write) -> None:
    train, test = write("train.csv", TRAIN), write("test.csv", MISSING)
    with pytest.raises(DataError, match=f"line 2: every label of '{test}' is '-1', which stands for a missing one: "):
        open_examples("labeled", corpus(train, test=(test,)))
    with pytest.raises(DataError, match=f"no answers to learn or to score. To predict them: .* --file {test}$"):
        open_unsplit("labeled", corpus(test), ["odd", "even"], [("text", "label")])
    assert can_be_joined([train, write("dev.csv", TRAIN)]) and not can_be_joined([write("a.csv", MISSING), test])


def test_answers_of_another_name_are_no_missing_ones(write) -> None:
    train, test = write("train.csv", TRAIN), write("test.csv", TRAIN.replace("label", "class").replace("text ", "new "))
    assert len(open_examples("labeled", corpus(train, test=(test,))).splits["test"]) == 30


def test_a_misspelled_column_is_said_as_such(write) -> None:
    train: Path = write("train.csv", TRAIN)
    with pytest.raises(DataError, match=r"corpus\.columns names 'lable', but the columns are"):
        open_examples("labeled", corpus(train, columns=("text", "lable")))
