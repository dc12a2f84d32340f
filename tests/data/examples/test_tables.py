"""Tables of texts and labels, and of sources and targets: what is read, and what is refused with its file and line."""

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from seqlab.data.examples import csv_records
from seqlab.data.examples.conll import read_columns
from seqlab.data.examples.example import LabeledText, TextPair
from seqlab.data.examples.inputs import read_inputs
from seqlab.data.examples.lines import InputFixes
from seqlab.data.examples.quoting import DOUBLED
from seqlab.data.examples.tables import read_labeled, read_pairs
from seqlab.data.task_inference import infer_task
from seqlab.errors import DataError, MissingInput

quick = settings(max_examples=100)
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
    assume(not any(DOUBLED.fullmatch(field.strip()) for row in rows for field in row))
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
        ("a.csv", "text\na\nb\n", "there is only 'text'. Fields are separated by tabs, commas, semicolons or"),
        ("a.tsv", "what a film\tpositive\n", "there is no header, count them: --set 'corpus.columns=[\"1\", \"2\"]'"),
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
        ("a.tsv", "text\tlabel\n\na\n", "line 3: 1 field, but the header has 2."),
        ("a.csv", 'text,label\n"a\nb",x\na,b,x\n', "line 4: 3 fields, but the header has 2. Is there a comma"),
        ("a.csv", 'text,label\na,x\n"b\n,y\nc,z\n', "line 3: this record is not CSV"),
        ("a.csv", 'text,label\n"a" b,x\n', "line 2: this record is not CSV"),
        ("a.tsv", "text\tlabel\n  \tx\n", "line 2: 'text' is empty"),
        ("a.tsv", "text\tlabel\na\t \n", "line 2: 'label' is empty"),
        ("a.jsonl", '{"text": "a", "label": "x"}\n{"text": "b"}\n', "line 2: the key 'label' is missing; there is"),
        ("a.jsonl", '{"text": "a", "label": ""}', "line 1: 'label' is empty"),
        ("a.jsonl", '{"text": "a", "label": null}', "line 1: 'label' is null"),
        ("a.jsonl", '{"text": "a", "label": ["x"]}', "line 1: 'label' is an array"),
        ("a.jsonl", '{"text": 3, "label": "x"}', "line 1: 'text' is an integer, expected a text"),
        ("a.jsonl", '{"text": "\\ud800", "label": "x"}', "line 1: 'text' contains half of a surrogate pair"),
        ("a.jsonl", '\n{"text": "a",\n', "line 2: the file ends within this object"),
        ("a.json", '[\n{"text": "a", "label": "x"}\n]\n', "a.json is one array with a table by rows"),
        ("a.json", '[{"text": "a", "label": "x"}]\n', "a.json is one array with a table by rows"),
        ("a.json", '[\n{"text": "a", "label": "x"}\n', "line 1: this is not JSON"),
        ("a.json", '["a", "x"]\n["b", "y"]\n', "line 1: an array. Expected one object per line"),
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


# --- tables as people have them -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, content, word",
    [
        ("a.csv", 'text;label\na, b;x\n"c; d";y\n', "semicolons"),
        ("a.csv", 'sep=;\ntext;label\na, b;x\n"c; d";y\n', "semicolons, as its first line says"),
        ("a.csv", 'sep=;\ntext;label\n"a, b";x\n"c; d";y\n', "semicolons, as its first line says"),
        ("a.csv", 'text\tlabel\na, b\tx\n"c; d"\ty\n', "tabs"),
        ("a.csv", "text|label\na, b|x\nc; d|y\n", "vertical bars"),
        ("a.tsv", 'text,label\n"a, b",x\nc; d,y\n', "commas"),
        ("a.txt", 'text;label\na, b;x\n"c; d";y\n', "semicolons"),
    ],
)
def test_other_delimiters_are_recognized_and_said(write, name, content, word):
    fixes = InputFixes()
    result = read_labeled(write(name, content), None, fixes)
    assert [located.example for located in result] == [LabeledText("a, b", "x"), LabeledText("c; d", "y")]
    assert fixes.notes() == [f"{name}: fields are separated by {word}"]


def test_texts_of_several_lines_below_a_line_that_names_the_delimiter(write):
    path = write("a.csv", 'sep=;\ntext;label;;\n"a\nb; c";x;;\nd;y;;\n')
    assert [(located.example.text, located.location.line) for located in read_labeled(path, None, InputFixes())] == [
        ("a\nb; c", 3),
        ("d", 5),
    ]
    assert rows_of(write("b.csv", "sep=\t\ntext\tlabel\na, b\tx\n")) == [("a, b", "x")]


def test_the_usual_delimiter_is_kept_where_another_fits_no_better(write):
    assert rows_of(write("a.csv", "text,label\none; two,x\nthree,y\n")) == [("one; two", "x"), ("three", "y")]
    assert rows_of(
        write(
            "b.csv",
            '"text, long",label\n"a;b",x\n',
        ),
        ("text, long", "label"),
    ) == [("a;b", "x")]


def test_numbers_do_not_make_a_header_an_example(write):
    path = write("a.csv", "id,Text,label\n1,a,x\n")
    with pytest.raises(DataError, match=r"""line 1: this is a header .* --set 'corpus.columns=\["Text", "label"\]'"""):
        rows_of(path, ("2", "3"))
    assert rows_of(path, ("1", "3")) == [("id", "label"), ("1", "x")]  # only one of them is a known name
    with pytest.raises(DataError, match="Give the names instead: --column Text"):
        read_inputs("labeled", path, "2", InputFixes())


def test_the_keys_are_those_of_the_first_objects(write):
    path = write("a.jsonl", '{"text": "a"}\n' + '{"text": "b", "label": "x"}\n' * 19)
    fixes = InputFixes(skip_limit=0.1)
    assert len(read_labeled(path, None, fixes)) == 19
    assert "line 1: the key 'label' is missing" in fixes.notes()[0]


def test_a_table_without_a_header_has_columns_by_number(write):
    path = write("sms.tsv", "ham\tsee you\nspam\twin now\n")
    assert rows_of(path, ("2", "1")) == [("see you", "ham"), ("win now", "spam")]
    fixes = InputFixes()
    read_labeled(path, ("2", "1"), fixes)
    assert fixes.notes() == ["the columns of sms.tsv are numbered, so its first line is data: ham | see you"]
    with pytest.raises(DataError, match=r"corpus\.columns names '3'"):
        rows_of(path, ("3", "1"))
    assert rows_of(write("named.tsv", "1\t2\na\tx\n"), ("1", "2")) == [("a", "x")]


def test_a_first_line_of_data_that_names_the_columns_is_said(write):
    rows = "Musen\tADJ\nHaus\tNOUN\nBaum\tNOUN\nschön\tADJ\nMond\tNOUN\n"
    fixes = InputFixes()
    assert len(read_labeled(write("lex.tsv", rows), ("musen", "ADJ"), fixes)) == 4
    (note,) = fixes.notes()
    assert note.endswith(
        "line 1: taken as the header, since columns are named by it, and it looks like data: 'Musen', 'ADJ'. To read "
        """it as data, number the columns: --set 'corpus.columns=["1", "2"]'"""
    )
    fixes = InputFixes()
    assert len(read_labeled(write("named.tsv", f"word\tclass\n{rows}"), ("word", "class"), fixes)) == 5
    assert fixes.notes() == []


def skipping(path, limit, read=read_labeled):
    fixes = InputFixes(skip_limit=limit)
    return [located.example.input for located in read(path, None, fixes)], fixes.notes()


def test_bad_rows_are_skipped_and_named(write):
    rows = [f"text {number},x" for number in range(30)]
    rows[3], rows[7], rows[11], rows[20] = ",x", "too,many,x", '"open,x', 'quoted "" twice,'
    result, notes = skipping(write("a.csv", "\n".join(["text,label", *rows])), 0.2)
    assert result == [f"text {number}" for number in range(30) if number not in (3, 7, 11, 20)]
    [note] = notes
    assert note.startswith("skipped 4 of the 30 rows of '")
    assert "line 5: 'text' is empty" in note
    assert "line 9: 3 fields, but the header has 2" in note
    assert "line 13: this record is not CSV" in note
    assert note.endswith("; and 1 more)")


def test_too_many_bad_rows_are_an_error_with_the_first_lines(write):
    path = write("a.tsv", "text\tlabel\n" + "a\tx\n" * 16 + "\tx\n" * 4)
    with pytest.raises(DataError) as refused:
        skipping(path, 0.1)
    message = str(refused.value)
    assert "4 of the 20 rows of" in message
    assert "at most 2 may be skipped" in message
    assert message.count("'text' is empty") == 3
    assert "line 18: " in message
    assert message.endswith("Correct them, or skip them: --set corpus.skip_limit=0.2")
    assert len(skipping(path, 0.2)[0]) == 16
    with pytest.raises(DataError, match="line 18: 'text' is empty"):
        skipping(path, 0.0)


def test_the_limit_is_rounded_up_but_something_must_be_left(write):
    assert skipping(write("a.tsv", "text\tlabel\na\tx\n\ty\n"), 0.01)[0] == ["a"]
    with pytest.raises(DataError, match="1 of the 1 row "):
        skipping(write("b.tsv", "text\tlabel\n\ty\n"), 1.0)


@pytest.mark.parametrize("good", [0, 4])
def test_a_limit_is_not_advised_where_most_rows_are_bad(write, good):
    with pytest.raises(DataError, match=r"(at most 1 may be skipped|no row is left)\.(.|\n)*Correct them\.$"):
        skipping(write("a.tsv", "text\tlabel\n" + "a\tx\n" * good + "\tx\n" * (10 - good)), 0.1)


def test_bad_objects_are_skipped(write):
    lines = ['{"text": "a", "label": "x"}'] * 5 + ['{"text": "b"}', "{", '{"text": null, "label": "x"}']
    result, [note] = skipping(write("a.jsonl", "\n".join(lines)), 0.5)
    assert result == ["a"] * 5
    assert "skipped 3 of the 8 rows" in note


def test_rows_of_empty_cells_are_blank_lines(write):
    result, notes = skipping(write("a.csv", "text;label;\na;x;\n;;\n;;\n;;\n"), 0.1)
    assert result == ["a"]
    assert "passed over 3 rows or pairs of lines without content" in notes


def test_an_open_quote_does_not_swallow_the_rest(write, monkeypatch):
    monkeypatch.setattr(csv_records, "MAX_RECORD_LINES", 50)
    rows = [f"text {number},x" for number in range(400)]
    rows[5], rows[300] = '"open,x', '"open too,x'
    result, [note] = skipping(write("a.csv", "\n".join(["text,label", *rows])), 0.1)
    assert len(result) == 398
    assert "a quote is not closed within 50 lines" in note


def test_all_broken_rows_are_counted(write):
    path = write("a.csv", "text,label\n" + "fine,y\n" * 5 + '"say "hi"",x\n' * 40)
    with pytest.raises(DataError, match="40 of the 45 rows"):
        skipping(path, 0.1)


def test_two_open_quotes_do_not_join_rows(write):
    rows = [f"text {number},x" for number in range(40)]
    rows[5], rows[9] = '"open,x', 'and "close",more,x'
    assert len(skipping(write("a.csv", "\n".join(["text,label", *rows])), 0.1)[0]) == 38


@pytest.mark.parametrize("codec", ["utf-16", "cp1252", "utf-8-sig"])
def test_tables_in_other_encodings(write, codec):
    fixes = InputFixes()
    path = write("excel.csv", "text;label\r\nCafé, schön;x\r\nnaïf;y\r\n".encode(codec))
    assert [located.example.input for located in read_labeled(path, None, fixes)] == ["Café, schön", "naïf"]
    said = {"utf-16": "as UTF-16", "cp1252": "as Windows-1252", "utf-8-sig": "byte-order mark"}[codec]
    assert any(said in note for note in fixes.notes())


@pytest.mark.parametrize("name, reason", [("a.conll", "by its suffix"), ("a.txt", "span tags such as B-x")])
def test_tagged_words_are_no_texts_to_classify(write, name, reason):
    path = write(name, "a B-x\nb O\n\n" * 5)
    assert [*read_inputs("tagged", path, None, InputFixes()).values()] == [("a", "b")] * 5
    with pytest.raises(DataError, match=f"{reason}.*this run reads texts. Give a table"):
        read_inputs("labeled", path, None, InputFixes())


@pytest.mark.parametrize("content", ["New York\tB-x\n", "New York\tplace\nis\tverb\nthe end\tnoun\n" * 4])
def test_lines_with_tabs_are_words_to_a_tagger(write, content):
    """Few lines, or tags without spans, show no layout: training with --task tag reads columns all the same."""
    path = write("a.txt", content)
    (words,) = read_inputs("tagged", path, None, InputFixes()).values()
    assert words == read_columns(path, InputFixes())[0].example.words


def test_lines_that_a_tagger_reads_as_texts_are_said(write):
    fixes = InputFixes()
    assert [*read_inputs("tagged", write("a.txt", "Anna B-x\nmet O\n"), None, fixes).values()] == ["Anna B-x", "met O"]
    assert fixes.notes() == ["each line of a.txt is a text, not a word and its tag"]


def test_comments_above_the_header_are_passed_over_and_counted(write):
    fixes = InputFixes()
    path = write("a.csv", "# exported 2024\n\n# by me, you and others\ntext,label\n#1 film,x\n")
    [located] = read_labeled(path, None, fixes)
    assert (located.example, located.location.line) == (LabeledText("#1 film", "x"), 5)
    assert fixes.notes() == ["passed over lines of comments, which begin with #: 2"]
    assert infer_task([str(path)]) == ("classify", "a.csv has the columns 'text' and 'label'")
    assert rows_of(write("b.csv", "#text,label\na,x\n"), ("#text", "label")) == [("a", "x")]  # it names the columns


def test_broken_records_are_explained_in_words_of_our_own(write):
    path = write("a.csv", "text,label\na,x\n" + 'b\rc,x\n"d" e,x\n' + "a,x\n" * 20 + '"f,x\n')
    fixes = InputFixes(skip_limit=0.2)
    read_labeled(path, None, fixes)
    [note] = fixes.notes()
    for reason in ("a carriage return (CR) outside quotes", "text follows a closing quote", "a quote is not closed"):
        assert f"this record is not CSV: {reason}. Put" in note


def test_what_json_lines_repeat_or_mix_is_said(write):
    rows = ['{"text": "a", "text": "b", "label": 1}', '{"text": "c", "label": "1"}', '{"text": "d", "label": true}']
    fixes = InputFixes()
    path = write("a.jsonl", "\n".join([*rows, '{"text": "e", "label": "true"}', '{"text": "f", "label": "x"}']))
    labels = [located.example.label for located in read_labeled(path, None, fixes)]
    assert labels == ["1", "1", "true", "true", "x"]
    assert fixes.notes() == [
        "keys that an object of a.jsonl has twice: 1 ('text'); the last counts",
        "the values of 'label' have different types: 3 strings, 1 integer, 1 boolean; read as the same label: '1' (1 "
        "integer, 1 string), 'true' (1 boolean, 1 string)",
    ]


@pytest.mark.parametrize("value, words", [("NaN", "NaN, which is no number"), ("Infinity", "the number inf")])
def test_numbers_that_are_no_labels_are_shown(write, value, words):
    with pytest.raises(DataError, match=f"'label' is {words}, expected a string, a number or a boolean"):
        read_labeled(write("a.jsonl", f'{{"text": "a", "label": {value}}}\n'), None, InputFixes())


def test_ratings_in_json_may_have_a_point_as_in_csv(write):
    rows = [("a", 5.0), ("b", 4), ("c", 4.5)]
    as_json = "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows)
    as_csv = "text,label\n" + "".join(f"{text},{label}\n" for text, label in rows)
    assert (
        rows_of(write("a.jsonl", as_json))
        == rows_of(write("a.csv", as_csv))
        == [("a", "5.0"), ("b", "4"), ("c", "4.5")]
    )


def test_a_file_that_ends_within_an_object(write):
    fixes = InputFixes(skip_limit=0.5)
    read_labeled(write("a.jsonl", '{"text": "a", "label": "x"}\n{"text": "trunc'), None, fixes)
    [note] = fixes.notes()
    assert 'line 2: the file ends within this object: ...{"text": "trunc. Was it copied completely?' in note


def test_other_columns_with_known_names_are_said(write):
    fixes = InputFixes()
    path = write("a.tsv", "text\treview\tlabel\tclass\na\tb\tx\ty\n")
    read_labeled(path, None, fixes)
    [note] = fixes.notes()
    command = """--set 'corpus.columns=["review", "class"]'"""
    assert note == (
        "columns of a.tsv: text 'text', label 'label'; not used: 'review' (b 1), 'class' (y 1); others may be meant, "
        f"'review', 'class': {command}"
    )
    assert rows_of(path, ("review", "class")) == [("b", "y")]
    fixes = InputFixes()
    read_labeled(path, ("review", "class"), fixes)
    assert "others" not in fixes.notes()[0]
