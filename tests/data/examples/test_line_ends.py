"""Rows that end in CR alone are on one line with the next: that is said, with the command that divides them."""

import gzip
import subprocess

import pytest
from example_tables import corpus

from seqlab.data.examples.load import open_examples
from seqlab.errors import DataError

ENDS = ("\r\n", "\n", "\r")


def rows(delimiter: str, quote: str, header_end: str = "\n") -> bytes:
    cells = ((f"{quote}text {at}{quote}", "ab"[at % 2]) for at in range(120))
    lines = [delimiter.join(some) + ENDS[at % 3] for at, some in enumerate(cells)]
    return f"text{delimiter}label{header_end}{''.join(lines)}".encode()


@pytest.mark.parametrize("name", ["a.csv", "my table.tsv", "a.csv.gz"])
@pytest.mark.parametrize("header_end", ["\n", "\r"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_the_command_divides_rows_that_end_in_cr(tmp_path, name, header_end, quote):
    content = rows("\t" if "tsv" in name else ",", quote, header_end)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(DataError, match="rows end in CR alone and others in LF") as refused:
        open_examples("labeled", corpus(tmp_path / name))
    assert ("line 4: 39 rows" if header_end == "\n" else "line 1: 40 rows") in str(refused.value)
    assert "skip_limit" not in str(refused.value) and "quotes" not in str(refused.value)
    subprocess.run(str(refused.value).partition("in LF: ")[2], shell=True, cwd=tmp_path, check=True)
    (made,) = tmp_path.glob("new.*")
    assert sum(map(len, open_examples("labeled", corpus(made)).splits.values())) == 120


def test_a_cr_within_a_text_ends_no_row(tmp_path):
    lines = [f'"so, he\rsaid, {at}",{"ab"[at % 2]}\n' for at in range(40)]
    (tmp_path / "a.csv").write_text("text,label\n" + "".join(lines), newline="")
    assert sum(map(len, open_examples("labeled", corpus(tmp_path / "a.csv")).splits.values())) == 40
