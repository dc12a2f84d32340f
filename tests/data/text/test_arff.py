"""The printed command makes a table of a file that Weka wrote."""

import csv
import subprocess
from pathlib import Path

import pytest

from seqlab.data.text.forms import form_of_text

HEADER = """% made by hand

@RELATION 'two texts'

@ATTRIBUTE "the text" string
@attribute 'a label' {pos, neg}
@data
"""


@pytest.mark.parametrize("quote", ["'", '"'])
def test_arff(write, tmp_path: Path, quote: str) -> None:
    rows = [(f"{quote}wet, and it\\{quote}s {at} cold{quote}", "neg") for at in range(9)]
    path = write("a.arff", HEADER + "% rows\n" + "".join(f"{text}, {label}\n" for text, label in rows))
    form = form_of_text(path)
    assert form is not None and form.looks_like == "ARFF, which Weka writes"
    command = form.advice.removeprefix("To make a table of it: ")
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
    header, *read = csv.reader((tmp_path / "new.csv").read_text(encoding="utf-8").splitlines())
    assert header == ["the text", "a label"]
    assert read == [[f"wet, and it{quote}s {at} cold", "neg"] for at in range(9)]


def test_sparse_arff(write) -> None:
    form = form_of_text(write("a.arff", HEADER + "{0 'a text', 1 pos}\n"))
    assert form is not None and form.advice == "Its rows name some of the columns only: write all of them, as CSV"


def test_mentions_of_relations_are_no_tables(write) -> None:
    assert form_of_text(write("a.txt", "@relation is a word of mine.\n" * 9)) is None
