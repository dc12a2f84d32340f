"""Files of annotation tools: what is said of labels in arrays and in nested fields, and commands that work."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from example_tables import corpus, labels

from seqlab.data.examples.example import LabeledText
from seqlab.data.examples.json_forms import form_of_file
from seqlab.data.examples.load import open_examples
from seqlab.data.task_inference import unclear_layout
from seqlab.errors import DataError

needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")


def run(command: str, folder: Path) -> None:
    subprocess.run(command, shell=True, check=True, cwd=folder)


def lines(answers: list[Any]) -> str:
    return "".join(json.dumps({"text": f"text {at}", "label": label}) + "\n" for at, label in enumerate(answers))


@needs_jq
@pytest.mark.parametrize("more", [[], ["c"]])
def test_the_command_writes_a_label_of_an_array(write, tmp_path, more):
    path = write("a b.jsonl", lines([["ab"[at % 2], *more] for at in range(30)]))
    with pytest.raises(DataError, match="is an array, such as") as refused:
        open_examples("labeled", corpus(path))
    assert ("have several; to keep the first" in str(refused.value)) == bool(more)
    run(str(refused.value).rpartition(": ")[2], tmp_path)
    result = open_examples("labeled", corpus(tmp_path / "new.jsonl"))
    assert set(labels(result, "train")) == {"a", "b"}


def test_spans_are_said_with_what_is_expected(write):
    path = write("a.jsonl", lines([[[0, 4, "PER"]]] * 30))
    with pytest.raises(DataError, match=r"parts of the text: .* a word and its tag on each line.*--task tag"):
        open_examples("labeled", corpus(path))


@needs_jq
def test_the_command_flattens_nested_fields(write, tmp_path):
    rows = [
        {
            "id": at,
            "annotations": [{"result": [{"value": {"choices": ["ab"[at % 2]]}}]}],
            "data": {"text": f"a longer text, number {at}"},
        }
        for at in range(30)
    ]
    said = form_of_file(Path(write("a.json", json.dumps(rows))))
    assert said is not None
    assert "nested fields" in said
    run(said.rpartition(": jq")[1].removeprefix(": ") + said.rpartition(": jq")[2], tmp_path)
    result = open_examples("labeled", corpus(tmp_path / "new.jsonl"))
    examples = {example for some in result.splits.values() for example in some}
    assert examples == {LabeledText(f"a longer text, number {at}", "ab"[at % 2]) for at in range(30)}


@needs_jq
def test_nested_texts_are_written_alone(write, tmp_path):
    """As an archive of Twitter has them: each in an object of its own, with labels or without."""
    for languages in ("", "ab"):
        rows = [{"tweet": {"full_text": f"a longer text, number {at}"}} for at in range(30)]
        for at, row in enumerate(rows):
            row["tweet"] |= {"lang": languages[at % 2]} if languages else {}
        said = form_of_file(Path(write("a.json", json.dumps(rows, indent=1))))
        assert said is not None
        run(said.partition("to write the texts alone: ")[2].partition("; ")[0], tmp_path)
        written = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text().splitlines()]
        assert written == [{"text": row["tweet"]["full_text"]} for row in rows]
        (tmp_path / "new.jsonl").unlink()


@needs_jq
def test_an_array_of_texts_becomes_a_row_for_each(write, tmp_path):
    said = form_of_file(Path(write("a.jsonl", json.dumps(["one text", "another"]))))
    assert said is not None and "one array of texts" in said
    run(said.partition("of each: ")[2], tmp_path)
    written = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text().splitlines()]
    assert written == [{"text": "one text"}, {"text": "another"}]


def exported(at: int) -> dict[str, Any]:
    """A row as Label Studio exports it."""
    result = {"value": {"choices": ["ab"[at % 2]]}, "id": f"x{at}", "from_name": "sentiment", "to_name": "text"}
    annotation = {"id": at, "completed_by": 1, "result": [{**result, "type": "choices", "origin": "manual"}]}
    return {"id": at, "annotations": [annotation], "data": {"text": f"a longer text, number {at}"}}


def test_the_field_of_labels_varies_and_repeats(write):
    said = form_of_file(Path(write("a.json", json.dumps([exported(at) for at in range(30)]))))
    assert said is not None
    assert 'label: .["annotations"][0]["result"][0]["value"]["choices"][0]}' in said


def objects(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@needs_jq
@pytest.mark.parametrize("tool", ["doccano", "prodigy"])
def test_arrays_of_one_label_are_found_whatever_the_columns_are_called(write, tmp_path, tool):
    rows: list[dict[str, Any]] = [{"id": at, "data": f"text {at}", "label": ["ab"[at % 2]]} for at in range(30)]
    if tool == "prodigy":
        options = [{"id": "a"}, {"id": "b"}]
        rows = [
            {"text": f"text {at}", "options": options, "accept": ["ab"[at % 2]], "answer": "accept"} for at in range(30)
        ]
    layout = unclear_layout([str(write("a.jsonl", objects(rows)))])
    assert layout is not None and layout.kind == "other"
    run(layout.reason.rpartition(": ")[2], tmp_path)
    result = open_examples("labeled", corpus(tmp_path / "new.jsonl"))
    assert {example for some in result.splits.values() for example in some} == {
        LabeledText(f"text {at}", "ab"[at % 2]) for at in range(30)
    }


def test_rejected_and_ignored_rows_are_left_out_and_said(write):
    answers = ["accept", "accept", "accept", "reject", "accept", "ignore"]
    rows = [{"text": f"text {at}", "label": "ab"[at % 2], "answer": answers[at % 6]} for at in range(60)]
    result = open_examples("labeled", corpus(write("a.jsonl", objects(rows))))
    texts = {example.input for some in result.splits.values() for example in some}
    assert texts == {row["text"] for row in rows if row["answer"] == "accept"}
    assert any("left out 20 rows" in note and "'reject' (10), 'ignore' (10)" in note for note in result.notes)
    assert any("40 were accepted" in note for note in result.notes)


def test_decisions_can_be_learned_where_there_is_one_label(write):
    rows = [{"text": f"text {at}", "label": "SPAM", "answer": ("accept", "reject")[at % 2]} for at in range(60)]
    path = write("a.jsonl", objects(rows))
    with pytest.raises(DataError, match=r"all others have the label 'SPAM'.*corpus\.columns=\[\"text\", \"answer\"\]"):
        open_examples("labeled", corpus(path))
    result = open_examples("labeled", corpus(path, columns=("text", "answer")))
    assert set(labels(result, "train")) == {"accept", "reject"}


def test_a_label_for_each_row_is_preferred_to_arrays_of_them(write) -> None:
    """As SNLI has the label of most annotators beside those of all."""
    names = ["entailment", "neutral", "contradiction"]
    rows = [
        {
            "annotator_labels": [names[at % 3]] * (5 if at % 5 == 0 else 1),
            "gold_label": "-" if at % 20 == 7 else names[at % 3],
            "pairID": f"{at}.jpg#1",
            "sentence1": f"A man is outside {at}.",
            "sentence2": f"Somebody is outside and waits {at}.",
        }
        for at in range(60)
    ]
    layout = unclear_layout([str(write("snli.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))])
    assert layout and layout.kind == "table" and layout.columns and layout.columns[1] == "gold_label"


def test_rows_of_splits_in_one_object_are_no_words_and_tags(write):
    rows = [[f"a text {at}", "ab"[at % 2]] for at in range(9)]
    layout = unclear_layout([str(write("a.json", json.dumps({"val": rows, "test": rows, "train": rows * 3})))])
    assert layout is not None and "'val', 'test', 'train'" in layout.reason and "tag" not in layout.reason
