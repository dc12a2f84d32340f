"""Files as documents: what is a title, what is empty or equal, which columns are read, and why a file is left out."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.data.documents.collection import read_queries
from seqlab.data.documents.document import Document, Query
from seqlab.data.documents.fixes import DocumentFixes
from seqlab.data.documents.read import read_documents
from seqlab.data.documents.text_files import text_document
from seqlab.errors import DataError


def read(*sources: Path, **options) -> tuple[list[Document], list[str]]:
    fixes = DocumentFixes()
    return list(read_documents(sources, fixes, **options)), fixes.notes()


def test_equal_files_are_said_whatever_their_names(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.txt").write_text("the otter swims" if name != "c" else "the dog ran")
    for name in ("d", "e"):
        (tmp_path / f"{name}.md").write_text(f"# Heading {name}\n\nthe same below")
    found, notes = read(tmp_path)
    folder = tmp_path.as_posix()
    assert len(found) == 5 and len(notes) == 1
    assert notes[0].startswith("1 document equal to an earlier one, such as") and f"{folder}/"[:20] in notes[0]


@pytest.mark.parametrize(("name", "content"), [("a.txt", " \n\t\n"), ("a.html", "<p> </p>"), ("a.jsonl", "\n\n")])
def test_blank_files_are_empty(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    (tmp_path / "b.txt").write_text("the otter swims")
    found, notes = read(tmp_path)
    assert [Path(one.id).name for one in found] == ["b.txt"] and notes == [f"left out 1 file (empty): {name}"]
    with pytest.raises(DataError, match="is empty"):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "title", "rest"),
    [
        (
            "---\ntitle: The otter\ntags: [sea]\n---\n\n# Swimming\n\nWell.",
            "The otter",
            "tags: [sea]\n# Swimming\n\nWell.",
        ),
        ('---\ntitle: "The: otter"\n---\nIt swims.', "The: otter", "It swims."),
        (
            "---\ndate: 2024-01-01\ntags:\n  - a\n- b\n---\n# The otter\n\nIt.",
            "The otter",
            "date: 2024-01-01\ntags:\n  - a\n- b\nIt.",
        ),
        ("---\ndate: 1\n---\nIt swims.", "a.md", "date: 1\nIt swims."),
        ("---\nThe otter\n---\nIt swims.", "The otter", "It swims."),  # lines around a heading
        ("---\ntitle: no end\nIt swims.", "title: no end", "It swims."),
    ],
)
def test_front_matter_is_not_the_title(text: str, title: str, rest: str) -> None:
    assert text_document("notes/a.md", text) == Document("notes/a.md", rest, title)


@given(st.text(alphabet='-a: \n#.t"', max_size=60))
def test_no_word_of_a_text_is_lost(text: str) -> None:
    """Whatever looks like front matter: every letter is in the title or in the text."""
    document = text_document("A", f"---\ntitle: t\n{text}")
    whole = f"title: t\n{text}"
    kept = f"{document.title}{document.text}"
    assert kept.count("a") == whole.count("a")


def test_a_file_that_two_sources_have_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ch").mkdir()
    for name in ("a", "b"):
        Path(f"ch/{name}.txt").write_text(f"the text of {name}")
    found, notes = read(Path("ch"), Path("./ch/../ch/a.txt"))
    assert [one.id for one in found] == ["ch/a.txt", "ch/b.txt"]
    assert notes == ["read 1 file once that is named twice: a.txt"]


def test_rows_that_are_numbered_alike_say_how_to_go_on(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"id,text\n1,one {name}\n")
    with pytest.raises(DataError, match=r"1 of the 1 document .* no other is left: .* a column of ids") as caught:
        read(tmp_path)
    assert "at most" not in str(caught.value)


def test_a_column_is_read_where_a_folder_has_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,words\n1,the otter\n")
    (tmp_path / "b.csv").write_text("id,text\n2,the dog\n")
    found, notes = read(tmp_path, columns={"text": "words"})
    assert [one.text for one in found] == ["the otter", "the dog"]
    assert notes == ["no column 'words' in b.csv: read by the usual columns"]
    with pytest.raises(DataError, match=r"no table in .* has a column 'wrds'"):
        read(tmp_path, columns={"text": "wrds"})
    with pytest.raises(DataError, match="no column 'words'"):  # of a file that is named itself
        read(tmp_path / "b.csv", columns={"text": "words"})


def test_every_file_that_is_left_out_has_its_own_reason(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b\n1;2\n")
    with pytest.raises(DataError, match=r"--column text=NAME") as caught:
        read(tmp_path)
    assert "T.csv" not in str(caught.value)
    (tmp_path / "cut.ipynb").write_text('{"cells": [{"source": "x"')
    old = {"worksheets": [{"cells": [{"source": ["# Otters"]}, {"input": ["swim()"], "outputs": [{}]}]}], "nbformat": 3}
    (tmp_path / "old.ipynb").write_text(json.dumps(old))
    found, notes = read(tmp_path)
    assert [(one.title, one.text) for one in found] == [("Otters", "swim()")]
    joined = " ".join(notes)
    assert "(a table without a column of texts; --column text=NAME names one): t.csv" in joined
    assert "(a notebook that is cut off or damaged): cut.ipynb" in joined and "outputs of 1 notebook cell" in joined


def test_queries_are_not_told_to_name_a_column(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("id,asked\n1,who swims\n")
    with pytest.raises(DataError, match=r"'id', 'asked'\. Rename the column of the queries to text") as caught:
        read_queries(path)
    assert "--column" not in str(caught.value)


@pytest.mark.parametrize(
    ("empty", "note"),
    [
        ({1, 3}, "2 of 4 documents have no text: their title is read as the text (such as '1')"),
        ({2}, "1 of 4 documents has no text: its title is read as the text ('2')"),
    ],
)
def test_a_title_that_is_read_as_the_text_is_said(tmp_path: Path, empty: set[int], note: str) -> None:
    rows = [f"{row},Otter {row},{' ' if row in empty else f'It swims {row}.'}\n" for row in range(4)]
    (tmp_path / "t.csv").write_text("id,title,text\n" + "".join(rows))
    found, notes = read(tmp_path / "t.csv")
    assert notes == [note]
    assert [one for one in found if int(one.id) in empty] == [Document(str(row), f"Otter {row}") for row in empty]


def test_a_page_with_nothing_but_a_title_is_read_like_such_a_row(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<title>Otters</title><p>They swim.</p>")
    (tmp_path / "b.html").write_text("<title>Dogs</title><p> </p>")
    found, notes = read(tmp_path)
    assert [(one.title, one.text) for one in found] == [("Otters", "They swim."), ("", "Dogs")]
    assert len(notes) == 1 and notes[0].startswith("1 of 2 documents has no text: its title is read as the text")


@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_of_documents_is_said_with_the_command(tmp_path: Path, indent: int | None) -> None:
    rows = [{"id": number, "text": f"penguin {number}"} for number in range(3)]
    path = tmp_path / "arr.json"
    path.write_text(json.dumps(rows, indent=indent))
    with pytest.raises(DataError, match="is one array with a table by rows, not an object per line") as refused:
        read(path)
    command = str(refused.value).partition("to convert an array: ")[2]
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    assert len(read(tmp_path / "new.jsonl")[0]) == 3
    assert "--column" not in str(refused.value)


def test_arrays_in_a_folder_are_left_out_for_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The otter swims.")
    for name in ("b.json", "c.json"):
        (tmp_path / name).write_text('[{"id": 1, "text": "penguin"}, {"id": 2, "text": "seal"}]')
    kind = "one array with a table by rows, not an object per line"
    command = "to convert an array: jq -c '.[]' FILE > new.jsonl"
    assert read(tmp_path)[1] == [f"left out 2 files ({kind}; {command}): b.json, c.json"]


def test_documents_that_look_like_something_else_are_said(tmp_path: Path) -> None:
    cues = "".join(f"{n}\n00:00:{n},100 --> 00:00:{n},900\nThe old man walked.\n\n" for n in range(10, 30))
    (tmp_path / "a.srt").write_text(cues)
    (tmp_path / "b.md").write_text("# Animals\n\n" + "| a | b |\n|---|---|\n" + "| otter | seal |\n" * 9)
    (note,) = read(tmp_path)[1]
    assert note.startswith("read a.srt as running text, but it looks like subtitles, with time codes. To keep what is")


def test_ids_of_mongodb_are_those_within_their_objects(tmp_path: Path) -> None:
    ids = [{"$oid": f"5f{number}"} for number in range(5)]
    rows = [
        {"_id": one, "text": f"the otter {number} swims"} for number, one in enumerate([*ids, {"$numberLong": "7"}])
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found, notes = read(path)
    assert [one.id for one in found] == ["5f0", "5f1", "5f2", "5f3", "5f4", "7"]
    assert notes == ["ids of 6 rows read from within objects, at '$oid', '$numberLong', in a.jsonl"]
    assert [query.id for query in read_queries(path)][:2] == ["5f0", "5f1"]
    path.write_text("".join(json.dumps({"_id": {"n": number}, "text": "the otter"}) + "\n" for number in range(5)))
    with pytest.raises(DataError, match="line 1: '_id' is an object, expected a text"):
        read(path)


STARTS = ["1\n", "WEBVTT\n\n", "WEBVTT - a talk\nKind: captions\n\nNOTE made by hand\n\n", "\n\n1\n", ""]


@pytest.mark.parametrize("start", STARTS)
def test_subtitles_have_the_name_of_their_file_as_title(tmp_path: Path, start: str) -> None:
    text = f"{start}00:00:01,000 --> 00:00:02,500\nthe otter swims\n\n2\n00:00:03,000 --> 00:00:04,500\nwell\n"
    (tmp_path / "a.srt").write_text(text)
    [document], _ = read(tmp_path / "a.srt")
    assert document.title == "a.srt" and document.text == text.strip("\n")


@pytest.mark.parametrize(("header", "read"), [
    ("Key,Item Type,Title,Url,Abstract Note", "title and abstract"),
    ("KEY,TYPE,TITLE,URL,Abstract", "title and abstract"),
    ("key,type,Title,url,abstractNote", "title and abstract"),
    ("Id,type,Title,url,text", "all"),
    ("DOC ID,type,Name,url,Text", "all"),
])  # fmt: skip
def test_known_columns_are_known_in_any_case_and_form(tmp_path: Path, header: str, read: str) -> None:
    (tmp_path / "a.csv").write_text(f"{header}\nk1,book,Otters,http://a.b,They swim.\n", encoding="utf-8")
    (document,) = read_documents([tmp_path / "a.csv"])
    assert (document.title, document.text) == ("Otters", "They swim.")
    assert (document.id == "k1") == (read == "all")


def test_a_column_of_exactly_the_known_name_is_read_before_others(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Text,ID,text,id\nA,1,They swim.,k1\n", encoding="utf-8")
    (document,) = read_documents([tmp_path / "a.csv"])
    assert (document.id, document.text) == ("k1", "They swim.")


@pytest.mark.parametrize("header", ["qid\tquery", "query_id\ttext", "Query ID\tQuestion", "id\tquery", "_id\ttext"])
def test_columns_of_queries_have_names_of_their_own(tmp_path: Path, header: str) -> None:
    (tmp_path / "queries.tsv").write_text(f"{header}\nq7\twho swims?\nq8\twho barks?\n", encoding="utf-8")
    fixes = DocumentFixes()
    assert read_queries(tmp_path / "queries.tsv", fixes) == [Query("q7", "who swims?"), Query("q8", "who barks?")]
    assert fixes.notes() == []


@pytest.mark.parametrize(
    ("header", "row", "unread"),
    [
        ("id\tquery\ttext", "q7\twho swims?\tFind one.", "column 'text' of q.tsv not read"),
        ("text\tTitle\tid\tQuery", "Find one.\tOtters\tq7\twho swims?", "columns 'text', 'Title' of q.tsv not read"),
        ("_id\ttitle\ttext", "q7\tOtters\twho swims?", "column 'title' of q.tsv not read"),
        ("id\tqid\tquestion\tanswer", "1\tq7\twho swims?\totters", "columns 'id', 'answer' of q.tsv not read"),
        ("_id\ttext\tmetadata\tsplit", "q7\twho swims?\t{}\ttrain", ""),
    ],
)
def test_a_query_is_read_before_other_texts_and_what_is_not_read_is_said(
    tmp_path: Path, header: str, row: str, unread: str
) -> None:
    (tmp_path / "q.tsv").write_text(f"{header}\n{row}\n", encoding="utf-8")
    fixes = DocumentFixes()
    assert read_queries(tmp_path / "q.tsv", fixes) == [Query("q7", "who swims?")]
    assert fixes.notes() == ([unread] if unread else [])


def test_a_query_without_a_text_is_not_asked_by_its_title(tmp_path: Path) -> None:
    rows = [{"_id": f"{number}", "title": "Otters", "text": "who swims?" if number else ""} for number in range(20)]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    fixes = DocumentFixes()
    assert len(read_queries(tmp_path / "q.jsonl", fixes)) == 19
    (note,) = [note for note in fixes.notes() if "title" not in note]
    assert note == f"skipped 1 of the 20 queries of '{tmp_path / 'q.jsonl'}' (line 1: it has no text)"


@pytest.mark.parametrize("name", ["topics.xml", "queries.txt", "."])
def test_queries_are_rows(tmp_path: Path, name: str) -> None:
    if name != ".":
        (tmp_path / name).write_text("<top><num>1</num><title>who swims?</title></top>\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"is no table of queries: expected \.tsv, \.csv, \.jsonl"):
        read_queries(tmp_path / name)


def test_a_known_name_in_another_form_comes_before_the_next_name(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("content,Text,name,Title\nshort,They swim.,a.b,Otters\n", encoding="utf-8")
    (document,) = read_documents([tmp_path / "a.csv"])
    assert (document.title, document.text) == ("Otters", "They swim.")


@pytest.mark.parametrize(("header", "columns", "name"), [
    ("id,title,text,text", None, "text"),
    ("id,id,title,text", None, "id"),
    ("id,text,Comment,Comment", {"text": "Comment"}, "Comment"),
])  # fmt: skip
def test_a_column_of_documents_named_twice_is_refused(
    tmp_path: Path, header: str, columns: dict[str, str] | None, name: str
) -> None:
    (tmp_path / "a.csv").write_text(f"{header}\nk1,k2,otter,seal\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("The otter swims.", encoding="utf-8")
    with pytest.raises(DataError, match=rf"a\.csv': 2 columns are named '{name}'. Rename all but one"):
        read(tmp_path / "a.csv", columns=columns)
    if columns is None:
        assert read(tmp_path)[1] == [f"left out 1 file (2 columns are named '{name}'): a.csv"]


def test_columns_named_twice_that_are_not_read_are_no_fault(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text,Comment,Comment\nk1,They swim.,yes,no\n", encoding="utf-8")
    documents, notes = read(tmp_path / "a.csv")
    assert documents == [Document("k1", "They swim.")]
    assert notes == ["columns 'Comment', 'Comment' of a.csv not read (--column text=NAME reads another)"]


def test_keys_of_documents_that_are_repeated_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "1", "text": "otter", "text": "seal"}\n', encoding="utf-8")
    documents, notes = read(tmp_path / "a.jsonl")
    assert documents == [Document("1", "seal")]
    assert notes == ["keys that an object of a.jsonl has twice: 1 ('text'); the last counts"]


def test_texts_of_rows_that_are_none_or_have_tags_are_said(tmp_path: Path) -> None:
    texts = ["NULL", "<p class='a'>zebra &amp; yak</p><br/>", "write to <otter@x.org> if a < b", "$\\theta$ and $\\nu$"]
    rows = [{"_id": f"{number}", "title": f"t{number}", "text": text} for number, text in enumerate(texts)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert read(tmp_path / "a.jsonl")[1] == [
        "1 of the 4 texts has tags or entities, such as '<p class='a'>' (1), '&amp;' (1), '</p>' (1): they are read "
        "as part of the text",
        "1 text may stand for a missing one, 'NULL' (1). Delete such rows if so",
    ]


def test_ids_of_queries_are_none_of_documents(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("qid\ttext\nq7\tThey swim.\nq7\tThey bark.\n", encoding="utf-8")
    assert len({document.id for document in read_documents([tmp_path / "a.tsv"])}) == 2
