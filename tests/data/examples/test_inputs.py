"""What `predict` reads from a file or from standard input: what training reads from it."""

import io
import shutil
import subprocess
import sys

import pytest

from seqlab.config import CorpusSettings
from seqlab.data.examples.inputs import Trained, read_inputs, read_standard_input
from seqlab.data.examples.load import open_unsplit
from seqlab.data.files import InputFixes
from seqlab.errors import DataError, UsageError

TEXTS = ["the film was good", "the meal was bad"]
COMMAS = "text,label\nthe film was good,pos\nthe meal was bad,neg\n"
OBJECTS = '{"text": "the film was good", "label": "pos"}\n{"text": "the meal was bad", "label": "neg"}\n'
FASTTEXT = "__label__pos the film was good\n__label__neg the meal was bad\n"


@pytest.fixture
def piped(monkeypatch):
    def pipe(content: str | bytes) -> None:
        raw = content.encode() if isinstance(content, str) else content
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))

    return pipe


@pytest.mark.parametrize("content", [COMMAS, COMMAS.replace(",", "\t"), FASTTEXT])
def test_a_table_is_read_as_evaluate_reads_it_whatever_its_suffix(write, content):
    path = write("my.txt", content)
    texts = [*read_inputs("labeled", path, None, InputFixes()).values()]
    scored = open_unsplit("labeled", CorpusSettings(source=(str(path),))).splits["whole"]
    assert texts == [example.input for example in scored] == TEXTS


@pytest.mark.parametrize(("header", "column"), [("text,label,text", None), ("text,label,text", "Text"), ("a,b,a", "a")])
def test_a_column_of_inputs_named_twice_is_refused(write, header, column):
    path = write("a.csv", f"{header}\nthe film was good,pos,the meal was bad\n")
    with pytest.raises(DataError, match=r"line 1: 2 columns are named '(text|a)'\. Rename all but one"):
        read_inputs("labeled", path, column, InputFixes())


def test_lines_that_are_read_as_texts_are_said(write):
    fixes = InputFixes()
    lines = "I liked the text, and the label\nyes, it was good\n"
    assert len(read_inputs("labeled", write("my.txt", lines), None, fixes)) == 2
    assert any("each line of my.txt is a text" in note for note in fixes.notes())


@pytest.mark.parametrize(
    ("kind", "content"), [("labeled", "\n".join(TEXTS)), ("tagged", "a b\nb"), ("labeled", FASTTEXT)]
)
def test_lines_without_a_text_keep_their_places_and_are_counted(write, kind, content):
    fixes = InputFixes()
    first, second, *_ = content.splitlines()
    texts = [*read_inputs(kind, write("my.txt", f"{first}\n\n{second}\n  \n{second}\n"), None, fixes).values()]
    assert [not str(text).isspace() and text != "" for text in texts] == [True, False, True, False, True]
    assert (
        "2 lines of my.txt without a text to read (line 2: the line has no text; line 4: the line has no text)"
        in fixes.notes()
    )


@pytest.mark.parametrize("content", [COMMAS, OBJECTS, FASTTEXT, "\n".join(TEXTS)])
def test_standard_input_is_read_like_a_file(piped, content):
    piped(content)
    inputs, notes = read_standard_input("labeled", None, InputFixes())
    assert [*inputs.values()] == TEXTS
    assert any("standard input" in note for note in notes) and not any("stdin" in note for note in notes)


def test_tagged_words_are_read_from_standard_input(piped):
    piped("Peter\tB-PER\nsaw\tO\n\nAnna\tB-PER\nleft\tO\n")
    assert [*read_standard_input("tagged", None, InputFixes())[0].values()] == [("Peter", "saw"), ("Anna", "left")]


def test_words_between_spaces_are_known_by_the_tags_of_the_run(piped):
    piped("-DOCSTART- -X- O\n\nPeter NNP B-PER\n# a comment\nsaw VBD O\n\nAnna NNP B-PER\n")
    inputs, _ = read_standard_input("tagged", None, InputFixes(), Trained(labels=("O", "B-PER")))
    assert [*inputs.values()] == [("Peter", "saw"), ("Anna",)]


def test_standard_input_in_an_unknown_encoding_is_piped_through_a_converter(piped):
    piped(b"the film was b\xe9\x9fd\n" * 3 + b"\x81\x8d\n")
    with pytest.raises(DataError, match=r"'standard input', line 1.* iconv -f ENCODING -t UTF-8 FILE \| seqlab"):
        read_standard_input("labeled", None, InputFixes())


@pytest.mark.parametrize("name", ["my.txt", "my.csv", "my.jsonl", "my.conll"])
def test_an_empty_file_is_said_to_be_empty(write, name):
    with pytest.raises(DataError, match="is empty"):
        read_inputs("tagged" if name.endswith("conll") else "labeled", write(name, "\n"), None, InputFixes())


def test_a_table_without_a_text_to_read_says_why(write):
    path = write("a.csv", 'text, label\n "good room, nice", pos\n "bad, film", neg\n')
    with pytest.raises(DataError, match=r"a\.csv' has no text to read: line 2: 3 fields, but the header has 2"):
        read_inputs("labeled", path, None, InputFixes())


def test_objects_in_a_file_with_another_suffix_are_not_read_as_texts(write):
    with pytest.raises(DataError, match=r"a name that ends in \.jsonl"):
        read_inputs("labeled", write("my.txt", OBJECTS), None, InputFixes())


def test_a_column_of_texts_is_suggested_and_not_one_of_identifiers(write):
    rows = "".join(f"{at:032},R_{at:040},a few words {at}\n" for at in range(12))
    with pytest.raises(DataError, match="--column opinion"):
        read_inputs("labeled", write("my.csv", "id,code,opinion\n" + rows), None, InputFixes())


@pytest.mark.parametrize("column", [None, "tokens"])
def test_arrays_of_words_are_refused_with_the_command_that_writes_them(write, column):
    rows = [
        '{"id": 1, "tokens": ["Bob", "left"], "ner_tags": ["B-PER", "O"]}',
        '{"id": 2, "tokens": [], "ner_tags": []}',
    ]
    path = write("a.jsonl", "\n".join(rows))
    said = r"line 1: 'tokens' is an array, expected a text.* a word and its tag on each line: jq .* > new\.conll$"
    with pytest.raises(DataError, match=said):
        read_inputs("tagged", path, column, InputFixes())
    with pytest.raises(DataError, match=r"expected a text\. To write texts: jq -c .*join.* > new\.jsonl$"):
        read_inputs("labeled", path, column, InputFixes())
    with pytest.raises(DataError, match=r"a word on each line: jq -r '\.\[\"tokens\"\]\[\], \"\"' .* > new\.conll$"):
        read_inputs("tagged", write("b.jsonl", '{"tokens": ["Bob", "left"]}'), column, InputFixes())


def test_a_column_of_a_table_without_a_header_is_suggested_by_its_number(write):
    path = write("a.csv", "1,a fine film\n2,bad film\n3,so so\n")
    with pytest.raises(DataError, match=r"line 1: the first line looks like data, .*such as --column 2,"):
        read_inputs("labeled", path, None, InputFixes())
    assert [*read_inputs("labeled", path, "2", InputFixes()).values()] == ["a fine film", "bad film", "so so"]


def test_a_few_arrays_are_rows_without_a_text(write):
    fixes = InputFixes()
    rows = '{"text": "a fine film", "id": 1}\n{"text": null}\n{"id": 3}\n{"text": ["a", "b"]}\n'
    assert [*read_inputs("labeled", write("a.jsonl", rows), None, fixes).values()] == ["a fine film", "", "", ""]
    [note] = [note for note in fixes.notes() if "without a text" in note]
    assert "3 rows of a.jsonl" in note and "line 4: 'text' is an array, expected a text" in note


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
@pytest.mark.parametrize("kind", ["labeled", "tagged"])
def test_the_command_also_converts_rows_that_are_no_arrays(write, kind):
    path = write("a.jsonl", '{"text": "a fine film"}\n{"text": ["the", "end"]}\n{"text": ["a"]}\n')
    with pytest.raises(DataError, match="'text' is an array in 2 of the first 3 rows") as refused:
        read_inputs(kind, path, None, InputFixes())
    command = str(refused.value).rpartition(": ")[2]
    subprocess.run(["bash", "-c", command], cwd=path.parent, check=True)
    made = next(path.parent.glob("new.*"))
    inputs = read_inputs(kind, made, None, InputFixes()).values()
    assert [text if isinstance(text, str) else " ".join(text) for text in inputs] == ["a fine film", "the end", "a"]


EN_DE = Trained.on(CorpusSettings(source=("train.en", "train.de")))
LANGUAGES = "de\ten\nder Film\tthe film\ndas Essen\tthe meal\n"


@pytest.mark.parametrize("name", ["my.tsv", "my.txt"])
@pytest.mark.parametrize("read", [(), (("en", "de"),)])
def test_a_translator_reads_the_column_that_training_read_as_the_source(write, name, read):
    trained = Trained.on(CorpusSettings(source=("train.en", "train.de")[: 2 - len(read)]), read)
    fixes = InputFixes()
    assert [*read_inputs("pairs", write(name, LANGUAGES), None, fixes, trained).values()] == ["the film", "the meal"]
    assert any("source 'en'; not used: 'de'" in note for note in fixes.notes())


@pytest.mark.parametrize(
    ("name", "content"), [("ev.de", "der Film\n"), ("my.tsv", "de\nder Film\n"), ("my.csv", "id,de\n1,der Film\n")]
)
def test_texts_in_the_language_of_the_targets_are_refused_as_evaluate_does(write, name, content):
    path = write(name, content)
    with pytest.raises(UsageError, match="this run translates from 'en' into 'de'"):
        read_inputs("pairs", path, None, InputFixes(), EN_DE)
    column = None if name == "ev.de" else "de"
    trained = Trained() if name == "ev.de" else EN_DE
    assert [*read_inputs("pairs", path, column, InputFixes(), trained).values()] == ["der Film"]


def test_the_text_to_label_is_the_column_that_training_read(write):
    path = write("my.csv", "text,review\nid 1,the film was good\nid 2,the meal was bad\n")
    trained = Trained.on(CorpusSettings(source=("train.csv",)), [("review", "stars")])
    assert [*read_inputs("labeled", path, None, InputFixes(), trained).values()] == TEXTS


def test_a_blank_line_is_no_row_and_is_counted(write):
    path, fixes = write("a.csv", "text,label\na film,pos\n\n,\na room,neg\n\n"), InputFixes()
    assert read_inputs("labeled", path, None, fixes) == {2: "a film", 4: "", 5: "a room"}
    assert "passed over 1 row or pair of lines without content" in fixes.notes()
