"""Lines that end with a delimiter: the fields at their end are no data, and a delimiter within a text is still seen."""

import pytest

from seqlab.data.documents.fixes import DocumentFixes
from seqlab.data.documents.read import read_documents
from seqlab.data.examples.inputs import read_inputs
from seqlab.data.examples.table_sample import sample_table
from seqlab.data.examples.tables import read_labeled
from seqlab.data.files import InputFixes
from seqlab.errors import DataError

ROWS = [(f"this is text {at}", "ab"[at % 2]) for at in range(30)]
BROKEN = [4, 14]  # rows whose text has a delimiter in it


def table(end: str, delimiter: str, broken: list[int], header_end: str | None = None) -> str:
    rows = [(f"{text}{delimiter} a" if at in broken else text, label) for at, (text, label) in enumerate(ROWS)]
    lines = [delimiter.join(("text", "label")) + (end if header_end is None else header_end)]
    return "\n".join([*lines, *(delimiter.join(row) + end for row in rows), ""])


@pytest.mark.parametrize(
    ("name", "delimiter", "end", "question"),
    [
        ("a.csv", ",", ",", "Is there a comma outside quotes?"),
        ("a.csv", ",", ",,", "Is there a comma outside quotes?"),
        ("a.csv", ";", ";", "Is there a semicolon outside quotes?"),
        ("a.tsv", "|", "|", "Is there a vertical bar outside quotes?"),
        ("a.tsv", "\t", "\t", "Is there a tab in a text?"),
    ],
)
@pytest.mark.parametrize("header_end", [None, ""])
def test_a_row_with_a_delimiter_in_its_text_is_skipped_by_everything_that_reads_rows(
    write, name, delimiter, end, question, header_end
):
    path, fixes = write(name, table(end, delimiter, BROKEN, header_end)), InputFixes(skip_limit=0.1)
    read = [(located.example.text, located.example.label) for located in read_labeled(path, None, fixes)]
    assert read == [row for at, row in enumerate(ROWS) if at not in BROKEN]
    said = f"line 6: 3 fields, but the header has 2. {question}"
    assert [note for note in fixes.notes() if "skipped 2 of the 30 rows" in note and said in note]
    assert f"{name}: 28 rows end with empty fields beyond the header, which are not read" in fixes.notes()
    inputs = InputFixes()
    texts = [*read_inputs("labeled", path, None, inputs).values()]
    assert texts == ["" if at in BROKEN else text for at, (text, _) in enumerate(ROWS)]
    assert question in inputs.unread[6]
    documents = DocumentFixes()
    assert [document.text for document in read_documents([path], documents)] == [text for text, _ in read]
    assert [note for note in documents.notes() if "skipped 2 of the 30 documents" in note]
    assert [dict(row) for row in sample_table(path).rows] == [{"text": text, "label": label} for text, label in read]


def test_many_such_rows_are_refused(write):
    path = write("a.csv", table(",", ",", [*range(0, 30, 2)]))
    with pytest.raises(DataError, match=r"15 of the 30 rows .* cannot be used"):
        read_labeled(path, None, InputFixes(skip_limit=0.1))


def test_rows_without_the_last_delimiter_are_read(write):
    path = write("a.csv", table("", ",", [], ","))
    assert len(read_labeled(path, None, InputFixes())) == len(ROWS)


def test_a_column_without_a_name_that_most_rows_fill_is_not_used(write):
    rows = "".join(f"{text},{label},note {at}\n" for at, (text, label) in enumerate(ROWS))
    fixes = InputFixes()
    assert len(read_labeled(write("a.csv", f"text,label,\n{rows}"), None, fixes)) == len(ROWS)
    assert [note for note in fixes.notes() if "not used: ''" in note]
