"""Columns by number in tables without a header, whose first line has such numbers too."""

import pytest

from seqlab.data.examples.inputs import Trained, read_inputs
from seqlab.data.examples.lines import InputFixes
from seqlab.data.examples.tables import read_labeled
from seqlab.data.task_inference import infer_task, unclear_layout
from seqlab.errors import DataError

VOTES = '1,"The room was lovely",2\n5,"The towel number 1 was nice",1\n1,"No towel",3\n5,"A bed of 2",2\n'
NEWS = '"3","dinner up","great dinner"\n' + '"1","war ends","the war ends"\n"3","shop","a shop opens"\n' * 2


def read(path, columns):
    fixes = InputFixes()
    return [(one.example.text, one.example.label) for one in read_labeled(path, columns, fixes)], fixes.notes()


@pytest.mark.parametrize(
    ("content", "columns", "first", "rows"),
    [
        (VOTES, ("2", "1"), ("The room was lovely", "1"), 4),
        (VOTES, ("2", "3"), ("The room was lovely", "2"), 4),
        (NEWS, ("3", "1"), ("great dinner", "3"), 5),
        (NEWS, ("2", "1"), ("dinner up", "3"), 5),
        ("1\tgood\t2\n5\tbad\t1\n", ("2", "1"), ("good", "1"), 2),  # too few rows to tell a header
    ],
)
def test_numbers_are_positions_where_the_first_line_is_data(write, content, columns, first, rows):
    path = write("a.tsv" if "\t" in content else "a.csv", content)
    examples, notes = read(path, columns)
    assert examples[0] == first and len(examples) == rows
    [said] = [note for note in notes if "so its first line is data: " in note]
    both = [name for name in columns if f'"{name}"' in content.splitlines()[0] or f"{name}," in content]
    assert ("a position, not that cell" in said or "positions, not those cells" in said) or not both
    inputs = read_inputs("labeled", path, None, InputFixes(), Trained(columns))
    assert next(iter(inputs.values())) == first[0] and len(inputs) == rows
    assert len(read_inputs("labeled", path, columns[0], InputFixes())) == rows


def test_numbers_are_names_in_a_header(write):
    pandas = write("a.csv", "0,1\na film,1\nno film,0\na shop,1\n")
    examples, notes = read(pandas, ("0", "1"))
    assert len(examples) == 3
    assert "line 1 of a.csv is its header: '1' is the name of a column there, not a position" in notes
    years = write("b.csv", "2,1,said\na long film,pos,x\na film,neg,y\na shop,pos,z\nno shop,neg,z\n")
    assert read(years, ("2", "1"))[0][0] == ("a long film", "pos")
    with pytest.raises(DataError, match=r"corpus\.columns names '0', but the columns are '2', '1', 'said'"):
        read(years, ("0", "1"))


def test_no_task_is_inferred_from_cells_as_names(write):
    assert infer_task([str(write("a.csv", VOTES))], ("2", "1")) is None
    task = infer_task([str(write("b.csv", "1,2\na film,pos\nno film,neg\n"))], ("1", "2"))
    assert task and task.name == "classify"


def test_empty_columns_between_bars_make_no_header(write):
    words = [(one, two) for one in ("dog", "cat", "man", "bird") for two in ("sleeps", "eats", "runs")]
    lines = [f"the {one} {two} . ||| der {one.title()} {two[:-1]}t .\n" for one, two in words]
    layout = unclear_layout([str(write("pairs.txt", "".join(lines)))])
    assert layout and layout.pair == ("1", "4")


@pytest.mark.parametrize("scores", ["0.{n} 0.25 2.718", "1e-0{n} 0.5", "0.{n} 0.5 ||| 0-0 1-{n}"])
def test_scores_of_a_phrase_table_are_no_text(write, scores):
    lines = [f"haus {n} ||| house {n} ||| {scores.format(n=n)}\n" for n in range(1, 10)]
    layout = unclear_layout([str(write("phrases.txt", "".join(lines)))])
    assert layout and layout.pair == ("1", "4")


def test_digits_are_texts_where_there_are_no_others(write):
    lines = [f"{n} {n + 1} {n + 2}\t{n + 2} {n + 1} {n}\n" for n in range(1, 10)]
    layout = unclear_layout([str(write("reversed.tsv", "".join(lines)))])
    assert layout and layout.pair == ("1", "2")
