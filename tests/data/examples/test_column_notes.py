"""How the columns of a table were read is said, and every unused column is named."""

import pytest
from example_tables import corpus

from seqlab.data.examples.column_notes import MAX_UNUSED, columns_note
from seqlab.data.examples.conll import read_columns, read_words
from seqlab.data.examples.example import LabeledText
from seqlab.data.examples.load import open_unsplit
from seqlab.data.files import InputFixes
from seqlab.errors import DataError


def note(rows, **options):
    return columns_note("a.csv", {"text": "review", "label": "stars"}, list(rows[0]), lambda: rows, **options)


def test_every_unused_column_is_named_with_its_few_values():
    rows = [{"review": "x", "stars": "1", "id": str(at), "lang": "en" if at % 3 else "", "z": []} for at in range(30)]
    assert note(rows) == (
        "columns of a.csv: text 'review', label 'stars'; not used: 'id', 'lang' (en 20, empty 10), 'z'"
    )
    wide = [{"review": "x", "stars": "1", **{f"c{at}": "v" for at in range(MAX_UNUSED + 2)}}]
    assert "'c9' (v 1) and 2 more columns" in note(wide)


def test_columns_of_the_same_name_are_counted(write):
    path = write("a.csv", "text,label,Labels,Labels\n" + "x,1,ui,\ny,2,ui,\n")
    assert open_unsplit("labeled", corpus(path)).notes == (
        "columns of a.csv: text 'text', label 'label'; not used: 2 columns named 'Labels'",
    )


@pytest.mark.parametrize("name", ["is_test", "kfold", "Usage", "dataset", "train-test"])
def test_a_column_that_looks_like_splits_is_never_passed_over_in_silence(name):
    rows = [{"review": "x", "stars": "1", name: str(at % 10)} for at in range(30)]
    assert f"'{name}' looks like splits, but no row is held out by it: to test on the rows with '9': --set" in note(
        rows
    )
    assert "held out" not in note(rows, splits=False)


def test_other_columns_do_not_look_like_splits():
    rows = [{"review": "x", "stars": "1", "latest": str(at % 2), "char set": "a b"[at % 2], "test": str(at)} for at in
            range(30)]  # fmt: skip
    assert "held out" not in note(rows)


def test_a_scored_table_must_have_the_answers_that_training_read(write):
    table = write("a.csv", "text,verified\nx,1\n")
    with pytest.raises(DataError, match=r"trained on the answers in 'label', and here .* from 'verified'.*rename it"):
        open_unsplit("labeled", corpus(table), trained=[("text", "label")])
    assert open_unsplit("labeled", corpus(table)).splits["whole"]
    both = write("b.csv", "text,label,sentiment\nx,1,good\n")
    [example] = open_unsplit("labeled", corpus(both), trained=[("text", "sentiment")]).splits["whole"]
    assert example == LabeledText("x", "good")


def test_another_name_for_the_text_is_read_and_said(write):
    found = open_unsplit("labeled", corpus(write("a.csv", "body,label\nx,1\n")), trained=[("text", "label")])
    assert found.notes == ("columns of a.csv: text 'body', label 'label'",)


def test_more_than_two_columns_of_tagged_words_are_said(write):
    path, fixes = write("a.conll", "fine\tJJ\tNN\tB-PER\nday\tNN\tNN\tO\n"), InputFixes()
    read_columns(path, fixes)
    assert fixes.notes() == ["columns of a.conll: column 1 is the word, column 4 its tag; columns 2 to 3 are not used"]
    fixes = InputFixes()
    read_words(path, False, fixes)
    assert fixes.notes() == ["columns of a.conll: column 1 is the word; columns 2 to 4 are not used"]
