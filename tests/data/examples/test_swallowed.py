"""Cells that hold other rows of their table, as a stray pair of quotes makes them, are said."""

import pytest

from seqlab.data.examples.lines import InputFixes
from seqlab.data.examples.tables import read_labeled, read_pairs

ROWS = [f"{number},text {number},{'ab'[number % 2]}" for number in range(20)]


def said(tmp_path, lines, read=read_labeled):
    path, fixes = tmp_path / "a.csv", InputFixes()
    path.write_text("\n".join(lines) + "\n")
    read(path, None, fixes)
    return [note for note in fixes.notes() if "quotation mark" in note]


def test_rows_between_stray_quotes_are_counted(tmp_path):
    lines = ["id,text,label", *ROWS[:5], '5,"the big one,a', *ROWS[6:12], '12,small one",b', *ROWS[13:]]
    [note] = said(tmp_path, lines)
    assert note == (
        "a.csv: the cell that begins in line 7 holds 7 lines that look like rows of this table: is a quotation mark "
        "missing or stray?"
    )
    more = [*lines, '20,"another,b', '21,end",a']
    [note] = said(tmp_path, more)
    assert note.startswith("a.csv: the cell that begins in line 7 holds 7") and note.endswith("(1 more cell likewise)")
    pairs = ["source,target", *(f"Satz {n},sentence {n}" for n in range(5)), '"so so', "ja,yes", 'nein",no']
    assert "line 7 holds 1 line that looks like a row" in said(tmp_path, pairs, read_pairs)[0]


@pytest.mark.parametrize(
    "text", ["Dear Sir,\nI write, and wait.\nYours,\nA. B.", "one\ntwo\nthree", "\n,\n,\n", "yes, no\nno, yes\nend"]
)
def test_texts_of_several_lines_are_no_rows(tmp_path, text):
    lines = ["text,label", f'"{text}",a', *(f"text {number},{'ab'[number % 2]}" for number in range(20))]
    assert said(tmp_path, lines) == []
    assert said(tmp_path, ["source,target", f'"{text}",x', "one,two"], read_pairs) == []
