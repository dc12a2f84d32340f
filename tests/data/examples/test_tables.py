"""Tables of texts and labels, and of sources and targets: what is read, and what is refused with its file and line."""

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqlab.data.examples.example import LabeledText, TextPair
from seqlab.data.examples.lines import InputFixes
from seqlab.data.examples.tables import read_labeled, read_pairs
from seqlab.errors import DataError, MissingInput

quick = settings(deadline=None, max_examples=100)
# no CR, since CRLF is read as LF, and no NUL, which is refused
texts = st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"]), min_size=1).filter(str.strip)
lines = st.text(st.characters(exclude_characters="\r\n\t\0", exclude_categories=["Cs"]), min_size=1).filter(str.strip)


def rows_of(path, columns=None):
    return [(located.example.text, located.example.label) for located in read_labeled(path, columns, InputFixes())]


def pairs_of(path, columns=None):
    return [(located.example.source, located.example.target) for located in read_pairs(path, columns, InputFixes())]


def lines_of(path):
    return [located.location.line for located in read_labeled(path, None, InputFixes())]


# --- the formats ----------------------------------------------------------------------------------------------------


@quick
@given(rows=st.lists(st.tuples(texts, lines.map(str.strip)), min_size=1, max_size=5))
def test_csv_is_what_the_csv_module_wrote(tmp_path_factory, rows):
    buffer = io.StringIO()
    csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([("text", "label"), *rows])
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(buffer.getvalue().encode())
    examples = read_labeled(path, None, InputFixes())
    assert [(located.example.text, located.example.label) for located in examples] == rows
    starts = [2 + sum(text.count("\n") + 1 for text, _ in rows[:place]) for place in range(len(rows))]
    assert [located.location.line for located in examples] == starts


@quick
@given(rows=st.lists(st.tuples(lines, lines.map(str.strip)), min_size=1, max_size=5), packed=st.booleans())
def test_tsv_has_no_quoting(tmp_path_factory, rows, packed):
    raw = "".join(f"{text}\t{label}\n" for text, label in [("text", "label"), *rows]).encode()
    path = tmp_path_factory.mktemp("tsv") / ("a.tsv.gz" if packed else "a.tsv")
    path.write_bytes(gzip.compress(raw) if packed else raw)
    assert rows_of(path) == rows


@quick
@given(rows=st.lists(st.tuples(texts, texts), min_size=1, max_size=5), escaped=st.booleans())
def test_json_lines_are_what_the_json_module_wrote(tmp_path_factory, rows, escaped):
    path = tmp_path_factory.mktemp("json") / "a.jsonl"
    dumped = (json.dumps({"src": a, "id": 7, "tgt": b}, ensure_ascii=escaped) for a, b in rows)
    path.write_bytes("".join(line + "\n" for line in dumped).encode())
    assert pairs_of(path) == rows


@pytest.mark.parametrize("ending", ["jsonl", "ndjson", "json"])
def test_labels_in_json_may_be_integers_and_truth_values(write, ending):
    content = '{"text": "a", "label": 1}\n\n{"label": false, "text": "b"}\n{"text": "c", "label": " yes "}'
    path = write(f"a.{ending}", content)
    assert rows_of(path) == [("a", "1"), ("b", "false"), ("c", "yes")]
    assert lines_of(path) == [1, 3, 4]


def test_blank_lines_are_passed_over_and_counted(write):
    path = write("a.tsv", "\ntext\tlabel\n\none\tx\n  \ntwo\t y \n")
    assert rows_of(path) == [("one", "x"), ("two", "y")]
    assert lines_of(path) == [4, 6]
    assert lines_of(write("a.csv", "text,label\n\none,x\n   \ntwo,y")) == [3, 5]


def test_other_columns_do_not_matter(write):
    path = write("a.csv", 'id,Label,note,TEXT\n1,x,,"a, b"\n2,y,"two\nlines",c\n3,x,"say ""hi""",d\n')
    assert rows_of(path) == [("a, b", "x"), ("c", "y"), ("d", "x")]
    assert lines_of(path) == [2, 3, 5]


def test_marks_and_line_ends_of_other_systems(write):
    noticed = InputFixes()
    path = write("a.tsv", b"\xef\xbb\xbftext\tlabel\r\none\tx\r\n")
    assert [located.example for located in read_labeled(path, None, noticed)] == [LabeledText("one", "x")]
    assert noticed.notes() == [
        "removed a byte-order mark at the start of a file",
        "read 2 CRLF line endings as LF",
    ]


@pytest.mark.parametrize("ending", ["tsv", "csv", "jsonl"])
def test_a_line_of_ten_megabytes(write, ending):
    csv.field_size_limit(131_072)  # as it is in a fresh interpreter
    long = "x" * 10_000_000
    content = {
        "tsv": f"text\tlabel\n{long}\ta\n",
        "csv": f"text,label\n{long},a\n",
        "jsonl": f'{{"text": "{long}", "label": "a"}}\n',
    }[ending]
    assert rows_of(write(f"a.{ending}", content)) == [(long, "a")]
    assert csv.field_size_limit() == 131_072


# --- columns --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header, columns",
    [
        ("text\tlabel", (0, 1)),
        ("Class\tReview", (1, 0)),
        ("id\ttweet\tintent", (1, 2)),
        ("title\ttext\tlabel\tcategory", (1, 2)),  # the plain names win
        ("text\tstars", (0, 1)),  # of two, the other is the other
        ("phrase\tlabel", (0, 1)),
    ],
)
def test_columns_are_found_by_their_names(write, header, columns):
    fields = [f"field {place}" for place in range(header.count("\t") + 1)]
    path = write("a.tsv", header + "\n" + "\t".join(fields) + "\n")
    assert rows_of(path) == [(fields[columns[0]], fields[columns[1]])]


@pytest.mark.parametrize(
    "header, columns",
    [
        ("source\ttarget", (0, 1)),
        ("id\ttgt\tsrc", (2, 1)),
        ("de\ten", (0, 1)),  # languages stand in their order
        ("EN\tde", (0, 1)),
        ("text\tlabel", (0, 1)),
        ("en\ttranslation", (0, 1)),
        ("output\tinput\ten", (1, 0)),
        ("german\tsource", (1, 0)),
    ],
)
def test_sources_and_targets_are_found_by_their_names(write, header, columns):
    fields = [f"field {place}" for place in range(header.count("\t") + 1)]
    path = write("a.tsv", header + "\n" + "\t".join(fields) + "\n")
    assert pairs_of(path) == [(fields[columns[0]], fields[columns[1]])]


@pytest.mark.parametrize("read", [rows_of, pairs_of])
def test_named_columns_are_taken_whatever_is_known(write, read):
    path = write("a.tsv", "text\tlabel\tPhrase\tstars\na\tb\tc\td\n")
    assert read(path, ("phrase", "text")) == [("c", "a")]
    with pytest.raises(DataError, match=r"a\.tsv', line 1: corpus\.columns names 'star', but the columns are"):
        read(path, ("phrase", "star"))
    with pytest.raises(DataError, match="cannot be both"):
        read(path, ("text", "text"))


def test_a_column_named_twice_is_refused(write):
    path = write("a.tsv", "a\ta\tb\n1\t2\t3\n")
    with pytest.raises(DataError, match="line 1: 2 columns are named 'a'"):
        rows_of(path, ("a", "b"))


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.tsv", "what a film\tpositive\n", 'line 1: expected a header line such as "text<TAB>label"'),
        ("a.tsv", "what a film\ty\n", 'line 1: expected a header line such as "text<TAB>label"'),
        ("a.tsv", "what a film\tpositive\n", "--set 'corpus.columns=[\"what a film\", \"positive\"]'"),
        ("a.tsv", "review\tsentence\nx\ty\n", "several columns for the text ('review', 'sentence')"),
        ("a.tsv", "text\tsentence\nx\ty\n", "no columns for the label"),
        ("a.tsv", "title\tbody\tlabel\nx\ty\tz\n", 'corpus.columns=["title", "label"]'),
        ("a.tsv", "id\ttext\tscore\nx\ty\tz\n", "no columns for the label among 'id', 'text', 'score'"),
        ("a.tsv", "text,label\na,b\n", "separated by tabs in .tsv and by commas in .csv"),
        ("a.csv", "text;label\na;b\n", "there is only 'text;label'"),
        ("a.jsonl", '{"a": "b", "c": "d"}', "line 1: expected an object with keys such as 'text' and 'label'"),
        ("a.jsonl", "{}", "there is only the keys"),
    ],
)  # fmt: skip
def test_columns_in_doubt_are_asked_for(write, name, content, message):
    with pytest.raises(DataError) as refused:
        rows_of(write(name, content))
    assert message in str(refused.value)
    assert name in str(refused.value)


@pytest.mark.parametrize("header", ["id\ten\tde", "en\tde\tlabel", "text\tlabel\tx", "src\ttarget\tinput\ttgt"])
def test_a_doubtful_pair_is_not_chosen(write, header):
    path = write("a.tsv", header + "\n" + "\t".join("x" for _ in header.split("\t")) + "\n")
    with pytest.raises(DataError, match=r"corpus\.columns"):
        pairs_of(path)


def test_a_message_stays_short_whatever_the_first_line(write):
    with pytest.raises(DataError) as refused:
        rows_of(write("a.tsv", "x" * 100_000 + "\tlabels\nz\ty\n"))
    assert len(str(refused.value)) < 1000


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.tsv", "text\tlabel\na\tx\nb\tc\tx\n", "line 3: 3 fields, but the header has 2. Is there a tab"),
        ("a.tsv", "text\tlabel\n\na\n", "line 3: 1 fields, but the header has 2."),
        ("a.csv", 'text,label\n"a\nb",x\na,b,x\n', "line 4: 3 fields, but the header has 2. Is there a comma"),
        ("a.csv", 'text,label\na,x\n"b\n,y\nc,z\n', "line 3: this record is not CSV"),
        ("a.csv", 'text,label\n"a" b,x\n', "line 2: this record is not CSV"),
        ("a.tsv", "text\tlabel\n  \tx\n", "line 2: 'text' is empty"),
        ("a.tsv", "text\tlabel\n\t\n", "line 2: 'text' is empty"),
        ("a.tsv", "text\tlabel\na\t \n", "line 2: 'label' is empty"),
        ("a.jsonl", '{"text": "a", "label": "x"}\n{"text": "b"}\n', "line 2: the key 'label' is missing; there is"),
        ("a.jsonl", '{"text": "a", "label": ""}', "line 1: 'label' is empty"),
        ("a.jsonl", '{"text": "a", "label": null}', "line 1: 'label' is null"),
        ("a.jsonl", '{"text": "a", "label": 0.5}', "line 1: 'label' is a fraction"),
        ("a.jsonl", '{"text": "a", "label": ["x"]}', "line 1: 'label' is an array"),
        ("a.jsonl", '{"text": 3, "label": "x"}', "line 1: 'text' is an integer, expected a text"),
        ("a.jsonl", '{"text": "\\ud800", "label": "x"}', "line 1: 'text' contains half of a surrogate pair"),
        ("a.jsonl", '\n{"text": "a",\n', "line 2: this is not JSON"),
        ("a.json", '[\n{"text": "a", "label": "x"}\n]\n', "line 1: this is not JSON"),
        ("a.json", '[{"text": "a", "label": "x"}]\n', "line 1: an array. Expected one object per line"),
        ("a.jsonl", '{"text": "a", "label": ' + "1" * 5000 + "}", "line 1: this is not JSON"),
        ("a.jsonl", "[" * 100_000, "line 1: JSON nested too deeply"),
        ("a.tsv", b"text\tlabel\nca\x81\tx\n", "line 2, offset 13: byte 0x81 is not UTF-8"),
        ("a.csv", b"text,label\na,x\nb\0,x\n", "line 3: a NUL character"),
        ("a.tsv", "", "is empty. Expected a header line such as"),
        ("a.csv", "\n \n", "is empty. Expected a header line such as"),
        ("a.jsonl", "\n", "is empty. Expected one JSON object per line"),
        ("a.tsv", "text\tlabel\n", "has a header and no rows"),
        ("a.csv", "text,label", "has a header and no rows"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(write, name, content, message):
    path = write(name, content)
    with pytest.raises(DataError) as refused:
        rows_of(path)
    assert str(refused.value).startswith(f"'{path}'")
    assert message in str(refused.value)


def test_damage_and_absence(write):
    with pytest.raises(DataError, match="cannot be unpacked"):
        rows_of(write("a.tsv.gz", b"text\tlabel\n"))
    with pytest.raises(MissingInput):
        rows_of(Path("nowhere.tsv"))


def test_texts_are_kept_as_they_are(write):
    assert pairs_of(write("a.tsv", 'source\ttarget\n "a" \tb \n')) == [(' "a" ', "b ")]
    [located] = read_pairs(write("b.tsv", "source\ttarget\na\tb\n"), None, InputFixes())
    assert located.example == TextPair("a", "b")
