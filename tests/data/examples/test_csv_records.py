"""Records of CSV: quotes that backslashes escape are read, and the lines of a broken record are no rows."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqlab.data.examples.inputs import read_inputs
from seqlab.data.examples.lines import InputFixes
from seqlab.data.examples.tables import read_labeled
from seqlab.data.task_inference import infer_task, unclear_layout

Write = Callable[[str, str], Path]
Rows = list[tuple[str, str]]
texts = st.text(st.sampled_from('ab \\",\n'), min_size=1).filter(str.strip)


def read(path: Path) -> tuple[Rows, list[str]]:
    fixes = InputFixes(skip_limit=0.5)
    rows = [(located.example.text, located.example.label) for located in read_labeled(path, None, fixes)]
    return rows, fixes.notes()


def table(rows: Rows, header: str = "text,label") -> str:
    return "\n".join([header, *(f'"{text}",{label}' for text, label in rows)]) + "\n"


def test_quotes_escaped_by_backslashes_are_read(write: Write):
    rows = [(f"room {at}, fine", "a") for at in range(9)]
    odd = [(r"He said \"well\" and left." + "\nRoom, to be fair", "b"), (r"C:\new, a 5\"", "b"), ('so ""it"" is', "a")]
    path = write("a.csv", table([*rows, *odd]))
    expected = [*rows, ('He said "well" and left.\nRoom, to be fair', "b"), (r'C:\new, a 5"', "b"), ('so "it" is', "a")]
    note = 'a.csv: 2 records have quotes escaped by backslashes, as Spark and MySQL write them: \\" is read as "'
    assert read(path) == (expected, [note])
    assert [*read_inputs("labeled", path, None, InputFixes()).values()] == [text for text, _ in expected]
    task = infer_task([str(path)])
    assert task is not None and task.name == "classify"


@pytest.mark.parametrize("name, delimiter", [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t")])
@settings(max_examples=60)
@given(rows=st.lists(st.tuples(texts, st.sampled_from("ab")), min_size=1, max_size=5))
def test_a_table_with_escapes_is_what_the_csv_module_wrote(tmp_path_factory, name: str, delimiter: str, rows: Rows):
    rows = [('she said "no" to it', "a"), *rows]
    buffer = io.StringIO()
    options = {"delimiter": delimiter, "quoting": csv.QUOTE_ALL, "escapechar": "\\", "doublequote": False}
    csv.writer(buffer, lineterminator="\n", **options).writerows([("text", "label"), *rows])
    path = tmp_path_factory.mktemp("escaped") / name
    path.write_text(buffer.getvalue(), newline="")
    assert read(path)[0] == rows


def test_a_backslash_before_a_closing_quote_is_one(write: Write):
    rows = [("C:\\new\\", "a"), ("D:\\", "b"), ("plain", "a")]
    assert read(write("a.csv", table(rows))) == (rows, [])
    read_rows, [note] = read(write("b.csv", table(rows) + '"d" e,a\n'))
    assert read_rows == rows and "skipped 1 of the 4 rows" in note


def test_columns_are_suggested_where_every_row_has_escapes(write: Write):
    rows = "".join(f'{at},"The \\"room\\", {at} of it",{"pos" if at % 2 else "neg"},day {at}\n' for at in range(40))
    layout = unclear_layout([str(write("a.csv", f"id,body,status,created_at\n{rows}"))])
    assert layout is not None and layout.columns == ("body", "status")


@pytest.mark.parametrize("broken", [
    '0,"He said "well" and left.\nRoom 0 was great, to be fair",pos\n',
    '0,"He said "well, well" and left.\n\nThen we went, again, home.\nRoom 0 was great, to be fair",pos\n',
    '0,"A 5" disk.\nRoom 0 was great, to be fair",pos\n',
    '0,"He left.\nRoom 0 was great, to be fair",pos, I think\n',
    '0,"He said \\"well\\" and "left".\nRoom 0 was great, to be fair",pos\n',
    '0,"He left, he said\n"well" and, more, or less\nRoom 0 was great, to be fair",pos\n',
])  # fmt: skip
def test_the_rest_of_a_broken_record_is_no_row(write: Write, broken: str):
    good = [f'{at},"The room {at}, fine",pos\n' for at in range(1, 6)]
    path = write("a.csv", "id,text,label\n" + good[0] + broken + "".join(good[1:]) + broken + good[0])
    rows, notes = read(path)
    assert [text for text, _ in rows] == [f"The room {at}, fine" for at in (1, 2, 3, 4, 5, 1)]
    last = 2 + broken.count("\n")
    assert any(
        "skipped 2 of the 8 rows" in note and f"line 3: this record, to line {last}, is" in note for note in notes
    )
    assert len(read_inputs("labeled", path, None, InputFixes())) == 8


@pytest.mark.parametrize("broken", ['"not closed,a\n', '"not "closed,a\n', '"d" e,a\n', '"not closed "d" e,a\n'])
@pytest.mark.parametrize("below", ['a 5" disk,b\nfine,a\n', '"two\nlines",b\nfine,a\n', "one,a\ntwo,b\n"])
def test_rows_below_a_broken_record_are_kept(write: Write, broken: str, below: str):
    above = "one,a\n" * 4
    kept, _ = read(write("a.csv", f"text,label\n{above}{below}"))
    assert len(kept) == 6
    assert read(write("b.csv", f"text,label\n{above}{broken}fine,b\n{below}"))[0] == [
        *kept[:4],
        ("fine", "b"),
        *kept[4:],
    ]
    assert read(write("b.csv", f"text,label\n{above}{broken}{below}"))[0] == kept
