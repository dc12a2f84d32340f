"""Tables that were joined or exported by other programs, and every command that a message about them prints, run."""

import csv
import io
import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from example_tables import labels
from typer.testing import CliRunner

from seqlab.cli.app import app
from seqlab.config import CorpusSettings, parse_assignment
from seqlab.data.corpora.find import find_sources
from seqlab.data.documents.open_pairs import open_retrieval
from seqlab.data.examples import json_forms
from seqlab.data.examples.example import Examples, TextPair
from seqlab.data.examples.inputs import read_inputs
from seqlab.data.examples.lines import InputFixes
from seqlab.data.examples.load import open_examples
from seqlab.data.examples.tables import read_labeled
from seqlab.errors import DataError, UsageError
from seqlab.training.request import settings_from_request
from seqlab.typed_command import typed_command

TINY = ["--steps", "1", "--hidden", "8", "--embedding", "8", "--threads", "1", "--batch-size", "4"]
ROWS = [(f"this is text {at}", "ab"[at // 3 % 2]) for at in range(30)]


def written(rows, delimiter: str = ",") -> str:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def opened(words: list[str]) -> Examples:
    """The examples that `seqlab train` reads if a shell gives it these words, from the file on: as options are read."""
    path, *options = words
    given = dict(zip(options[::2], options[1::2], strict=True))
    settings = settings_from_request(path, {}, dict([parse_assignment(given["--set"])]), {"task": given.get("--task")})
    assert settings.task.settings.examples
    return open_examples(settings.task.settings.examples, settings.corpus)


def sizes(words: list[str]) -> list[int]:
    return [*map(len, opened(words).splits.values())]


def asked(path: Path) -> list[list[str]]:
    """The words of the commands that are printed for a table that does not tell its task."""
    with typed_command(["train", str(path)]), pytest.raises(UsageError) as refused:
        settings_from_request(str(path), {}, {}, {})
    return [shlex.split(line.partition("   #")[0])[2:] for line in str(refused.value).splitlines()[1:]]


# --- headers --------------------------------------------------------------------------------------------------------


def test_headers_of_joined_files_are_skipped_and_counted(write):
    path = write("a.csv", written([("text", "label"), *ROWS[:3], (" Text", "LABEL"), *ROWS[3:], ("text", "label")]))
    fixes = InputFixes()
    assert [located.example.label for located in read_labeled(path, None, fixes)] == [label for _, label in ROWS]
    assert fixes.notes() == [f"skipped 2 rows of '{path}' that repeat the header (line 5, 33)"]
    assert [*read_inputs("labeled", path, None, InputFixes()).values()] == [text for text, _ in ROWS]


def test_a_word_of_the_header_is_no_header(write):
    path = write("a.csv", "text,label\ntext,a\nlabel,b\nx,label\n")
    rows = [(located.example.text, located.example.label) for located in read_labeled(path, None, InputFixes())]
    assert rows == [("text", "a"), ("label", "b"), ("x", "label")]


def test_a_second_header_in_another_order_is_refused_and_the_printed_commands_divide_the_file(write, tmp_path):
    swapped = [(label, text) for text, label in ROWS]
    path = write("it's.csv", written([("text", "label"), *ROWS, ("label", "text"), *swapped]))
    with pytest.raises(DataError) as refused:
        read_labeled(path, None, InputFixes())
    assert "line 32: a second header, with the columns in another order: 'label', 'text'." in str(refused.value)
    _, *commands = str(refused.value).splitlines()
    for command in commands:
        subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    parts = [read_labeled(tmp_path / f"it's-{part}.csv", None, InputFixes()) for part in (1, 2)]
    assert [located.example for located in parts[0]] == [located.example for located in parts[1]]
    assert len(parts[0]) == len(ROWS)


# --- commands -------------------------------------------------------------------------------------------------------

NAMES = [
    ("it's a text", 'the "class"'),
    ("Review Text", "Star Rating"),
    ("$HOME", "`id`"),
    ("Füße", "a\\b"),
]


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_printed_commands_name_any_column(write, names, suffix):
    rows = [(at, text, label) for at, (text, label) in enumerate(ROWS)]
    if suffix == "csv":
        path = write("a.csv", written([("", *names), *rows]))  # as pandas writes its index
    else:
        path = write("a.jsonl", "".join(json.dumps({"at": {}, names[0]: a, names[1]: b}) + "\n" for _, a, b in rows))
    commands = asked(path)
    assert [words[words.index("--task") + 1] for words in commands] == ["classify", "language"]
    assert sizes(commands[0]) == [27, 3]
    with pytest.raises(DataError) as unclear:
        read_labeled(path, None, InputFixes())
    [option] = re.findall(r"name the two columns: (--set .*?)(?:; if there|$)", str(unclear.value))
    assert json.loads(shlex.split(option)[1].partition("=")[2]) == [*names]


def test_columns_are_numbered_only_where_the_first_line_is_data(write):
    path = write("a.csv", written([(text, label, "x") for text, label in ROWS]))
    words = asked(path)[0]
    assert words[-1] == 'corpus.columns=["1", "2"]'
    assert sizes(words) == [27, 3]
    with pytest.raises(DataError, match=r'count them: --set \'corpus.columns=\["1", "2"\]'):
        read_labeled(path, None, InputFixes())


def test_a_column_of_objects_is_not_suggested(write):
    rows = [{"text": text, "label": label, "review": {"stars": 1}, "title": text} for text, label in ROWS]
    fixes = InputFixes()
    path = write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    read_labeled(path, None, fixes)
    [note] = fixes.notes()
    assert "others may be meant, 'title': --set " in note and "not used: 'review', 'title'" in note
    words = shlex.split(note[note.index("--set ") :])
    assert words == ["--set", 'corpus.columns=["title", "label"]']
    assert sizes([str(path), *words]) == [27, 3]


def test_a_printed_command_trains(write, tmp_path):
    path = write("it's.csv", written([("", *NAMES[0]), *((at, *row) for at, row in enumerate(ROWS))]))
    command = CliRunner().invoke(app, ["train", *asked(path)[0], *TINY, "--out", str(tmp_path / "r")])
    assert command.exception is None, command.output
    assert "27 training examples, 3 for validation" in command.output


def test_ratings_of_json_lines_are_suggested_and_read(write):
    rows = [{"reviewText": f"{text} long", "overall": float(at // 2 % 5)} for at, (text, _) in enumerate(ROWS)]
    path = write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert set(labels(opened(asked(path)[0]), "train")) == {"0.0", "1.0", "2.0", "3.0", "4.0"}


def test_the_groups_that_a_note_names_can_be_kept_together(write):
    rows = [(text, label, f"author {at // 2}") for at, (text, label) in enumerate(ROWS * 2)]
    path = write(
        "a.csv", written([("text", "label", "user id"), *((f"{at} {a}", b, c) for at, (a, b, c) in enumerate(rows))])
    )
    notes = " ".join(open_examples("labeled", settings_from_request(str(path), {}, {}, {}).corpus).notes)
    options = re.findall(r"Give (--set '.*?') to keep every group in one split, or (--set \S+) if these", notes)
    for option in options[0]:
        assert "seems to name groups" not in " ".join(opened([str(path), *shlex.split(option)]).notes)


def test_the_column_that_is_suggested_for_predictions_can_be_read(write):
    path = write("a.csv", written([("it's title", "the body"), *ROWS]))
    with pytest.raises(DataError) as refused:
        read_inputs("labeled", path, None, InputFixes())
    [option] = re.findall(r"such as (--column .*?) \(in a table", str(refused.value))
    assert [*read_inputs("labeled", path, shlex.split(option)[1], InputFixes()).values()] == [text for text, _ in ROWS]


def test_the_printed_limit_skips_the_rows(write):
    path = write("a.csv", written([("text", "label"), *ROWS, *[("", "a")] * 9]))
    with pytest.raises(DataError) as refused:
        open_examples("labeled", settings_from_request(str(path), {}, {}, {}).corpus)
    assert sizes([str(path), *shlex.split(str(refused.value).partition("or skip them: ")[2])]) == [27, 3]


def test_columns_are_suggested_by_their_roles_and_only_for_tasks_that_they_fit(write):
    rows = [(at, f"one {at}", f"a longer text {at}", f"another long text {at}") for at in range(30)]
    [command, _] = asked(write("a.csv", written([("id", "source", "reference1", "reference2"), *rows])))
    assert command[-3:] == ["translate", "--set", 'corpus.columns=["source", "reference1"]']
    assert sizes(command) == [27, 3]
    ratings = [(f"a rather long text {at}", at % 5, f"2020-01-{at % 9 + 10}") for at in range(30)]
    [command, _] = asked(write("b.csv", written([("comment_text", "stars", "date"), *ratings])))
    assert command[-3:] == ["classify", "--set", 'corpus.columns=["comment_text", "stars"]']


ROWS_IN_JSON = [{"text": f"word {at} " * 40, "label": "ab"[at % 2]} for at in range(400)]
COLUMNS_IN_JSON = {key: [row[key] for row in ROWS_IN_JSON] for key in ("text", "label")}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "content, form",
    [
        (COLUMNS_IN_JSON, "a table by columns"),
        ({key: dict(enumerate(column)) for key, column in COLUMNS_IN_JSON.items()}, "a table by columns"),
        (dict(enumerate(ROWS_IN_JSON)), "a table by rows"),
        ({f"id-{at}": row for at, row in enumerate(ROWS_IN_JSON)}, "a table by rows"),
        ({"version": 1, "data": ROWS_IN_JSON}, "a table in 'data'"),
        (
            {"rasa_nlu_data": {"regex_features": [{"name": "a"}], "common_examples": ROWS_IN_JSON}},
            "one object with a table in 'rasa_nlu_data.common_examples'",
        ),
        ({"of": [{"year": 1}], "a": {"b": 1, "c": {"d": ROWS_IN_JSON}}}, "one object with a table in 'a.c.d'"),
        ([[*row.values()] for row in ROWS_IN_JSON], "an array for each row"),
    ],
)
def test_a_table_in_one_json_value_is_named_and_its_command_rewrites_it(write, tmp_path, content, form, indent):
    path = write("a.json", json.dumps(content, indent=indent))
    for options in ({}, {"task": "classify"}):
        with pytest.raises((UsageError, DataError), match=form) as error:
            request = settings_from_request(path, {}, {}, options)
            open_examples("labeled", request.corpus)
        [command] = re.findall(r"(python3 -c '.*') > new.jsonl", str(error.value))
        done = subprocess.run(shlex.split(command), capture_output=True, check=True, text=True)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert [[*row.values()] for row in rows] == [[*row.values()] for row in ROWS_IN_JSON]


@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_of_rows_is_named(write, indent):
    path = write("a.json", json.dumps(ROWS_IN_JSON, indent=indent))
    for options in ({}, {"task": "classify"}):
        with pytest.raises((UsageError, DataError), match=r"one array with a table by rows.* jq -c '\.\[\]'"):
            open_examples("labeled", settings_from_request(path, {}, {}, options).corpus)


def test_the_form_of_a_file_beyond_the_limit_is_told_by_its_first_line(write, monkeypatch):
    path = write("a.json", json.dumps(ROWS_IN_JSON, indent=1))
    monkeypatch.setattr(json_forms, "MAX_BYTES", path.stat().st_size - 1)
    with pytest.raises(UsageError, match=r"no JSON object on its first line.* jq -c '\.\[\]'"):
        settings_from_request(path, {}, {}, {})
    monkeypatch.setattr(json_forms, "MAX_BYTES", path.stat().st_size)
    with pytest.raises(UsageError, match="one array with a table by rows"):
        settings_from_request(path, {}, {}, {})


def test_a_header_repeated_behind_a_byte_order_mark_is_skipped(write):
    part = "\ufefftext,label\n" + written(ROWS[:4])
    path = write("a.csv", part + part)
    fixes = InputFixes()
    assert [located.example.label for located in read_labeled(path, None, fixes)] == [
        label for _, label in ROWS[:4]
    ] * 2
    assert "removed the byte-order mark at the start of 1 line within files" in fixes.notes()
    assert f"skipped 1 row of '{path}' that repeat the header (line 6)" in fixes.notes()


@pytest.mark.parametrize("end", [",", ",,,"])
def test_empty_fields_beyond_the_header_are_no_data(write, end):
    path = write("a.csv", "text,label\n" + written(ROWS).replace("\r", "").replace("\n", f"{end}\n"))
    fixes = InputFixes()
    assert [located.example.label for located in read_labeled(path, None, fixes)] == [label for _, label in ROWS]
    assert [note for note in fixes.notes() if "30 rows end with empty fields beyond the header" in note]
    path = write("b.csv", "text,label\na,b,\na,b,c\n")
    with pytest.raises(DataError, match="3 fields, but the header has 2"):
        read_labeled(path, None, InputFixes())


def test_it_is_said_if_no_row_is_left(write):
    with pytest.raises(DataError, match=r"3 of the 3 rows .* cannot be used: no row is left\."):
        read_labeled(write("a.csv", "text,label\n,a\n,b\n,c\n"), None, InputFixes(skip_limit=1.0))


@pytest.mark.parametrize("sizes", [(20, 10), (15, 15)])
def test_every_table_of_one_object_is_rewritten(write, tmp_path, sizes):
    parts = {"train": ROWS_IN_JSON * sizes[0], "a/b": ROWS_IN_JSON * sizes[1]}
    path = write("a.json", json.dumps(parts))
    with pytest.raises(UsageError, match="one object with several tables") as error:
        settings_from_request(path, {}, {}, {})
    [command] = re.findall(r"to write new-train.jsonl, new-2.jsonl: (python3 -c '.*')", str(error.value))
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    for file, rows in zip(("new-train.jsonl", "new-2.jsonl"), parts.values(), strict=True):
        assert [json.loads(line) for line in (tmp_path / file).read_text().splitlines()] == rows


@pytest.mark.parametrize("options", [{}, {"task": "classify"}])
def test_the_command_for_an_array_on_each_line_makes_a_table(write, tmp_path, options):
    path = write("a.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS))
    with pytest.raises((UsageError, DataError), match="an array") as error:
        open_examples("labeled", settings_from_request(path, {}, {}, options).corpus)
    command = re.findall(r"with numbers as keys: (jq .* > new.jsonl)", str(error.value))[0]
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    examples = read_labeled(tmp_path / "new.jsonl", ("1", "2"), InputFixes())
    assert [(located.example.text, located.example.label) for located in examples] == ROWS


@pytest.mark.parametrize("first", ["the red fox", "[Chorus]", '"Yes."'])
@pytest.mark.parametrize("task", [None, "language", "classify", "translate", "tag", "embed"])
def test_a_text_with_the_name_of_json_lines_is_said_to_be_none(write, tmp_path, monkeypatch, task, first):
    monkeypatch.chdir(tmp_path)
    write("new.jsonl", f"  \nred stones\n{first}\n1984\n" + "blue birds\n" * 40)
    with pytest.raises((UsageError, DataError)) as error:
        request = settings_from_request(Path("new.jsonl"), {}, {}, {"task": task} if task else {})
        if task == "language":
            find_sources(request.corpus.source, "auto", InputFixes())
        elif task == "embed":
            open_retrieval(request.corpus, ())
        else:
            kind = {"classify": "labeled", "translate": "pairs", "tag": "tagged"}[task or ""]
            open_examples(kind, request.corpus)  # pyright: ignore[reportArgumentType]
    assert "has lines such as 'red stones', which are no JSON. If they are plain text" in str(error.value)
    command = re.findall(r"ends in .txt: (cp new.jsonl new.txt)\.?$", str(error.value))[0]
    subprocess.run(command, shell=True, check=True)
    assert Path("new.txt").read_text() == Path("new.jsonl").read_text()


def test_the_command_for_lines_above_json_removes_them(write, tmp_path):
    rows = "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in ROWS)
    path = write("a.jsonl", f"// my reviews\n\n{rows}")
    with pytest.raises(UsageError, match="no JSON object on its first line, as JSON lines do, but on line 3") as error:
        settings_from_request(path, {}, {}, {})
    command = re.findall(r"to remove what is above: (.* > new.jsonl)", str(error.value))[0]
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    assert len(read_labeled(tmp_path / "new.jsonl", None, InputFixes())) == len(ROWS)


# --- columns without content ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("filled", [0, 12])
def test_instructions_are_advised_where_the_inputs_are_empty(write, filled):
    """In most or all rows, as in Alpaca; a pasted option is read as a translation."""
    rows = [{"instruction": f"say {at}", "input": "x" * (at < filled), "output": f"it is {at}"} for at in range(30)]
    path = write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(
        DataError, match=f"'input' was chosen by its name, and it is empty in {30 - filled} of"
    ) as error:
        open_examples("pairs", CorpusSettings(source=(str(path),)))
    words = shlex.split(str(error.value).partition("may be meant: ")[2])
    assert sizes([str(path), *words]) == [27, 3]
    assert {type(example) for example in opened([str(path), *words]).splits["train"]} == {TextPair}


def test_empty_texts_and_labels_with_others_beside_them(write):
    def refused(name, table):
        with pytest.raises(DataError) as error:
            open_examples("labeled", CorpusSettings(source=(str(write(name, table)),)))
        return str(error.value)

    texts = written([("text", "label", "words"), *(("", label, text) for text, label in ROWS)])
    assert """corpus.columns=["words", "label"]'""" in refused("a.csv", texts)
    labels = written([("text", "label", "kind"), *((text, "", label) for text, label in ROWS)])
    assert """corpus.columns=["text", "kind"]'""" in refused("b.csv", labels)
    few = written(
        [("text", "label", "kind"), *((text, label * (at > 19), label) for at, (text, label) in enumerate(ROWS))]
    )
    assert "'label' is empty. Fill it in" in refused("c.csv", few)  # most are not labeled yet
    alone = written([("text", "label", "number"), *((text, "", at) for at, (text, _) in enumerate(ROWS))])
    assert "'label' is empty. Fill it in" in refused("d.csv", alone)


def test_columns_of_one_name_are_not_suggested(write) -> None:
    path = write("birds.csv", "text,label,text\n" + "a song,robin,a call\n" * 9)
    with pytest.raises(DataError, match="give the columns other names, short ones that differ"):
        read_labeled(path, None, InputFixes())
