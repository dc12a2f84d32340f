"""Quotes around the fields of TSV: of the format where they are consistent, else of the texts; said either way."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqlab.data.examples.inputs import read_inputs
from seqlab.data.examples.lines import InputFixes
from seqlab.data.examples.tables import read_labeled
from seqlab.data.task_inference import infer_task

texts = st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"]), min_size=1).filter(str.strip)
REMOVED = "a.tsv: fields are in quotes, as in CSV, which are no part of them"
KEPT = "in quotes, which are read as part of the text"


def read(path):
    fixes = InputFixes()
    examples = [(located.example.text, located.example.label) for located in read_labeled(path, None, fixes)]
    return examples, fixes.notes()


@settings(max_examples=60)
@given(rows=st.lists(st.tuples(texts, st.sampled_from("ab")), min_size=1, max_size=5))
def test_a_table_in_quotes_is_what_the_csv_module_wrote(tmp_path_factory, rows):
    buffer = io.StringIO()
    csv.writer(buffer, delimiter="\t", quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([("text", "label"), *rows])
    path = tmp_path_factory.mktemp("tsv") / "a.tsv"
    path.write_bytes(buffer.getvalue().encode())
    assert read(path) == (rows, [REMOVED])
    assert [*read_inputs("labeled", path, None, InputFixes()).values()] == [text for text, _ in rows]
    task = infer_task([str(path)])
    assert task is not None and task.name == "classify"


@pytest.mark.parametrize(
    "rows",
    [
        [("one", "a"), ("two\nlines", "b")],  # rows are complete only so
        [("one", "a"), ("with a\ttab", "b")],
        [("one", "a"), ('he said "no"', "b")],  # doubled quotes
    ],
)
def test_pandas_quotes_only_where_it_must(write, rows):
    buffer = io.StringIO()
    csv.writer(buffer, delimiter="\t", lineterminator="\n").writerows([("text", "label"), *rows])
    assert read(write("a.tsv", buffer.getvalue())) == (rows, [REMOVED])


def test_quotes_of_the_texts_stay(write):
    rows = [('"not closed', "a"), ('a 5" disk', "b"), ('"in quotes"', "a"), ('"one" and "two"', "b"), ('he: "no"', "a")]
    content = "text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows)
    note = f"a.tsv: 2 fields {KEPT}: others have quotes that are not closed as in CSV"
    assert read(write("a.tsv", content)) == (rows, [note])


def test_speech_over_several_rows_is_no_quoting(write):
    rows = [('"I went home', "a"), ("and", "b"), ('slept well."', "a")]
    assert read(write("a.tsv", "text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows))) == (rows, [])


def test_a_doubt_is_said_with_what_to_do(write):
    content = 'text\tlabel\n"in quotes"\ta\nnot\tb\n'
    kept, [note] = read(write("a.tsv", content))
    assert kept == [('"in quotes"', "a"), ("not", "b")]
    assert note == f"a.tsv: 1 field {KEPT}: if that is wrong, give the file a name that ends in .csv"
    assert read(write("a.csv", content))[0] == [("in quotes", "a"), ("not", "b")]


def test_a_broken_row_below_a_header_in_quotes(write):
    rows = "".join(f'"text {at}"\t"a"\n' for at in range(20))
    path = write("a.tsv", f'"text"\t"label"\n{rows}"not "closed\t"a"\n')
    fixes = InputFixes(skip_limit=0.1)
    assert [located.example.label for located in read_labeled(path, None, fixes)] == ["a"] * 20
    assert any("line 22: this record is not CSV: text follows a closing quote" in note for note in fixes.notes())
