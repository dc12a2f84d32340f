"""Tables as psql, mysql and Markdown draw them: rows are read without what was drawn, to train and to predict."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from seqlab.config import build_settings
from seqlab.data.drawn_tables import drawn_table
from seqlab.data.examples.inputs import read_inputs
from seqlab.data.examples.load import open_examples
from seqlab.data.examples.tables import read_labeled
from seqlab.data.files import InputFixes
from seqlab.data.text.corpus import open_corpus
from seqlab.errors import UsageError
from seqlab.training.request import settings_from_request

Write = Callable[[str, str], Path]

ROWS = [(f"a fine film {at}", "pos") if at % 2 else (f'a "bad" film {at}', "neg") for at in range(8)]
CELLS = "".join(f" {at:>2} | {text:<20} | {label:<5} " + "\n" for at, (text, label) in enumerate(ROWS))
PSQL = f" id |         text         | label \n----+----------------------+-------\n{CELLS}(8 rows)\n\n"
RULE = "+----+----------------------+-------+\n"
BOXED = "".join(f"|{line}|\n" for line in CELLS.splitlines())
MYSQL = f"{RULE}| id | text                 | label |\n{RULE}{BOXED}{RULE}8 rows in set (0.00 sec)\n"
MARKDOWN = f"| id | text | label |\n|---|:--|--:|\n{BOXED}"
DRAWN = {"psql": (PSQL, 2), "mysql": (MYSQL, 4), "markdown": (MARKDOWN, 1)}


@pytest.mark.parametrize("program", DRAWN)
def test_predict_reads_what_training_reads(write: Write, program: str) -> None:
    content, drawn = DRAWN[program]
    path, fixes = write("rows.txt", content), InputFixes()
    examples = [located.example for located in read_labeled(path, None, fixes)]
    assert [(example.text, example.label) for example in examples] == ROWS
    assert f"passed over lines of rules and row counts, which a program drew around the table: {drawn}" in fixes.notes()
    (said,) = [note for note in fixes.notes() if note.startswith("removed the spaces around")]
    assert re.fullmatch(r"removed the spaces around \d+ cells of rows\.txt, between its bars", said)
    assert [*read_inputs("labeled", path, None, InputFixes()).values()] == [text for text, _ in ROWS]


@pytest.mark.parametrize("program", DRAWN)
def test_they_are_offered_to_classify_and_never_to_tag(write: Write, program: str) -> None:
    path = write("rows.txt", DRAWN[program][0])
    with pytest.raises(UsageError) as asked:
        settings_from_request(path, {}, {}, {})
    tasks = re.findall(r"--task (\w+)", str(asked.value))
    assert "classify" in tasks and "tag" not in tasks
    columns = next(word for word in shlex.split(str(asked.value), comments=True) if word.startswith("corpus.columns="))
    assert json.loads(columns.partition("=")[2]) == ["text", "label"]
    (note,) = open_corpus([str(path)]).fixes.source_notes
    assert note.endswith(
        "it looks like a table as Markdown, psql or mysql draws it. To read its rows: seqlab train "
        f"{shlex.quote(str(path))} --task classify"
    )


def test_padding_between_bars_is_removed_without_a_rule_too(write: Write) -> None:
    path, fixes = write("a.csv", "text | label\n" + "a film | pos\nno film |neg\n" * 5), InputFixes()
    read = {(located.example.text, located.example.label) for located in read_labeled(path, None, fixes)}
    assert read == {("a film", "pos"), ("no film", "neg")}
    assert "removed the spaces around 17 cells of a.csv, between its bars" in fixes.notes()


@pytest.mark.parametrize("text", ["---\ntitle: a\n---\n", "a\n--+--\nb\n", "a | b\nc | d\n", "", "1 | 2\n-----\n"])
def test_nothing_is_drawn_elsewhere(text: str) -> None:
    assert drawn_table(text.split("\n")) is None


OF_MARKDOWN = [
    "| text | label |\n|------|:-----:|\n{}",
    "# Reviews\n\n| text | label |\n|:-:|:-:|\n{}",
    "My reviews\n\n| text | label |\n|---|---|\n{}\nSource: my survey.\n",
    "|text|label|\n|---|---|\n{}",
]


@pytest.mark.parametrize("form", OF_MARKDOWN)
def test_a_table_of_markdown_is_read_without_its_bars_whatever_is_around_it(write: Write, form: str) -> None:
    texts = [f"a film {at}" if at % 2 else f'"one" \\| two {at}' for at in range(60)]
    rows = [f"| {text} | {'np'[at % 2]} |" for at, text in enumerate(texts)]
    rows[3] = "a film 3 | p"  # the outer bars may be missing
    rows[5] = "| a | film 5 | p |"
    path, fixes = write("a.md", form.format("\n".join(rows) + "\n")), InputFixes(skip_limit=0.1)
    read = [(located.example.text, located.example.label) for located in read_labeled(path, None, fixes)]
    assert read == [(text.replace("\\|", "|"), "np"[at % 2]) for at, text in enumerate(texts) if at != 5]
    said = r"3 fields, but the header has 2. Is there a bar in a text? Write it as \|"
    assert [note for note in fixes.notes() if "skipped 1 of the 60 rows" in note and said in note]
    around = sum(line in form for line in ("# Reviews", "My reviews", "Source"))
    note = f"passed over lines of text above or below a drawn table: {around}"
    assert (note in fixes.notes()) == bool(around)
    inputs = [*read_inputs("labeled", path, None, InputFixes()).values()]
    assert [text for text in inputs if text] == [text for text, _ in read]
    with pytest.raises(UsageError) as asked:
        settings_from_request(path, {}, {}, {})
    tasks = re.findall(r"--task (\w+)", str(asked.value))
    assert "classify" in tasks and "tag" not in tasks


@pytest.mark.parametrize(
    ("header", "row", "task", "columns"),
    [
        ("| a | b |", "| Three words {0}. | Two {0}. |", "translate", ["a", "b"]),
        ("| source | target |", "| Three words {0}. | Two {0}. |", "translate", None),
        ("| words | stars |", "| Three words {0}. | {1} |", "classify", ["words", "stars"]),
        ("| a | b |", "| Three words here. | Two words. |", None, None),
    ],
)
def test_the_note_on_a_table_names_a_command_that_reads_its_rows(
    write: Write, header: str, row: str, task: str | None, columns: list[str] | None
) -> None:
    rows = "".join(row.format(at, at % 3) + "\n" for at in range(60))
    path = write("a.md", f"{header}\n|---|---|\n{rows}")
    (note,) = open_corpus([str(path)]).fixes.source_notes
    if task is None:
        assert "--task" not in note and note.endswith("draws it. Its bars and rules are part of it")
        return
    words = shlex.split(note.partition("To read its rows: ")[2])
    options = [] if columns is None else ["--set", f"corpus.columns={json.dumps(columns)}"]
    assert words == ["seqlab", "train", str(path), "--task", task, *options]
    corpus = build_settings({"corpus": {"source": [str(path)], "columns": columns}}, []).corpus
    examples = open_examples("pairs" if task == "translate" else "labeled", corpus)
    assert sum(map(len, examples.splits.values())) == 60
