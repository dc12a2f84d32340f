"""What a person would not expect of a file is said: rows that are no examples, columns of something else, marks."""

import csv
import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from example_tables import corpus, many, reviews

from seqlab.config import ExampleKind
from seqlab.data.examples.conll import read_columns
from seqlab.data.examples.lines import LocatedExamples
from seqlab.data.examples.load import open_examples
from seqlab.data.examples.odd_values import odd_labels
from seqlab.data.files import InputFixes
from seqlab.data.task_inference import infer_task, unclear_layout

TAGS = {
    **dict.fromkeys(("the", "a"), "DT"),
    **dict.fromkeys(("red", "blue", "old"), "JJ"),
    **dict.fromkeys(("fox", "bird", "stones"), "NN"),
    **{"saw": "VB", "near": "IN"},
}
WORDS = [*TAGS]


def said(kind: ExampleKind, *paths: str | Path) -> str:
    return "\n".join(open_examples(kind, corpus(*paths)).notes)


def sentences(line: str) -> str:
    """Twenty sentences of words in a column, laid out as `line` says."""
    rows = [[WORDS[(start + step * at) % 10] for at in range(8)] for start in range(10) for step in (1, 3)]
    return "\n".join(
        "".join(
            line.format(word=word, tag=TAGS[word], place=place, row=number) + "\n" for place, word in enumerate(row)
        )
        for number, row in enumerate(rows)
    )


@pytest.mark.parametrize(
    ("line", "read", "meant"),
    [
        ("{tag}\t{word}", "column 1 (5 different values) and its tag in column 2 (10)", "2 and 1 (10 and 5)"),
        ("{word}\t{tag}\t{word}", "column 1 (10 different values) and its tag in column 3 (10)", "1 and 2 (10 and 5)"),
        (
            "{word}\t{tag}\t0.{place}",
            "column 1 (10 different values) and its tag in column 3 (8)",
            "1 and 2 (10 and 5)",
        ),
        ("{tag} {word} {tag}", "column 1 (5 different values) and its tag in column 3 (5)", "2 and 3 (10 and 5)"),
        ("{row} {word} {tag}", "column 1 (20 different values) and its tag in column 3 (5)", "2 and 3 (10 and 5)"),
        ("{word} {tag}", "", ""),
    ],
)
def test_columns_that_are_no_words_or_tags_are_said(write, line: str, read: str, meant: str):
    notes = said("tagged", write("a.conll", sentences(line)))
    assert ("warning: a.conll is read with the word in " in notes) == bool(read)
    assert read in notes and (not meant or f"If they are in columns {meant}: awk" in notes)


def test_the_command_that_exchanges_columns_works(write):
    path = write("a b.conll", sentences("{tag}\t{word}"))
    command = said("tagged", path).partition("(10 and 5): ")[2].splitlines()[0]
    subprocess.run(command, shell=True, check=True, cwd=path.parent)
    assert (path.parent / "new.conll").read_text() == sentences("{word}\t{tag}")


def test_rows_below_the_header_that_describe_columns_are_skipped(write):
    ids = [json.dumps({"ImportId": name}, separators=(",", ":")) for name in ("QID1", "QID2")]
    path = write("a.csv", "")
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([["text", "label"], ["How was\nit?", "Again?"], ids, *many(20)])
    examples = open_examples("labeled", corpus(path))
    assert sum(map(len, examples.splits.values())) == 20
    assert "skipped 2 rows of" in "\n".join(examples.notes) and "(lines 2 to 4)" in "\n".join(examples.notes)


def test_labels_of_one_row_are_said_with_their_place(write):
    notes = said("labeled", write("a.tsv", reviews(*many(30), ("Total", "30"))))
    assert "1 of the 3 labels has one example: '30' (" in notes and "line 32 with the text 'Total')" in notes
    assert "have one example each" not in said("labeled", write("b.tsv", reviews(*many(30))))


def test_keys_that_only_later_objects_have_are_said(write):
    rows = [{"text": f"text {n}", "label": n % 2, **({"split": "test"} if n >= 150 else {})} for n in range(200)]
    notes = said("labeled", write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    assert "not used: 'split' (empty 150, test 50)" in notes and "'split' looks like splits" in notes


def test_marks_of_other_formats_in_texts_are_said(write):
    rows = [(rf"{text}<br /> &amp; it\n", label) for text, label in many(20)]
    notes = said("labeled", write("a.tsv", reviews(*rows)))
    assert r"20 of the 20 texts have tags, entities or escapes, such as '<br />' (20), '&amp;' (20), '\n' (20)" in notes
    plain = [(f"{text} < 3 & more", label) for text, label in many(20)]
    assert "escapes" not in said("labeled", write("b.tsv", reviews(*plain)))


def test_texts_that_a_program_cut_off_are_said(write):
    rows = [(f"{n} " + "word " * (60 if n < 4 else 2), "ab"[n % 2]) for n in range(20)]
    notes = said("labeled", write("a.tsv", reviews(*[(text[:255], label) for text, label in rows])))
    assert "4 different texts have exactly 255 characters, and none has more" in notes


def test_cells_in_quotes_of_another_kind_are_said(write):
    rows = "".join(f"'{text}', \"{label}\"\n" for text, label in many(20))
    notes = said("labeled", write("a.csv", "text,label\n" + rows))
    assert "20 of the 20 texts are in quotes, such as ''text 0''" in notes
    assert "20 of the 20 labels are in quotes, such as '\"even\"'" in notes


def test_several_labels_of_one_line_are_said(write):
    lines = "".join(f"__label__{'ab'[n % 2]} {'__label__c ' * (n < 3)}text {n}\n" for n in range(20))
    assert "3 lines with several labels, joined by commas" in said("labeled", write("a.txt", lines))


def test_labels_with_levels_and_decimal_labels_are_said():
    assert "3 of the 3 labels look like levels" in odd_labels(Counter({"a > b": 5, "a > c": 4, "d > e": 3}))[0]
    assert odd_labels(Counter({"n/a so": 5, "yes": 3, "no": 4})) == []
    assert "look like measured numbers" in odd_labels(Counter({f"0.{n}": 9 for n in range(1, 8)}))[0]
    assert odd_labels(Counter({"1.0": 9, "2.0": 8, "3.0": 3, "4.0": 3, "5.0": 3, "6.0": 2})) == []


def test_parallel_files_that_are_no_sentences_are_said(write):
    subtitles = "".join(f"{n}\n00:00:{n:02d},000 --> 00:00:{n:02d},900\nword {n}\n\n" for n in range(1, 20))
    notes = said("pairs", write("a.en", subtitles), write("a.de", subtitles.replace("word", "Wort")))
    assert "a.en looks like subtitles" in notes and "a.de looks like subtitles" in notes
    numbered = [write(f"b.{end}", "".join(f"{n}\ttext {n}\n" for n in range(20))) for end in ("en", "de")]
    assert "100% of the lines of b.en have 2 fields separated by tabs: all of it is read" in said("pairs", *numbered)


def test_folders_of_other_files_than_text_are_said(tmp_path: Path):
    for label in ("pos", "neg"):
        (tmp_path / label).mkdir()
        for n in range(10):
            (tmp_path / label / f"{n}.html").write_text(f"<p>{label} {n}</p>")
    assert "as running text: tags and entities are part of it" in said("labeled", tmp_path)


FLAGS = "".join(f"text {n};{n % 3 // 2};{n % 2}\n" for n in range(20))


def test_columns_of_0_and_1_are_said_and_the_command_makes_one_label(write):
    path = write("a.csv", "comment_text;toxic;insult\n" + FLAGS)
    layout = unclear_layout([str(path)])
    assert layout is not None and "2 columns have 0 or 1, 'toxic', 'insult', and a text has one label" in layout.reason
    assert "(3 of the first 20 rows have several)" in layout.reason
    subprocess.run(layout.reason.partition("as the label: ")[2], shell=True, check=True, cwd=path.parent)
    with (path.parent / "new.csv").open(newline="") as stream:
        assert Counter(row["label"] for row in csv.DictReader(stream)) == {
            "none": 7, "insult": 7, "toxic": 3, "toxic+insult": 3
        }  # fmt: skip


def test_an_export_of_issues_names_all_columns_that_may_have_labels(write):
    kinds, states = ("bug", "feature", "bug,ui"), ("open", "closed")
    rows = [
        f'{n},title {n} of it,{states[n % 2]},"{kinds[n % 3]}",the body {n} is longer,2024-01-{n:02d},user{n % 4}\n'
        for n in range(1, 25)
    ]
    path = write("a.csv", "number,title,state,labels,body,created_at,user\n" + "".join(rows))
    layout = unclear_layout([str(path)])
    assert infer_task([str(path)]) is None and layout is not None
    assert layout.columns == ("body", "state")
    assert "with the number of different ones: 'state' (2), 'labels' (3), 'user' (4)" in layout.reason


@pytest.mark.parametrize("header", ["id  text       label\n--  ---------  -----\n", "┌────┬──────┐\n│ id │ text │\n"])
def test_a_table_that_sqlite_printed_is_said(write, header: str):
    path = write("a.csv", header + "".join(f"{n:<2}  text {n:<6}odd\n" for n in range(20)))
    layout = unclear_layout([str(path)])
    assert layout is not None and "a table that a program printed, as sqlite does" in layout.reason
    assert "sqlite3 -header -csv" in layout.reason


def test_the_export_of_an_annotation_tool_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    words = "".join(f"1-{i}\t{i}-{i + 1}\tword{i}\t*\t_\t\n" for i in range(1, 30))
    file.write_text(f"#FORMAT=WebAnno TSV 3.3\n#T_SP=type|value\n\n\n#Text=some words\n{words}", encoding="utf-8")
    layout = unclear_layout([str(file)])
    assert layout is not None and layout.kind == "other" and not layout.columns
    assert "WebAnno TSV, which INCEpTION exports" in layout.reason


def test_numbers_that_are_measured_are_no_suggestion_beside_others(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    rows = (f"a comment of somebody {i},{'' if i == 3 else i % 5 + 1},{1 + i % 3 / 2}" for i in range(60))
    file.write_text("comment,score_given,weight\n" + "\n".join(rows) + "\n", encoding="utf-8")
    layout = unclear_layout([str(file)])
    assert layout is not None and layout.columns == ("comment", "score_given")


BRACKETS = ["Ann (PER)", "of *", "the (ORG*", "big (LOC*)", "House *)", "left *", "it _", ""]


def read_tagged(path: Path) -> tuple[LocatedExamples, list[str]]:
    fixes = InputFixes()
    return read_columns(path, fixes), fixes.notes()


@pytest.mark.parametrize("separator", [" ", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_spans_in_brackets_are_said_and_the_command_writes_them_in_bio(write, separator: str, end: str):
    lines = ["# global.columns = both", "#begin document (a); part 000", *BRACKETS * 2]
    path = write("a b.conll", "".join(line.replace(" ", f"{separator}-{separator}") + end for line in lines))
    note = next(note for note in read_tagged(path)[1] if "brackets" in note)
    assert note.startswith("warning: a b.conll marks spans by brackets, as CoNLL-2012 does ('(PER)', '(ORG*', '(LOC*)'")
    assert "each of these 5 tags is taken as a class of its own, and no spans are scored. To write" in note
    assert "in BIO, of which it keeps the outermost of several around a word: " in note
    subprocess.run(note.partition("around a word: ")[2], shell=True, check=True, cwd=path.parent)
    (first, second), notes = read_tagged(path.parent / "new.conll")
    assert first.example == second.example
    assert first.example.words == ("Ann", "of", "the", "big", "House", "left", "it")
    assert first.example.tags == ("B-PER", "O", "B-ORG", "I-ORG", "I-ORG", "O", "_")
    assert "brackets" not in "".join(notes)


@pytest.mark.parametrize("tags", ["( ) NN *", "(PER) O O O", "* O * O", "B-x I-x O O"])
def test_other_tags_are_no_spans_in_brackets(write, tags: str):
    path = write("a.conll", "".join(f"word {tag}\n" for tag in tags.split()))
    assert "brackets" not in "".join(read_tagged(path)[1])
