"""Which task files are for, where that is plain."""

import gzip
import json
import os

import pytest

from seqlab.data.examples import tables
from seqlab.data.task_inference import infer_task
from seqlab.registry import CORPORA


@pytest.fixture
def written(write):
    return lambda name, content: str(write(name, content))


@pytest.mark.parametrize("name", ["a.conllu", "a.conll", "a.bio", "a.iob", "a.iob2", "a.CONLL", "a.conllu.gz"])
def test_words_and_tags_are_known_by_the_ending(written, name):
    guess = infer_task([written(name, "x\n")])
    assert guess and guess[0] == "tag"
    assert guess[1].startswith(name)


@pytest.mark.parametrize(
    "name, content, task, reason",
    [
        ("a.tsv", "text\tlabel\n", "classify", "a.tsv has the columns 'text' and 'label'"),
        ("a.tsv", "\n\ufeffText\tlabel\n"[1:], "classify", "a.tsv has the columns 'Text' and 'label'"),
        ("a.csv", 'id,"Sentiment",review\r\n', "classify", "a.csv has the columns 'review' and 'Sentiment'"),
        ("a.jsonl", '\n{"intent": 1, "text": ""}\n', "classify", "a.jsonl has the keys 'text' and 'intent'"),
        ("a.csv", "id,keyword,text,target\n", "classify", "a.csv has the columns 'text' and 'target'"),
        ("a.tsv", "source\ttarget", "translate", "a.tsv has the columns 'source' and 'target'"),
        ("a.tsv", "de\ten\n", "translate", "a.tsv has the columns 'de' and 'en'"),
        ("a.ndjson", '{"src": "x", "tgt": "y", "id": 1}', "translate", "a.ndjson has the keys 'src' and 'tgt'"),
    ],
)
def test_tables_are_known_by_their_columns(written, name, content, task, reason):
    assert infer_task([written(name, content)]) == (task, reason)


@pytest.mark.parametrize(
    "name, content",
    [
        ("a.txt", "text\tlabel\n"),
        ("a.tsv", "text\tstars\n"),  # one known name is too little
        ("a.tsv", "input\tlabel\n"),
        ("a.tsv", "Call me Ishmael.\tSome years ago\n"),
        ("a.tsv", "text\treview\tsentence\tlabel y\n"),
        ("a.csv", 'text,"label\n'),
        ("a.csv", ""),
        ("a.jsonl", '{"text": "a"}'),
        ("a.jsonl", '["text", "label"]'),
        ("a.jsonl", "{text: label}"),
        ("a.jsonl", "[" * 60_000),
        ("a.json", '{\n "text": "a",\n "label": "b"\n}\n'),
        ("a.tsv", b"\xff\xfe\0t\0e"),
        ("a.tsv.gz", b"text\tlabel\n"),
        ("a.tsv.gz", gzip.compress(b"text\tlabel\n" * 9, mtime=0)[:-9]),
    ],
)
def test_nothing_is_guessed_where_there_is_a_doubt(written, name, content):
    assert infer_task([written(name, content)]) is None


def test_packed_tables(written):
    path = written("a.tsv.gz", gzip.compress(b"text\tlabel\n", mtime=0))
    assert infer_task([path]) == ("classify", "a.tsv.gz has the columns 'text' and 'label'")


def test_no_more_than_the_beginning_is_read(written, monkeypatch):
    long = json.dumps({"text": "x" * tables.SAMPLE_BYTES, "label": "y"})
    assert infer_task([written("a.jsonl", long)]) is None
    short = json.dumps({"text": "x" * 1000, "label": "y"}) + "\n" + long
    assert infer_task([written("a.jsonl", short)]) is not None
    exact = json.dumps({"text": "", "label": "y"})
    exact = exact.replace('""', '"' + "x" * (tables.SAMPLE_BYTES - len(exact)) + '"')
    assert len(exact) == tables.SAMPLE_BYTES
    assert infer_task([written("a.jsonl", exact)]) is not None  # that is all of it


def test_named_columns_tell_more(written):
    path = written("a.tsv", "phrase\tStars\ten\tde\ttext\tlabel\n")
    assert infer_task([path], ("phrase", "stars")) == ("classify", "a.tsv has the columns 'phrase' and 'Stars'")
    assert infer_task([path], ("de", "en")) == ("translate", "a.tsv has the columns 'de' and 'en'")
    assert infer_task([path], ("text", "label")) == ("classify", "a.tsv has the columns 'text' and 'label'")
    assert infer_task([path], ("phrase", "nowhere")) is None


@pytest.mark.parametrize(
    "names, expected",
    [
        (["train.en", "train.de"], True),
        (["train.en.gz", "train.cs.gz"], True),
        (["news.2024.eng", "news.2024.deu"], True),
        (["a.src", "a.tgt"], True),
        (["en/train.en", "pl/train.pl"], True),
        (["train.en", "val.de"], False),
        (["train.en", "train.en.gz"], False),
        (["data.csv", "data.tsv"], False),
        (["a.py", "a.md"], False),
        (["a.txt", "a.log"], False),
        (["a.en", "a.de", "a.fr"], False),
        (["a.english", "a.german"], False),
        (["a", "b"], False),
    ],
)
def test_two_languages_are_known_by_their_endings(written, names, expected):
    guess = infer_task([written(name, "x\n") for name in names])
    assert (guess is not None) == expected
    if guess:
        first, second = (name.split("/")[-1] for name in names)
        assert guess == ("translate", f"{first} and {second} look like one text in two languages")


def test_several_files_must_agree(written):
    table, words, text = written("a.tsv", "text\tlabel\n"), written("a.conll", "x\n"), written("a.txt", "x\n")
    assert infer_task([table, written("b.csv", "label,text\n")]) == (
        "classify",
        "a.tsv has the columns 'text' and 'label'",
    )
    assert infer_task([table, words]) is None
    assert infer_task([words, text]) is None


@pytest.mark.parametrize("name", ["nowhere.tsv", "nowhere.conll", "-", "x" * 5000 + ".tsv", "a\0.tsv", ".", ""])
def test_what_is_not_there_is_not_guessed(name):
    assert infer_task([name]) is None
    assert infer_task([name + ".en", name + ".de"]) is None
    assert infer_task([]) is None


def test_a_pipe_is_left_alone(tmp_path):
    path = tmp_path / "a.tsv"
    os.mkfifo(path)
    assert infer_task([str(path)]) is None


def test_built_in_corpora_say_what_they_are_for(monkeypatch):
    for name in CORPORA:
        task = CORPORA.default_overrides(name).get("task.name")
        guess = infer_task([name])
        assert (guess and guess[0]) == task
    assert infer_task(["reverse"]) == ("translate", "the built-in corpus 'reverse' is made for it")
    assert infer_task(["toy-words"]) is None
