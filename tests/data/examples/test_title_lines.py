"""A table below a title: the line that looks like its header is named, and the printed command removes the title."""

import gzip
import subprocess

import pytest
from example_tables import corpus

from seqlab.data.examples.lines import InputFixes
from seqlab.data.examples.load import open_examples
from seqlab.data.examples.tables import read_labeled
from seqlab.data.task_inference import infer_task, unclear_layout
from seqlab.errors import DataError, UsageError
from seqlab.training.request import settings_from_request

ROWS = "text,label,stars\n" + "".join(f"a fine film {at},{'odd' if at % 2 else 'even'},5\n" for at in range(20))
TITLES = ["Reviews export 2024,,\n", "Reviews export 2024\n", "Reviews of 2024\n\n", "Reviews, and more of them\n"]


@pytest.mark.parametrize("name", ["my reviews.csv", "reviews.csv.gz"])
@pytest.mark.parametrize("title", TITLES)
def test_the_command_removes_the_title(write, tmp_path, monkeypatch, title: str, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    content = (title + ROWS).encode()
    path = write(name, gzip.compress(content) if name.endswith("gz") else content)
    header = title.count("\n") + 1
    with pytest.raises(DataError, match=rf"line {header} of .* looks like the header \('text', 'label', 'stars'\)"):
        read_labeled(path, None, InputFixes())
    with pytest.raises(UsageError, match="like a title: ") as asked:
        settings_from_request(path, {}, {}, {})
    command = str(asked.value).partition("like a title: ")[2].partition(" > new.csv")[0]
    subprocess.run(["bash", "-c", f"{command} > new.csv"], check=True)
    assert len(read_labeled(tmp_path / "new.csv", None, InputFixes())) == 20
    assert infer_task([str(tmp_path / "new.csv")])


def test_other_first_lines_are_no_titles(write) -> None:
    path = write("a.csv", "review_text,verdict\n" + ROWS.partition("\n")[2].replace(",5", ""))
    with pytest.raises(DataError, match="name the two columns"):
        read_labeled(path, None, InputFixes())


@pytest.mark.parametrize("columns", [None, ("text", "label")])
def test_a_held_out_table_without_a_header_is_told_that_of_training(write, columns) -> None:
    rows = [f"a fine film {at},{'odd' if at % 2 else 'even'}\n" for at in range(30)]
    train, held_out = write("train.csv", "text,label\n" + "".join(rows)), write("new.csv", "".join(rows[:9]))
    with pytest.raises(
        DataError, match=r"new\.csv', line 1: .* has the header text,label: put that on top of new\.csv"
    ):
        open_examples("labeled", corpus(train, validation=[held_out], columns=columns))
    write("new.csv", "sentence,sentiment\n" + "".join(rows[:9]).replace("fine", "nice"))
    if columns is None:  # other known names are a header
        assert len(open_examples("labeled", corpus(train, validation=[held_out])).splits["validation"]) == 9


@pytest.mark.parametrize("title", ["Account,12345\nFrom,2024-01-01\n\n", "My account\n", "Account,1\n"])
def test_a_header_of_any_names_is_found_below_lines_of_fewer_cells(write, title: str) -> None:
    rows = "".join(f"2024-01-{at:02},paid for {at},-{at}.50,{at * 7}.00,food\n" for at in range(1, 20))
    path = write("bank.csv", f"{title}Date,Description,Amount,Balance,Category\n{rows}")
    layout = unclear_layout([str(path)])
    assert layout is not None and layout.kind == "other"
    header = title.count("\n") + 1
    assert f"line {header} of bank.csv looks like the header ('Date', 'Description', " in layout.reason
    assert f"tail -n +{header} {path} > new" in layout.reason


@pytest.mark.parametrize("content", [
    "story\n" + "once, so they say, it was\n" * 20,
    "verdict,story\n" + "good,a film, and more, so to say\n" * 20,  # rows with commas
    "Account,12345\n" + "2024-01-01,a,1,2,food\n" * 20,  # data below it
])  # fmt: skip
def test_rows_are_not_taken_for_a_header_below_a_title(write, content: str) -> None:
    layout = unclear_layout([str(write("a.csv", content))])
    assert layout is None or "looks like the header" not in layout.reason
