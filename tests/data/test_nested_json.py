"""JSON lines whose texts stand deeper than the first level: the command that gets them out is said."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from seqlab.data.documents.document import Document
from seqlab.data.documents.fixes import Unusable
from seqlab.data.documents.read import read_documents
from seqlab.data.examples.tables import read_pairs
from seqlab.data.files import InputFixes
from seqlab.data.nested_json import nested_texts_advice
from seqlab.errors import DataError, UsageError
from seqlab.training.request import settings_from_request

ROWS = [
    {"id": number, "messages": [{"role": "user", "content": f"question {number}"}, {"role": "bot", "content": "yes"}]}
    for number in range(40)
]


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "chat.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return file


@pytest.mark.parametrize("option", [[], ["--task", "language"]])
def test_chats_get_the_command_and_no_other(chat: Path, option: list[str], seqlab) -> None:
    answer = seqlab("train", "chat.jsonl", *option)
    assert answer.code != 0 and "jq -r '.messages[].content // empty' chat.jsonl > new.txt" in answer.err
    assert "--task language" not in answer.err and "cp chat.jsonl" not in answer.err


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_the_command_gets_the_texts(chat: Path) -> None:
    command = nested_texts_advice(ROWS, "chat.jsonl").partition("content: ")[2]
    subprocess.run(command, shell=True, check=True)
    assert Path("new.txt").read_text().splitlines()[:3] == ["question 0", "yes", "question 1"]


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_an_index_gets_a_document_of_each_chat(chat: Path) -> None:
    with pytest.raises(Unusable, match=r"there is 'id', 'messages'\. Its texts stand deeper\.") as refused:
        list(read_documents([Path("chat.jsonl")]))
    assert "--column" not in str(refused.value)
    subprocess.run(str(refused.value).partition("in each row: ")[2], shell=True, check=True)
    assert list(read_documents([Path("new.jsonl")]))[:1] == [Document("0", "question 0\nyes")]
    chat.write_text('{"question": "what is an otter?", "meta": {"by": "me"}}\n')
    with pytest.raises(Unusable, match="--column text=NAME"):
        list(read_documents([Path("chat.jsonl")]))


@pytest.mark.parametrize(
    ("row", "path"),
    [
        ({"a": {"b c": "text"}}, '.a."b c"'),
        ({"lines": ["one", "two"]}, ".lines[]"),
        ({"a": 1, "b": [1, 2]}, ""),
        ({"short": {"x": "a"}, "long": {"x": "a longer text"}}, ".long.x"),
    ],
)
def test_paths(row: dict, path: str) -> None:
    advice = nested_texts_advice([row], "a.jsonl")
    assert advice == "" if not path else f"those of {path}: " in advice


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_texts_side_by_side_become_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"translation": {"en": f"the film {at}", "de": f"der Film {at}"}} for at in range(20)]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(UsageError) as asked:
        settings_from_request("a.jsonl", {}, {}, {})
    command = str(asked.value).partition("To make a table of them: ")[2].splitlines()[0].rstrip(".")
    subprocess.run(command, shell=True, check=True)
    pairs = [located.example for located in read_pairs(Path("new.jsonl"), ("en", "de"), InputFixes())]
    assert [pair.target for pair in pairs] == [f"der Film {at}" for at in range(20)]


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_sentences_side_by_side_beside_an_id_become_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": str(number), "translation": {"en": f"dog {number}", "fr": f"chien {number}"}} for number in range(3)]
    Path("hf.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(DataError, match=r"line 1: 'translation' is an object, expected a text\. Its") as refused:
        read_pairs(Path("hf.jsonl"), None, InputFixes())
    subprocess.run(str(refused.value).partition("a table of them: ")[2], shell=True, check=True)
    assert len(read_pairs(Path("new.jsonl"), None, InputFixes())) == 3
