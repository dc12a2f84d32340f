"""Tagged sentences in Parquet files, whose rows have lists of words and of their tags."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from example_tables import corpus

from seqlab.data.examples.example import TaggedSentence
from seqlab.data.examples.inputs import Trained, read_inputs
from seqlab.data.examples.load import open_examples, open_unsplit
from seqlab.data.files import InputFixes
from seqlab.data.task_inference import infer_task
from seqlab.errors import DataError

Store = Callable[..., Path]
WORDS = [["Ann", "saw", f"Rome{at}"] for at in range(40)]
TAGS = [["B-PER", "O", "B-LOC"]] * 40
PARTS = [["NNP", "VBD", "NNP"]] * 40
NAMES = ["O", "B-PER", "B-LOC"]
INTEGERS = [[1, 0, 2]] * 40


@pytest.fixture
def store(tmp_path: Path) -> Store:
    import pyarrow
    import pyarrow.parquet

    def to(name: str, features: object = None, **columns: Sequence[object]) -> Path:
        metadata = {"huggingface": json.dumps({"info": {"features": features}})} if features else None
        table = pyarrow.table(columns).replace_schema_metadata(metadata)
        pyarrow.parquet.write_table(table, tmp_path / name)
        return tmp_path / name

    return to


def test_lists_of_words_and_tags_are_read(store: Store) -> None:
    path = store("a.parquet", id=[f"n{at}" for at in range(40)], tokens=WORDS, ner_tags=TAGS, pos=PARTS)
    said = "a.parquet has lists of words in 'tokens' and of their tags in 'ner_tags'"
    assert infer_task([str(path)]) == ("tag", said)
    read = open_unsplit("tagged", corpus(path))
    assert read.splits["whole"] == [TaggedSentence(tuple(words), ("B-PER", "O", "B-LOC")) for words in WORDS]
    columns = (
        "columns of a.parquet: words 'tokens', tags 'ner_tags'; not used: 'id', 'pos'; others may be meant, 'pos': "
    )
    option = """--set 'corpus.columns=["tokens", "pos"]'"""
    assert f"{columns}{option}" in read.notes


def test_the_columns_may_be_named(store: Store) -> None:
    path = store("a.parquet", tokens=WORDS, ner_tags=TAGS, POS=PARTS)
    named = infer_task([str(path)], ("tokens", "pos"))
    assert named is not None and named.name == "tag"
    read = open_unsplit("tagged", corpus(path, columns=("tokens", "pos")))
    assert read.splits["whole"][0] == TaggedSentence(tuple(WORDS[0]), tuple(PARTS[0]))
    assert read.notes[0] == "columns of a.parquet: words 'tokens', tags 'POS'; not used: 'ner_tags'"


@pytest.mark.parametrize("about", [
    {"feature": {"names": NAMES, "_type": "ClassLabel"}, "_type": "Sequence"},
    {"feature": {"names": NAMES, "_type": "ClassLabel"}, "_type": "List"},
    [{"names": NAMES, "_type": "ClassLabel"}],
])  # fmt: skip
def test_integers_whose_names_hugging_face_stores_become_these_tags(store: Store, about: object) -> None:
    read = open_unsplit("tagged", corpus(store("a.parquet", {"ner_tags": about}, tokens=WORDS, ner_tags=INTEGERS)))
    assert read.splits["whole"][0] == TaggedSentence(tuple(WORDS[0]), ("B-PER", "O", "B-LOC"))
    shown = "0 is 'O', 1 is 'B-PER', 2 is 'B-LOC'"
    assert f"a.parquet names the integers of 'ner_tags', and its names are the labels: {shown}" in read.notes


def test_integers_without_names_are_said(store: Store) -> None:
    read = open_unsplit("tagged", corpus(store("a.parquet", tokens=WORDS, ner_tags=INTEGERS)))
    assert read.splits["whole"][0] == TaggedSentence(tuple(WORDS[0]), ("1", "0", "2"))
    assert any("has integers, whose names the file does not tell: each is taken as a tag" in one for one in read.notes)


def test_rows_that_cannot_be_used_are_skipped_and_counted(store: Store) -> None:
    words = [["a"], None, [], ["a", " "], *WORDS[4:]]
    tags = [["O", "O"], ["O"], [], ["O", "O"], *TAGS[4:]]
    (note,) = [
        note
        for note in open_examples("tagged", corpus(store("a.parquet", tokens=words, tags=tags))).notes
        if "skipped" in note
    ]
    assert "skipped 4 of the 40 rows" in note and "row 1: 'tokens' has 1 word, but 'tags' has 2 tags" in note
    assert "row 2: 'tokens' is null, expected a list; row 3: 'tokens' is an empty list" in note


def test_other_columns_are_refused_with_those_that_may_be_meant(store: Store) -> None:
    path = store("a.parquet", body=WORDS, kinds=TAGS)
    assert infer_task([str(path)]) is None  # they may be anything
    with pytest.raises(
        DataError,
        match=r"expected lists of words, .* two of them are these: --set .*\["
        r'"body", "kinds"\]',
    ):
        open_examples("tagged", corpus(path))
    with pytest.raises(DataError, match=r"has the columns 'text': expected lists of words, .* 'ner_tags'\.$"):
        open_examples("tagged", corpus(store("b.parquet", text=["a b"] * 40)))


def test_words_to_predict_are_read_as_in_training(store: Store) -> None:
    fixes, bodies = InputFixes(), {1: ("x",), 2: ("y",), 3: ("z",)}
    path = store("a.parquet", tokens=[["New York", "is"], None, ["a"]], body=[["x"], ["y"], ["z"]])
    assert read_inputs("tagged", path, None, fixes) == {1: ("New York", "is"), 2: (), 3: ("a",)}
    assert "1 row of a.parquet without a text to read (row 2: 'tokens' is null, expected a list)" in fixes.notes()
    assert read_inputs("tagged", path, "body", InputFixes()) == bodies
    assert read_inputs("tagged", path, None, InputFixes(), Trained(("body", "kinds"))) == bodies
    texts = store("b.parquet", text=["Ann saw Rome"])
    assert read_inputs("tagged", texts, None, InputFixes()) == {1: "Ann saw Rome"}
