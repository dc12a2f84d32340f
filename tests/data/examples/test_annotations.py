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
