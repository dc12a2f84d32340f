"""Which task files are for, where that is plain."""

import gzip
import json
import os
import shutil
import subprocess
import sys

import pytest

from seqlab.config import CorpusSettings
from seqlab.data.corpora.large_text import open_large
from seqlab.data.examples.array_labels import FLATTEN
from seqlab.data.examples.table_sample import SAMPLE_BYTES
from seqlab.data.task_inference import infer_task, plain_text_note, unclear_layout
from seqlab.data.text.corpus import open_corpus
from seqlab.errors import DataError, UsageError
from seqlab.registry import CORPORA
from seqlab.training.request import settings_from_request


@pytest.fixture
def written(write):
    return lambda name, content: str(write(name, content))


@pytest.mark.parametrize("name", ["a.conllu", "a.conll", "a.bio", "a.iob", "a.iob2", "a.CONLL", "a.conllu.gz"])
def test_words_and_tags_are_known_by_the_ending(written, name):
    guess = infer_task([written(name, "x\n")])
    assert guess and guess[0] == "tag"
    assert guess[1].startswith(name)


@pytest.mark.parametrize(
    "name, content, task, reason",
    [
        ("a.tsv", "text\tlabel\n", "classify", "a.tsv has the columns 'text' and 'label'"),
        ("a.tsv", "\n\ufeffText\tlabel\n"[1:], "classify", "a.tsv has the columns 'Text' and 'label'"),
        ("a.csv", 'id,"Sentiment",review\r\n', "classify", "a.csv has the columns 'review' and 'Sentiment'"),
        ("a.jsonl", '\n{"intent": 1, "text": ""}\n', "classify", "a.jsonl has the keys 'text' and 'intent'"),
        ("a.jsonl", '{"text": ""}\n{"text": "", "label": 1}\n', "classify", "a.jsonl has the keys 'text' and 'label'"),
        ("a.csv", "id,keyword,text,target\n", "classify", "a.csv has the columns 'text' and 'target'"),
        ("a.tsv", "source\ttarget", "translate", "a.tsv has the columns 'source' and 'target'"),
        ("a.csv", "source,target,document\n", "translate", "a.csv has the columns 'source' and 'target'"),
        ("a.tsv", "de\ten\n", "translate", "a.tsv has the columns 'de' and 'en'"),
        ("a.ndjson", '{"src": "x", "tgt": "y", "id": 1}', "translate", "a.ndjson has the keys 'src' and 'tgt'"),
    ],
)
def test_tables_are_known_by_their_columns(written, name, content, task, reason):
    assert infer_task([written(name, content)]) == (task, reason)


@pytest.mark.parametrize(
    "header, row, columns",
    [
        ("source,target,document", "ein Otter {0},an otter {0},d1", "'source' and 'target'"),
        ("document,target,source", "d1,yes we can,ja wir können", "'source' and 'target'"),  # repeated sentences
        ("title,Source,Target", "A title that is long,Otter {0},otter {0}", "'Source' and 'Target'"),
        ("text,target,source", "the otter swims {0},1,web", "'text' and 'target'"),
        ("source,target,document", "web,animals,the otter swims {0}", "'document' and 'target'"),
        ("document,label,text", "d1,animals,the otter swims {0}", "'text' and 'label'"),
    ],
)
def test_a_source_and_its_target_are_a_pair_unless_the_targets_are_labels(written, header, row, columns):
    path = written("a.csv", "\n".join([header, *(row.format(number) for number in range(20))]))
    task = "translate" if "ource" in columns else "classify"
    assert infer_task([path]) == (task, f"a.csv has the columns {columns}")


@pytest.mark.parametrize(
    "name, content",
    [
        ("a.txt", "text\tlabel\n"),
        ("a.tsv", "text\tstars\n"),  # one known name is too little
        ("a.tsv", "input\tlabel\n"),
        ("a.tsv", "Call me Ishmael.\tSome years ago\n"),
        ("a.tsv", "text\treview\tsentence\tlabel y\n"),
        ("a.csv", 'text,"label\n'),
        ("a.csv", ""),
        ("a.jsonl", '{"text": "a"}'),
        ("a.jsonl", '["text", "label"]'),
        ("a.jsonl", "{text: label}"),
        ("a.jsonl", "[" * 60_000),
        ("a.json", '{\n "text": "a",\n "label": "b"\n}\n'),
        ("a.tsv", b"\xff\xfe\0t\0e"),
        ("a.tsv.gz", b"text\tlabel\n"),
        ("a.tsv.gz", gzip.compress(b"text\tlabel\n" * 9, mtime=0)[:-9]),
    ],
)
def test_nothing_is_guessed_where_there_is_a_doubt(written, name, content):
    assert infer_task([written(name, content)]) is None


def test_packed_tables(written):
    path = written("a.tsv.gz", gzip.compress(b"text\tlabel\n", mtime=0))
    assert infer_task([path]) == ("classify", "a.tsv.gz has the columns 'text' and 'label'")


def test_no_more_than_the_beginning_is_read(written, monkeypatch):
    long = json.dumps({"text": "x" * SAMPLE_BYTES, "label": "y"})
    assert infer_task([written("a.jsonl", long)]) is None
    short = json.dumps({"text": "x" * 1000, "label": "y"}) + "\n" + long
    assert infer_task([written("a.jsonl", short)]) is not None
    exact = json.dumps({"text": "", "label": "y"})
    exact = exact.replace('""', '"' + "x" * (SAMPLE_BYTES - len(exact)) + '"')
    assert len(exact) == SAMPLE_BYTES
    assert infer_task([written("a.jsonl", exact)]) is not None  # that is all of it


def test_named_columns_tell_more(written):
    path = written("a.tsv", "phrase\tStars\ten\tde\ttext\tlabel\n")
    assert infer_task([path], ("phrase", "stars")) == ("classify", "a.tsv has the columns 'phrase' and 'Stars'")
    assert infer_task([path], ("de", "en")) == ("translate", "a.tsv has the columns 'de' and 'en'")
    assert infer_task([path], ("text", "label")) == ("classify", "a.tsv has the columns 'text' and 'label'")
    assert infer_task([path], ("phrase", "nowhere")) is None


@pytest.mark.parametrize(
    "names, expected",
    [
        (["train.en", "train.de"], True),
        (["train.en.gz", "train.cs.gz"], True),
        (["news.2024.eng", "news.2024.deu"], True),
        (["a.src", "a.tgt"], True),
        (["en/train.en", "pl/train.pl"], True),
        (["train.en", "val.de"], False),
        (["train.en", "train.en.gz"], False),
        (["data.csv", "data.tsv"], False),
        (["a.py", "a.md"], False),
        (["a.txt", "a.log"], False),
        (["a.en", "a.de", "a.fr"], False),
        (["a.english", "a.german"], False),
        (["a", "b"], False),
    ],
)
def test_two_languages_are_known_by_their_endings(written, names, expected):
    guess = infer_task([written(name, "x\n") for name in names])
    assert (guess is not None) == expected
    if guess:
        first, second = (name.split("/")[-1] for name in names)
        assert guess == ("translate", f"{first} and {second} look like one text in two languages")


def test_several_files_must_agree(written):
    table, words, text = written("a.tsv", "text\tlabel\n"), written("a.conll", "x\n"), written("a.txt", "x\n")
    assert infer_task([table, written("b.csv", "label,text\n")]) == (
        "classify",
        "a.tsv has the columns 'text' and 'label'",
    )
    assert infer_task([table, words]) is None
    assert infer_task([words, text]) is None


@pytest.mark.parametrize("name", ["nowhere.tsv", "nowhere.conll", "-", "x" * 5000 + ".tsv", "a\0.tsv", ".", ""])
def test_what_is_not_there_is_not_guessed(name):
    assert infer_task([name]) is None
    assert infer_task([name + ".en", name + ".de"]) is None
    assert plain_text_note(["nowhere.en", "nothing.de"]) is None, "opening them says that they are not there"
    assert infer_task([]) is None


def test_a_pipe_is_left_alone(tmp_path):
    path = tmp_path / "a.tsv"
    os.mkfifo(path)
    assert infer_task([str(path)]) is None


def test_built_in_corpora_say_what_they_are_for(monkeypatch):
    for name in CORPORA:
        task = CORPORA.default_overrides(name).get("task.name")
        guess = infer_task([name])
        assert (guess and guess[0]) == task
    assert infer_task(["reverse"]) == ("translate", "the built-in corpus 'reverse' is made for it")
    assert infer_task(["toy-words"]) is None


@pytest.mark.parametrize(
    "name, content, kind, columns, words",
    [
        ("a.csv", "phrase,stars\nfine,5\n", "table", ("phrase", "stars"), "has the columns 'phrase', 'stars'"),
        ("a.tsv", "id\tnotes\tstars\n1\tfine\t5\n", "table", ("notes", "stars"), "the columns 'id', 'notes', 'stars'"),
        (
            "a.csv",
            "a fine film,5\nno film,1\n",
            "table",
            ("1", "2"),
            "looks like data, not like a header ('a fine film', '5')",
        ),
        (
            "a.tsv",
            "ham\tsee you\nspam\tbuy it\n",
            "table",
            ("2", "1"),
            "looks like data, not like a header ('ham', 'see you')",
        ),
        (
            "a.tsv",
            "Musen\tADJ\nPurheit\tNOUN\nlaufen\tVERB\nschön\tADJ\nHaus\tNOUN\nBaum\tNOUN\ngehen\tVERB\n",
            "table",
            ("1", "2"),
            "looks like data, not like a header ('Musen', 'ADJ'): columns are named by their numbers",
        ),
        (
            "a.csv",
            "form,ADJ\nWort eins,ADJ\nWort zwei,X\n" + "Wort drei,X\n" * 3,
            "table",
            ("form", "ADJ"),
            "columns 'form'",
        ),
        ("a.tsv", "0\ta fine film\tpos\n1\tno film\tneg\n", "table", ("2", "3"), "looks like data"),
        (
            "a.csv",
            '"0","0","a fine film"\n"4","1","bad"\n"0","2","no"\n',
            "table",
            ("3", "1"),
            "('0', '0', 'a fine film')",
        ),
        ("a.tsv", "g\t0\t\ta fine film\ng\t1\t*\tno film\n" * 4, "table", ("4", "2"), "looks like data"),
        ("a.csv", "n,Word,Tag\n1,Anna,B-per\n,met,O\n,Bob,B-per\n", "other", None, "a word on each row. Write the"),
        ("a.tsv", "1\tAnna\tB-per\tO\n2\tmet\tO\tO\n1\tBo\tB-per\tO\n", "other", None, "has span tags in '3'"),
        ("a.jsonl", '{\n "text": "a",\n "label": "b"\n}\n{\n', "other", None, "jq -c . "),
        ("a.csv", "text,text\na,b\n", "other", None, "several columns named 'text': rename all but one"),
        (
            "a.csv",
            "Issue key,Labels,Labels,Type,Details\n"
            + 'P-1,ui,,Bug,"it\nbroke, twice"\nP-2,,,Task,"do\nthis, now"\n' * 4,
            "table",
            ("Details", "Type"),
            "has the columns 'Issue key', 'Labels', 'Labels', 'Type', 'Details'",
        ),
        ("a.csv", "text\na\n", "other", None, "has only the column 'text'"),
        ("a.csv", 'text,"label\n', "other", None, "the first line of a.csv is no header"),
        ("a.jsonl", '{"body": "a", "stars": 5}\n', "table", ("body", "stars"), "has the keys 'body', 'stars'"),
        ("a.json", '[\n{"text": "a", "label": "b"}\n]\n', "other", None, "a.json > new.jsonl"),
        ("a.jsonl", '{"text": "' + "a" * 70_000 + '"}', "other", None, "has more than 65,536 bytes"),
        ("a.tsv", "cats\tNOUN\nrun\tVERB\n\ncats\tNOUN\nrun\tVERB\n", "tagged", None, "the last of them one of 2 tags"),
    ],
)
def test_a_table_that_does_not_tell_its_task_says_what_it_has(written, name, content, kind, columns, words):
    layout = unclear_layout([written(name, content)])
    assert layout is not None
    assert (layout.kind, layout.columns) == (kind, columns)
    assert words in layout.reason, layout.reason


def test_a_first_line_with_the_next_number_of_its_column_is_data(written):
    layout = unclear_layout([written("a.tsv", "".join(f"C{at}O\tmol{at}\n" for at in range(30)))])
    assert layout is not None and layout.pair == ("1", "2")
    assert "looks like data, not like a header ('C0O', 'mol0')" in layout.reason


def test_objects_within_json_lines_are_not_suggested_but_flattened(written):
    nested = {"id": 1, "content": {"text": "a", "lang": None}, "meta": {"label": False, "tags": ["x"]}}
    path = written("a.jsonl", json.dumps(nested) + "\n")
    layout = unclear_layout([path])
    assert layout is not None and (layout.kind, layout.columns) == ("other", None)
    assert ". 'content', 'meta': objects, no texts; to flatten them: jq -c '[paths(" in layout.reason
    for columns in ((), ("body", "stars")):  # a known name is not taken for a text either
        path_too = written("b.jsonl", json.dumps({"text": {"a": "b"}, "label": 1} | dict.fromkeys(columns, "c")))
        assert infer_task([path_too]) is None
        layout = unclear_layout([path_too])
        assert layout is not None and layout.columns == (("body", "label") if columns else None)
    if shutil.which("jq"):
        program = FLATTEN.removeprefix("jq -c ").strip("'")
        flat = subprocess.run(["jq", "-c", program, path], capture_output=True, check=True).stdout
        assert json.loads(flat) == {
            "id": 1,
            "content_text": "a",
            "content_lang": None,
            "meta_label": False,
            "meta_tags_0": "x",
        }


def test_a_license_is_no_translation(written):
    rows = "".join(f"a b {at}\tc d {at}\tCC-BY 2.0 (France) Attribution: #{at}\n" for at in range(9))
    layout = unclear_layout([written("a.txt", rows)])
    assert layout is not None and layout.pair == ("1", "2")


@pytest.mark.parametrize(
    "table",
    [
        {"text": {"0": "a", "1": "ü"}, "label": {"0": "x", "1": "y"}},
        {"text": ["a", "ü"], "label": ["x", "y"]},
        {"schema": {}, "data": [{"text": "a", "label": "x"}, {"text": "ü", "label": "y"}]},
        {"columns": ["text", "label"], "index": [0, 1], "data": [["a", "x"], ["ü", "y"]]},
    ],
)
@pytest.mark.parametrize("name", ["it's.json", "a.json.gz"])
def test_the_command_for_a_table_in_one_object_works(written, tmp_path, table, name):
    content = json.dumps(table)
    path = written(name, gzip.compress(content.encode()) if name.endswith(".gz") else content)
    layout = unclear_layout([path])
    assert layout is not None and layout.kind == "other" and "is one object with" in layout.reason
    command = layout.reason.rpartition("without it: python3")[2]
    subprocess.run(["sh", "-c", f"{sys.executable}{command}"], cwd=tmp_path, check=True)
    rows = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text().splitlines()]
    assert rows == [{"text": "a", "label": "x"}, {"text": "ü", "label": "y"}]


def test_tables_with_known_columns_are_not_unclear(written):
    assert unclear_layout([written("a.csv", "text,label\n")]) is None


def test_tagged_words_may_be_called_tsv(written):
    task = infer_task([written("a.tsv", "Ann\tB-PER\nran\tO\n\nBob\tB-PER\nran\tO\n")])
    assert task is not None and task.name == "tag"


@pytest.mark.parametrize("mark", ["-", "_"])
def test_a_table_with_a_word_and_its_span_tag_on_each_row_is_no_table_of_labels(written, mark):
    rows = "".join(f"word {at},{('O', f'B{mark}PER', f'I{mark}PER')[at % 3]}\n" for at in range(30))
    layout = unclear_layout([written("a.csv", f"token,entity\n{rows}")])
    assert layout is not None and layout.kind == "other" and "span tags in 'entity'" in layout.reason


def test_files_of_several_kinds_are_refused(written):
    layout = unclear_layout([written("a.csv", "text,label\n"), written("b.txt", "a running text\n")])
    assert layout is not None and "not of one kind, a.csv, b.txt" in layout.reason


def test_tables_in_a_folder_are_not_taken_for_text_in_silence(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\n")
    layout = unclear_layout([str(tmp_path)])
    assert layout is not None and "has only tables: name those to read, of a.csv" in layout.reason
    for name in ("_SUCCESS", ".a.csv.crc"):  # of Spark
        (tmp_path / name).write_bytes(b"crc" if name.startswith(".") else b"")
    assert unclear_layout([str(tmp_path)]) == layout
    (tmp_path / "b.txt").write_text("a running text\n")
    assert unclear_layout([str(tmp_path)]) is None


@pytest.mark.parametrize(
    "content, said",
    [
        (b"PK\x03\x04\x14\0\0", "is a zip archive, .*Unpack it"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "is an old file of Office .xls, .*as CSV"),
    ],
)
def test_a_workbook_is_recognized_whatever_its_name(written, content, said):
    path = written("a.csv", content)
    for read in (lambda: infer_task([path]), lambda: list(open_corpus([path]).blocks())):
        with pytest.raises(DataError, match=said):
            read()


def test_arrays_of_words_and_tags_are_not_suggested_but_converted(written, tmp_path):
    rows = [{"id": 1, "tokens": ["It's", "me"], "tags": ["O", "B-x"]}, {"id": 2, "tokens": ["Yes"], "tags": ["O"]}]
    path = written("it's.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    layout = unclear_layout([path])
    assert layout is not None and (layout.kind, layout.columns) == ("other", None)
    said, command = layout.reason.split("; to write a word and its tag on each line: ")
    assert said.endswith("'tokens', 'tags': arrays, no texts")
    if shutil.which("jq"):
        subprocess.run(command, shell=True, check=True, cwd=tmp_path)
        assert (tmp_path / "new.conll").read_text() == "It's\tO\nme\tB-x\n\nYes\tO\n\n"


def test_what_may_separate_fields_is_said_where_nothing_does(written):
    layout = unclear_layout([written("a.csv", "text:label\na:x\n")])
    assert layout is not None and layout.reason.endswith(
        ". Fields are separated by tabs, commas, semicolons or vertical bars"
    )


@pytest.mark.parametrize(
    "names, why", [(("a.en", "b.de"), "their names differ in more than the suffix"), (("a.en", "b.en"), "same suffix")]
)
def test_two_files_that_are_read_as_one_text_are_said_with_the_reason(written, names, why):
    note = plain_text_note([written(name, "x\n") for name in names])
    assert note is not None and note.startswith(f"{names[0]} and {names[1]}: read as one running text, since ")
    assert f"{why}. For pairs" in note


def test_labels_before_their_texts_are_known_by_their_mark(written):
    task = infer_task([written("a.txt", "__label__pos a good film\n__label__neg a bad one\n")])
    assert task is not None and task.name == "classify" and "as in fastText" in task.reason


def test_an_empty_table_is_said_to_be_empty(written):
    with pytest.raises(DataError, match="is empty"):
        unclear_layout([written("a.csv", "")])


def test_no_columns_are_suggested_that_no_row_has_both_of(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"{"text" if n % 3 else "content"}": "some words {n}"}}\n' for n in range(30)))
    layout = unclear_layout([str(path)])
    assert layout and layout.kind == "other" and not layout.columns
    assert layout.reason.startswith("a.jsonl has 'content', 'text', and no row has two of them. If each has its text")


def json_lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows * 10)


@pytest.mark.parametrize(
    ("rows", "column"),
    [
        ([{"text": f"a text {number}"} for number in range(9)], "text"),
        ([{"saying": f"a text {number}"} for number in range(9)], "saying"),
        ([{"user": "a", "msg": f"a message {number}"} for number in range(9)], "msg"),
    ],
)
def test_json_lines_are_read_as_running_text_by_the_command_that_is_named(written, rows, column):
    path = written("a.jsonl", json_lines(*rows))
    with pytest.raises(UsageError) as refused:
        settings_from_request(path, {}, {}, {})
    assert f"{path} --task language --set corpus.text_column={column}   # the texts of '{column}'" in str(refused.value)
    assert "cp " not in str(refused.value) and "as it is" not in str(refused.value)
    text = open_large(CorpusSettings(source=(path,), text_column=column))
    assert text.parts["train"].sources[0].column == column


def test_texts_under_several_keys_are_brought_under_one(written, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written("a.jsonl", json_lines({"text": "a"}, {"text": "b"}, {"content": "c"}))
    layout = unclear_layout(["a.jsonl"])
    assert layout is not None and not layout.is_text
    command = layout.reason.partition("under one of these: ")[2]
    if shutil.which("jq"):
        subprocess.run(["bash", "-c", command], check=True)
        rows = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text().splitlines()]
        assert rows == [{"text": letter} for letter in "abc"] * 10


def test_strings_on_the_lines_of_json_are_taken_out(written, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written("a.jsonl", json_lines("a string", "another"))
    layout = unclear_layout(["a.jsonl"])
    assert layout is not None
    command = layout.reason.partition("as running text: ")[2]
    if shutil.which("jq"):
        subprocess.run(["bash", "-c", command], check=True)
        assert (tmp_path / "new.txt").read_text() == "a string\nanother\n" * 10


@pytest.mark.parametrize("content", [json_lines("a string"), json.dumps([{"text": "a", "id": 1}] * 9, indent=1)])
def test_json_without_objects_on_its_lines_is_not_offered_as_it_is(written, content):
    path = written("a.jsonl", content)
    with pytest.raises(UsageError, match="jq ") as refused:
        settings_from_request(path, {}, {}, {})
    assert "--task language" not in str(refused.value)  # which refuses it


def test_null_texts_are_no_reason_not_to_offer_the_others(written):
    rows = [{"text": None if at % 5 == 0 else f"the text of row {at}", "id": at} for at in range(40)]
    path = written("a.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.raises(UsageError, match=r"--task language --set corpus\.text_column=text   #"):
        settings_from_request(path, {}, {}, {})


@pytest.mark.parametrize("broken", [{}, {"text": 3}])
def test_rows_without_a_text_are_offered_with_a_limit_that_skips_them(written, broken):
    rows = [{"id": at, **(broken if at % 5 == 0 else {"text": f"the text of row {at}"})} for at in range(40)]
    path = written("a.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.raises(UsageError) as refused:
        settings_from_request(path, {}, {}, {})
    assert "8 of the first 40 rows have no text under 'text'" in str(refused.value)
    assert "--task language --set corpus.text_column=text --set corpus.skip_limit=" in str(refused.value)


def test_of_labeled_json_lines_another_task_reads_the_texts(written):
    said: list[str] = []
    rows = {"text": "a film", "label": "good"}, {"text": "a bore", "label": "bad"}
    settings_from_request(written("a.jsonl", json_lines(*rows)), {}, {}, {}, log=said.append)
    assert said[0].endswith("the task is classify (--task language reads the texts of one key)")


def test_why_the_task_is_what_it_is_stands_beside_what_it_refuses(written):
    path = written("a.txt", "__label__a some text\n__label__b more of it\n" * 10)
    with pytest.raises(UsageError, match=r"--window .* does not apply to --task classify.* begin with __label__"):
        settings_from_request(path, {}, {}, {"window": 32})


def test_two_files_with_languages_as_suffixes_may_be_parallel_whatever_their_lines_end_in(written, tmp_path):
    lines = "".join(f"der film {at} ist rot\n" + "\n" * (at == 5) for at in range(30))
    sources = [written("a.en", lines), written("b.de", lines)]
    with pytest.raises(UsageError, match="--task translate   #") as asked:
        settings_from_request(sources, {}, {}, {})
    assert "--task tag" in str(asked.value) and "--task language" in str(asked.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"SQLite format 3\0\x10\0\x01\r\x01\0@  \0\0", "a database of SQLite.* sqlite3 -header -csv"),
        (b"\x01\x02\0\r\x03\0 data\0\r\n" * 20, "a NUL character"),
    ],
)
def test_a_binary_file_is_not_offered_as_text(written, content, said):
    with pytest.raises(DataError, match=said):
        list(open_corpus(settings_from_request(written("a.csv", content), {}, {}, {}).corpus.source).blocks())


def test_a_column_that_is_there_twice_is_not_passed_over_for_another(written):
    path = written(
        "a.csv", "id,text,text,label\n" + "".join(f"{at},a film {at},so,{'ab'[at % 2]}\n" for at in range(20))
    )
    layout = unclear_layout([str(path)])
    assert layout is not None and layout.reason == "a.csv has several columns named 'text': rename all but one"


def test_of_several_arrays_the_tags_are_written_and_the_others_named(written):
    rows = [{"words": ["Bob", "is"], "tags": ["B-PER", "O"], "pos": ["NN", "V"]}] * 10
    layout = unclear_layout([written("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))])
    assert layout is not None and '.["words", "tags"]' in layout.reason
    assert "a word and its tag of 'tags', or of 'pos' instead, on each line" in layout.reason


def test_a_table_with_markup_in_its_cells_is_a_table(write) -> None:
    """As Anki writes notes in plain text."""
    head = "#separator:tab\n#html:true\n#tags column:3\n"
    rows = "".join(f"<b>{('cat', 'dog', 'tree')[at % 3]}</b> {at}\tdie Katze {at}<br>\tverb\n" for at in range(99))
    layout = unclear_layout([str(write("notes.txt", head + rows))])
    assert layout and (layout.kind, layout.pair) == ("table", ("1", "2"))
    assert layout.reason.endswith("fields separated by tabs, and tags of HTML or XML, which stay in the texts")
    page = unclear_layout([str(write("page.txt", "<html><p>a\tb</p>\n" + "<p>a</p>\t<p>b</p>\n" * 30))])
    assert page and page.kind == "other" and "pandoc" in page.reason


@pytest.mark.parametrize("last", ["smiles", "CCO(N)=C1 of a kind"])
def test_numbers_below_a_name_show_that_the_first_line_is_a_header(written, last: str) -> None:
    """Of one word or several: no column has labels, or a value like its name."""
    rows = "".join(f"Compound {at},{-0.37 * at:.3f},C{'cO' * at}N\n" for at in range(1, 30))
    layout = unclear_layout(
        [written("a.csv", f"Compound ID,ESOL predicted log solubility in mols per litre,{last}\n{rows}")]
    )
    assert layout is not None and "a.csv has the columns 'Compound ID'" in layout.reason
    layout = unclear_layout([written("a.csv", f"Compound 0,-0.370,{last}\n{rows}")])
    assert layout is not None and "looks like data" in layout.reason


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.abc", "X:1\nT:Tune\nK:G\n" + "GABc dedB|dedB dedB|c2ec B2dB|\n" * 80, "is no header for them"),
        ("a.txt", 'one"|"two\n' + "a film|good\na play|bad\n" * 40, "is no header for them"),
        ("a.txt", "My films\ntext|label\n" + "a film|good\na play|bad\n" * 40, "line 2 of a.txt looks like the header"),
    ],
)
def test_a_task_whose_reader_refuses_the_first_line_is_not_offered(written, name, content, said):
    with pytest.raises(UsageError, match="To read it as it is:") as refused:
        settings_from_request(written(name, content), {}, {}, {})
    assert said in str(refused.value)
    assert str(refused.value).count("--task") == 1 and "--task language" in str(refused.value)


def test_an_array_in_one_row_does_not_hide_a_column(written):
    rows = [{"text": f"a rather long text of row {at}", "label": "ab"[at % 2]} for at in range(40)]
    rows += [{"Text": "another", "label": "a"}, {"text": ["a", "b"], "label": "b"}]
    layout = unclear_layout([written("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))])
    assert layout is not None and layout.columns == ("text", "label")


def test_a_header_that_cannot_be_decoded_is_refused_for_its_encoding(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("текст;метка\nнасос протекает;течь\n".encode("cp1251") * 9)
    with pytest.raises(DataError, match=r"a\.csv', line 1, offset 0: byte 0xf2 is not UTF-8.*iconv"):
        unclear_layout([str(path)])
