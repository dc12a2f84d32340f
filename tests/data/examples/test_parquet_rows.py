"""Examples in Parquet files, as Hugging Face stores data sets: read like the rows of JSON lines."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest
from example_tables import corpus

from seqlab.data.examples.example import LabeledText, TextPair
from seqlab.data.examples.inputs import read_inputs
from seqlab.data.examples.load import open_examples, open_unsplit
from seqlab.data.files import InputFixes, read_file
from seqlab.data.task_inference import infer_task, unclear_layout
from seqlab.errors import DataError, UsageError

TEXTS = [f"text {number}" for number in range(40)]
LABELS = [number % 2 for number in range(40)]


@pytest.fixture
def stored(tmp_path):
    import pyarrow
    import pyarrow.parquet

    def store(name: str, **columns: Sequence[object]) -> Path:
        pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / name, row_group_size=16)
        return tmp_path / name

    return store


def test_labeled_texts_are_read_from_parquet(stored):
    path = stored("train.parquet", text=TEXTS, label=LABELS, site=["a", "b"] * 20)
    examples = open_examples("labeled", corpus(path))
    read = [example for split in examples.splits.values() for example in split]
    assert {*read} == {LabeledText(text, str(label)) for text, label in zip(TEXTS, LABELS, strict=True)}
    said = "columns of train.parquet: text 'text', label 'label'; not used: 'site' (a 20, b 20)"
    assert said in examples.notes
    packed = path.with_name("packed.parquet.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert open_unsplit("labeled", corpus(packed)).splits == open_unsplit("labeled", corpus(path)).splits


def test_pairs_are_read_from_parquet(stored):
    path = stored("a.parquet", en=TEXTS, de=[text.upper() for text in TEXTS])
    whole = open_unsplit("pairs", corpus(path)).splits["whole"]
    assert [*whole] == [TextPair(text, text.upper()) for text in TEXTS]


def test_rows_to_predict_from_are_read_from_parquet_and_keep_their_places(stored):
    fixes = InputFixes()
    texts = read_inputs("labeled", stored("a.parquet", text=["one", None, "three"], id=[7, 8, 9]), None, fixes)
    assert texts == {1: "one", 2: "", 3: "three"}
    assert "1 row of a.parquet without a text to read (row 2: 'text' is null, expected a text)" in fixes.notes()


def test_rows_that_cannot_be_used_are_counted_by_their_number(stored):
    texts, labels = [*TEXTS[:5], None, *TEXTS[6:]], [*LABELS[:9], None, *LABELS[10:]]
    when, raw = [datetime(2024, 1, 1, 5)] * 40, [b"\0\xff"] * 40
    path = stored("a.parquet", text=texts, label=labels, when=when, raw=raw)
    (note,) = [note for note in open_examples("labeled", corpus(path)).notes if "skipped" in note]
    assert "(row 6: 'text' is null, expected a text; row 10: 'label' is null" in note
    with pytest.raises(DataError, match="row 1: 'text' is bytes, expected a text"):
        open_examples("labeled", corpus(stored("b.parquet", text=raw, label=LABELS)))


def test_columns_tell_the_task_of_parquet_as_of_json_lines(stored):
    task = infer_task([str(stored("a.parquet", text=TEXTS, label=LABELS))])
    assert task == ("classify", "a.parquet has the columns 'text' and 'label'")
    named = infer_task([str(stored("b.parquet", body=TEXTS, stars=LABELS))], ("body", "stars"))
    assert named is not None and named.name == "classify"
    shards = [str(stored(f"part-{part}.parquet", text=TEXTS, url=TEXTS)) for part in range(2)]
    assert infer_task(shards) is None and unclear_layout(shards) is None  # running text, without a question
    assert unclear_layout([str(Path(shards[0]).parent)]) is None  # so is a folder


def test_unclear_columns_of_parquet_are_named(stored):
    with pytest.raises(DataError) as said:
        open_examples("labeled", corpus(stored("a.parquet", text=TEXTS, mood=["good", "bad"] * 20, when=TEXTS)))
    assert '--set \'corpus.columns=["text", "mood"]\'' in str(said.value)
    with pytest.raises(
        DataError, match="expected columns such as 'text' and 'label', but there is only the column 'x'"
    ):
        open_examples("labeled", corpus(stored("b.parquet", x=TEXTS)))
    with pytest.raises(DataError, match="has no rows"):
        open_examples("labeled", corpus(stored("c.parquet", text=[], label=[])))


def test_without_the_extra_the_command_that_installs_it_is_said(stored, monkeypatch):
    path = stored("a.parquet", text=TEXTS, label=LABELS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"is a Parquet file, which needs .*: pip install 'seqlab.corpora.'"):
        open_examples("labeled", corpus(path))


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
@pytest.mark.parametrize("kind, columns, made", [
    ("pairs", {"translation": [{"de": "ja", "en": "yes"}] * 3}, '{"de":"ja","en":"yes"}\n' * 3),
    ("labeled", {"text": ["a b"] * 3, "label": [["x"]] * 3}, '{"text":"a b","label":"x"}\n' * 3),
])  # fmt: skip
def test_commands_that_convert_parquet_work(stored, tmp_path, kind, columns, made):
    with pytest.raises(DataError) as said:
        open_examples(kind, corpus(stored("my rows.parquet", **columns)))
    command = str(said.value)[str(said.value).index("python3 -c") :]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True, env={**os.environ, "PATH": path})
    assert (tmp_path / "new.jsonl").read_text() == made


def test_parquet_under_another_name_is_recognized(stored):
    with pytest.raises(DataError, match=r"is a Parquet file, not text. Give it a name that ends in .parquet, or"):
        list(read_file(stored("a.bin", text=TEXTS), InputFixes()))


def of_hugging_face(path: Path, features: object) -> Path:
    """The file with metadata as the package datasets writes them."""
    import pyarrow.parquet

    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(path).replace_schema_metadata(metadata), path)
    return path


def test_integers_whose_names_hugging_face_stores_become_these_labels(stored):
    features = {
        "text": {"dtype": "string", "_type": "Value"},
        "label": {"names": ["pos", "neg"], "_type": "ClassLabel"},
    }
    path = of_hugging_face(stored("a.parquet", text=TEXTS, label=[-1, *LABELS[1:]]), features)
    examples = open_examples("labeled", corpus(path))
    read = [example for split in examples.splits.values() for example in split]
    labels = ["-1", *(["pos", "neg"] * 20)[1:]]
    assert {*read} == {LabeledText(text, label) for text, label in zip(TEXTS, labels, strict=True)}
    assert (
        "a.parquet names the integers of 'label', and its names are the labels: 0 is 'pos', 1 is 'neg'"
        in examples.notes
    )
    missing = "'-1' (1) may stand for a missing label: it is learned like any other. Delete such rows if so"
    assert missing in examples.notes
    assert not [note for note in examples.notes if "different types" in note]


def test_the_first_names_of_many_labels_are_said(stored):
    features = {"label": {"names": [f"topic {number}" for number in range(7)], "_type": "ClassLabel"}}
    path = of_hugging_face(stored("a.parquet", text=TEXTS, label=[number % 7 for number in range(40)]), features)
    (note,) = [note for note in open_examples("labeled", corpus(path)).notes if "names the integers" in note]
    assert note.endswith(": 0 is 'topic 0', 1 is 'topic 1', 2 is 'topic 2', 3 is 'topic 3', 4 is 'topic 4' and 2 more")


@pytest.mark.parametrize("about", [
    None, [], "pos", {"names": "pos", "_type": "ClassLabel"}, {"names": [], "_type": "ClassLabel"},
    {"names": ["a", "a"], "_type": "ClassLabel"}, {"names": ["a", 1], "_type": "ClassLabel"},
    {"names": ["a", " "], "_type": "ClassLabel"}, {"names": ["a", "b"], "_type": "Value"},
])  # fmt: skip
def test_names_of_labels_in_another_form_are_ignored(stored, about):
    for features in ({"label": about}, about):
        path = of_hugging_face(stored("a.parquet", text=TEXTS, label=LABELS), features)
        whole = open_unsplit("labeled", corpus(path)).splits["whole"]
        assert [*whole] == [LabeledText(text, str(label)) for text, label in zip(TEXTS, LABELS, strict=True)]
