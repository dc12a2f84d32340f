"""Texts that look like something else are said, and the printed command converts them."""

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from seqlab.config import CorpusSettings
from seqlab.data.examples.conll import read_columns
from seqlab.data.examples.example import TaggedSentence
from seqlab.data.examples.load import open_examples
from seqlab.data.examples.tables import read_labeled
from seqlab.data.files import InputFixes
from seqlab.data.task_inference import unclear_layout
from seqlab.data.text.corpus import open_corpus
from seqlab.data.text.forms import form_of_text
from seqlab.errors import DataError

Write = Callable[[str, str], Path]

ROWS = [(f"the plot, it's good {at}", "pos") if at % 2 else (f"bad | worse {at}", "neg") for at in range(40)]
R_TABLE = '"text" "label"\n' + "".join(f'"{at}" "{text}" "{label}"\n' for at, (text, label) in enumerate(ROWS, 1))
COPY = (
    "SET x = 0;\nCOPY public.r (text, label) FROM stdin;\n" + "".join("\t".join(row) + "\n" for row in ROWS) + "\\.\n"
)
INSERTS = "-- MySQL dump\nINSERT INTO `r` VALUES " + ",".join(f"({at},'{text}')" for at, (text, _) in enumerate(ROWS))
VALUES = ",\n".join(f"({at}, '{text}', '{label}')" for at, (text, label) in enumerate(ROWS))
ROW_BY_ROW = (
    f"-- phpMyAdmin SQL Dump\nSET SQL_MODE = 'NO';\n\nINSERT INTO `r` (`id`, `text`, `label`) VALUES\n{VALUES};\n"
)
TAGGED = "Mary/NNP often/RB saw/VBD 1/2/CD cats/NNS ./.\n" * 12
ARCHIVE = 'window.YTD.tweets.part0 = [ {\n "tweet" : { "full_text" : "hello" }\n} ]\n'
RTF = "{\\rtf1\\ansi\\deff0 the river and the fox\\par\n" + "more of it\\par\n" * 9 + "}\n"
PROSE = [
    "Either/or, he said.\nAnd/or both.\nSo it was.\nThe end.\n" * 4,
    "https://a.com/A\nhttps://a.com/B\n" * 9,
    "INSERT INTO t VALUES (1);\nThis statement adds a row, as we have seen in the chapter before this one.\n" * 5,
    "INSERT INTO t VALUES\n(1, 'a'),\n(2, 'b');\nIt adds two rows, as we have seen in the chapter before this one.\n"
    * 5,
    '"Yes," he said.\n"No."\n"Why not?"\n"So."\n' * 5,
    "+1 for that\n| a | b |\nplain words\nmore of them\n",
    "The command COPY reads rows.\n" * 5,
    "MAX_SIZE MIN_SIZE\nNO_NAME DEFAULT_NAME\n" * 5,
    "snake_case names\nof_course user_ID\n" * 5,
    "",
]


def command(path: Path) -> str:
    (note,) = open_corpus([str(path)]).fixes.source_notes
    assert f"read {path.name} as running text, but it looks like " in note
    return note.partition(": ")[2].partition(" (or ")[0] if "To " in note else note


def run(path: Path) -> Path:
    words = command(path)
    subprocess.run(["bash", "-c", words], cwd=path.parent, check=True)
    return next(path.parent.glob("new.*"))


@pytest.mark.parametrize(("content", "rows"), [(R_TABLE, ROWS), (COPY, ROWS)])
def test_the_command_makes_a_table(write: Write, content: str, rows: list[tuple[str, str]]) -> None:
    made = run(write("my table.txt", content))
    with made.open(newline="") as stream:
        read = [*csv.DictReader(stream, delimiter="," if made.suffix == ".csv" else "\t")]
    assert [(row["text"], row["label"]) for row in read] == rows
    examples = open_examples("labeled", CorpusSettings(source=(str(made),))).splits.values()
    assert sum(map(len, examples)) == len(rows)


def _refusal(path: Path, task: bool) -> str:
    if not task:
        layout = unclear_layout([str(path)])
        assert layout is not None and layout.kind == "other"
        return layout.reason
    with pytest.raises(DataError) as refused:
        open_examples("labeled", CorpusSettings(source=(str(path),)))
    return str(refused.value)


@pytest.mark.parametrize("name, task", [("a.csv", False), ("a.tsv", False), ("a.csv", True), ("a.txt", True)])
def test_a_table_of_r_is_refused_with_the_command_whatever_its_name_and_task(write: Write, name: str, task: bool):
    rows = [*ROWS, ('"so", he said', "pos")]
    said = _refusal(path := write(name, R_TABLE + r'"41" "\"so\", he said" "pos"' + "\n"), task)
    assert "looks like a table with spaces between its fields, as R's write.table writes it. " in said
    words = said.partition("To make a table of it: ")[2].partition(" (or ")[0]
    subprocess.run(["bash", "-c", words], cwd=path.parent, check=True)
    read = read_labeled(path.parent / "new.csv", None, InputFixes())
    assert [(located.example.text, located.example.label) for located in read] == rows


@pytest.mark.parametrize("mark", "/_")
def test_the_command_writes_a_word_and_its_tag_on_each_line(write: Write, mark: str) -> None:
    content = TAGGED.replace("/", mark)
    sentences = [located.example for located in read_columns(run(write("a.txt", content)), InputFixes())]
    assert len(sentences) == 12
    assert sentences[0].words == ("Mary", "often", "saw", f"1{mark}2", "cats", ".")
    assert sentences[0].tags == ("NNP", "RB", "VBD", "CD", "NNS", ".")


@pytest.mark.parametrize("span", ["B-PER", "B-Person", "B_per", "B-first_name"])
@pytest.mark.parametrize("end", ["\n", "\n\n"])
@pytest.mark.parametrize("mark", "/_")
def test_words_with_tags_are_not_read_as_columns(write: Write, span: str, end: str, mark: str) -> None:
    line = f"Mary/{span} Smith/{span.replace('B', 'I')} saw/O New_York/B-LOC on{{at}}/O ./O{end}".replace("/", mark)
    path = write("a.txt", "".join(line.format(at=at) for at in range(40)))
    shown = rf"looks like words with their tags, such as Mary{mark}{span}; .* > new\.conll$"
    with pytest.raises(DataError, match=shown):
        open_examples("tagged", CorpusSettings(source=(str(path),)))
    splits = open_examples("tagged", CorpusSettings(source=(str(run(path)),))).splits
    assert sum(map(len, splits.values())) == 40
    sentence = splits["train"][0]
    assert isinstance(sentence, TaggedSentence)
    assert sentence.words[:4] == ("Mary", "Smith", "saw", "New_York") and sentence.words[5] == "."
    assert sentence.tags[0] == span.replace("B_", "B-")


def test_the_command_gets_the_json_of_an_archive(write: Write) -> None:
    assert run(write("tweets.js", ARCHIVE)).read_text().startswith('[ {\n "tweet"')


def test_json_lines_by_another_name_are_told_from_tables(write: Write) -> None:
    path = write("a.json", "".join(json.dumps({"id": at, "text": f"text {at}"}) + "\n" for at in range(30)))
    copy = f"To read the text of each: cp {path} new.jsonl"
    assert any(copy in note for note in open_corpus([str(path)]).fixes.notes())
    layout = unclear_layout([str(path)])
    assert layout is not None and copy in layout.reason


def test_what_only_other_programs_convert_is_said(write: Write) -> None:
    assert "unrtf --text" in command(write("a.txt", RTF))


@pytest.mark.parametrize("dump", [INSERTS, ROW_BY_ROW, ROW_BY_ROW.partition("\n\n")[2]])
def test_a_dump_is_told_wherever_its_rows_stand(write: Write, dump: str) -> None:
    path = write("dump.sql", dump)
    assert "SELECT * FROM r" in command(path)
    with pytest.raises(DataError, match=r"looks like a dump of a database, .* 'SELECT \* FROM r'") as refused:
        open_examples("labeled", CorpusSettings(source=(str(path),)))
    assert "columns" not in str(refused.value)


def test_statements_below_a_header_are_texts(write: Write) -> None:
    rows = "".join(f"INSERT INTO t VALUES ({at});\t{'ab'[at % 2]}\n" for at in range(30))
    assert len(read_labeled(write("a.tsv", f"text\tlabel\n{rows}"), None, InputFixes())) == 30


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("as_lines", [True, False])
def test_the_command_gets_the_cells_of_a_notebook(write: Write, indent: int | None, as_lines: bool) -> None:
    sources = ["# A walk\nby the sea", "", "x = 1\nprint(x)"]
    cells = [
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "outputs": [],
            "source": source.splitlines(keepends=True) if as_lines else source,
        }
        for source in sources
    ]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=indent)
    path = write("texts/my walk.ipynb", notebook)
    assert run(path).read_text() == "".join(f"{source}\n" for source in sources)
    (path.parent / "new.txt").write_text(PROSE[0])
    notes = open_corpus([str(path.parent)]).fixes.source_notes
    assert "read my walk.ipynb as running text, but it looks like a Jupyter notebook" in notes[0]


@pytest.mark.parametrize("content", PROSE)
def test_running_text_has_no_such_form(write: Write, content: str) -> None:
    assert form_of_text(write("a.txt", content)) is None


def test_a_folder_has_one_note_for_each_form(write: Write) -> None:
    folder = write("texts/a.txt", RTF).parent
    write("texts/b.txt", RTF + " ")
    write("texts/c.txt", PROSE[0])
    (note,) = open_corpus([str(folder)]).fixes.source_notes
    assert note.startswith("read a.txt, b.txt as running text, but it looks like RTF")
