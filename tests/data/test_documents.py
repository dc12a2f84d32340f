"""Documents: what is read from files, what is skipped and said, and how long ones become passages."""

import gzip
import json
from base64 import encodebytes
from email.message import EmailMessage
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from seqlab.config import CorpusSettings
from seqlab.data.documents.document import Document
from seqlab.data.documents.fixes import DocumentFixes
from seqlab.data.documents.open_pairs import open_retrieval, open_unsplit
from seqlab.data.documents.passages import passages
from seqlab.data.documents.read import read_documents
from seqlab.data.documents.text_files import text_document
from seqlab.errors import DataError, MissingInput, UsageError


def test_the_title_is_searched_with_the_text() -> None:
    assert Document("1", "It swims.", "The otter").with_title == "The otter\nIt swims."
    assert Document("1", "It swims.").with_title == "It swims."


@pytest.mark.parametrize(
    ("text", "title", "rest"),
    [
        ("# The otter\n\nIt swims.\n", "The otter", "It swims."),
        ("\n## The otter ##\nIt swims.", "The otter", "It swims."),
        ("The otter\n=========\n\nIt swims.", "The otter", "It swims."),
        ("*********\nThe otter\n*********\n\nIt swims.", "The otter", "It swims."),
        ("The otter\n\nIt swims.", "The otter", "It swims."),
        ("It swims.", "a.md", "It swims."),
        (f"{'long ' * 30}\nIt swims.", "a.md", f"{'long ' * 30}\nIt swims."),
    ],
)
def test_titles_of_text_files(text: str, title: str, rest: str) -> None:
    assert text_document("notes/a.md", text) == Document("notes/a.md", rest, title)


def test_a_folder_of_files(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.md").write_text("# Two\n\nsecond", encoding="utf-8")
    (tmp_path / "one.txt").write_bytes("One\n\nun petit café très chaud".encode("cp1252"))
    (tmp_path / "rows.jsonl").write_text('{"_id": "x", "title": "T", "text": "third"}\n{"text": "fourth"}\n')
    with gzip.open(tmp_path / "table.tsv.gz", "wt") as stream:
        stream.write("id\ttext\n7\tfifth\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    (tmp_path / "nothing.txt").write_bytes(b"")
    fixes = DocumentFixes()
    found = list(read_documents([tmp_path], fixes))
    folder = tmp_path.as_posix()
    assert found == [
        Document(f"{folder}/b/two.md", "second", "Two"),
        Document(f"{folder}/one.txt", "un petit café très chaud", "One"),
        Document("x", "third", "T"),
        Document(f"{folder}/rows.jsonl:2", "fourth"),
        Document("7", "fifth"),
    ]
    notes = " ".join(fixes.notes())
    assert "picture.png" in notes and "nothing.txt" in notes and "Windows-1252" in notes


def test_a_folder_in_the_layout_of_beir_is_its_corpus(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "1", "title": "", "text": "a"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "no document"}\n')
    fixes = DocumentFixes()
    assert list(read_documents([tmp_path], fixes)) == [Document("1", "a")]
    assert "nothing else of the folder" in fixes.notes()[0]


def test_unreadable_files_are_named_and_skipped_up_to_a_limit(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"{number}.txt").write_text(f"text {number}\n\nmore")
    (tmp_path / "broken.txt.gz").write_bytes(b"\x1f\x8b\x08 and no more")
    fixes = DocumentFixes()
    assert len(list(read_documents([tmp_path], fixes))) == 12
    assert "skipped 1 file that cannot be read (broken.txt.gz: a damaged .gz file)" in fixes.notes()
    for number in range(2):
        (tmp_path / f"broken-{number}.txt.gz").write_bytes(b"\x1f\x8b\x08 and no more")
    with pytest.raises(DataError, match=r"3 of the 15 files .* at most 2 may be skipped"):
        list(read_documents([tmp_path]))


def test_broken_rows_and_ids_that_repeat(tmp_path: Path) -> None:
    rows = [json.dumps({"id": number, "text": f"text {number}"}) for number in range(30)]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join([*rows, '{"id": 3, "text": "again"}', "{broken", '{"id": 99}']))
    fixes = DocumentFixes()
    assert [document.id for document in read_documents([path], fixes)] == [str(number) for number in range(30)]
    note = fixes.notes()[0]
    assert "skipped 3 of the 33 documents" in note and "'3'" in note and "line 32" in note and "no text" in note
    path.write_text("\n".join([*rows[:10], "{broken", "{broken"]))
    with pytest.raises(DataError, match=r"2 of the 12 documents .* at most 1 may be skipped"):
        list(read_documents([path], DocumentFixes(skip_limit=0.05)))


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('key,head,words\n1,Otter,"It swims, well."\n')
    with pytest.raises(DataError, match="--column text=NAME"):
        list(read_documents([path]))
    columns = {"id": "key", "title": "head", "text": "words"}
    assert list(read_documents([path], columns=columns)) == [Document("1", "It swims, well.", "Otter")]
    with pytest.raises(DataError, match="no column 'body'"):
        list(read_documents([path], columns={"text": "body"}))
    with pytest.raises(UsageError, match="no 'author'"):
        list(read_documents([path], columns={"author": "key"}))


def test_nothing_to_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no document in"):
        list(read_documents([tmp_path]))
    (tmp_path / "a.txt").write_bytes(b"")
    with pytest.raises(DataError, match=r"no document in .* \(empty\): a.txt"):
        list(read_documents([tmp_path]))
    with pytest.raises(DataError, match="is empty"):
        list(read_documents([tmp_path / "a.txt"]))
    with pytest.raises(MissingInput, match="no file or folder"):
        list(read_documents([tmp_path / "gone"]))


@pytest.mark.parametrize(("length", "overlap"), [(40, 10), (40, 0), (7, 6), (2, 1), (1, 0)])
def test_passages_cover_a_text_and_overlap(length: int, overlap: int) -> None:
    text = " ".join(f"word{number}" for number in range(60)) + " " + "x" * 100
    spans = list(passages(Document("1", text), length, overlap))
    assert spans[0].start == 0 and spans[-1].end == len(text)
    for before, after in pairwise(spans):
        assert before.start < after.start <= before.end <= after.end
        assert before.end - after.start <= overlap
    assert all(span.text == text[span.start : span.end] and len(span.text) <= length for span in spans)


def test_passages_are_cut_at_whitespace() -> None:
    text = " ".join(f"word{number}" for number in range(60))
    spans = list(passages(Document("1", text, "T"), 60, 20))
    assert all(span.text.split()[0].startswith("word") and span.text.split()[-1] in text.split() for span in spans)
    assert any(after.start < before.end for before, after in pairwise(spans))
    assert spans[1].with_title == f"T\n{spans[1].text}"
    with pytest.raises(UsageError, match="cannot overlap"):
        list(passages(Document("1", text), 10, 10))


def test_pages_and_notebooks_are_read_without_their_markup(tmp_path: Path) -> None:
    page = """<!DOCTYPE html><html><head><title>The &amp; otter</title><style>p { color: red }</style></head>
    <body><h1>Otters</h1><script>let x = "<p>no</p>";</script><p>It <b>swims</b>
    well.</p><svg><title>a chart</title><text>5</text></svg><ul><li>fish<li>crabs</ul>
    <pre>a = 1\nb = 2</pre></body></html>"""
    (tmp_path / "a.html").write_text(page)
    cells = [{"source": ["# Seals\n", "\n", "They swim."]}, {"source": "print(1)", "outputs": [{"text": "no"}]}]
    (tmp_path / "b.ipynb").write_text(json.dumps({"cells": cells}))
    (tmp_path / "c.ipynb").write_text("{}")
    (tmp_path / "package.json").write_text('{\n  "name": "x"\n}\n')
    (tmp_path / "numbers.csv").write_text("a,b\n1,2\n")
    fixes = DocumentFixes()
    found = {Path(document.id).name: (document.title, document.text) for document in read_documents([tmp_path], fixes)}
    assert found == {
        "a.html": ("The & otter", "Otters\nIt swims well.\nfish\ncrabs\na = 1\nb = 2"),
        "b.ipynb": ("Seals", "They swim.\n\nprint(1)"),
    }
    assert fixes.notes() == [
        "left out 1 file (a notebook without cells): c.ipynb",
        "left out 2 files (a table without a column of texts; --column text=NAME names one): numbers.csv, package.json",
        "outputs of 1 notebook cell not read, in b.ipynb",
    ]
    with pytest.raises(DataError, match="no notebook"):
        list(read_documents([tmp_path / "c.ipynb"]))


def test_equal_ids_name_the_other_file_and_line(tmp_path: Path) -> None:
    for name in ("a", "b"):
        rows = [f"{name}{number},text {name} {number}" for number in range(20)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,text", *rows, "same,one more"]))
    fixes = DocumentFixes()
    assert len(list(read_documents([tmp_path / "a.csv", tmp_path / "b.csv"], fixes))) == 41
    assert f"line 22: the id 'same' is that of line 22 of '{tmp_path / 'a.csv'}', too" in " ".join(fixes.notes())


def test_what_is_not_searched_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text,author,year\n1,otters swim,Ann,1999\n2,seals swim,Bob,2000\n")
    (tmp_path / "b.jsonl").write_text('{"_id": "3", "text": "otters swim", "metadata": {}}\n')
    (tmp_path / "c.txt").write_text("an attachment\n\n" + encodebytes(bytes(range(256))).decode())
    fixes = DocumentFixes()
    assert len(list(read_documents([tmp_path], fixes))) == 4
    assert fixes.notes() == [
        "columns 'author', 'year' of a.csv not read (--column text=NAME reads another)",
        "lines of base64, as of attachments, read as words in 1 file: c.txt",
        "1 document equal to an earlier one, such as '3' and '1': all are kept",
    ]


def test_the_id_of_each_row_is_the_first_that_it_has(tmp_path: Path) -> None:
    rows = [{"id": f"A{number}", "text": f"otter {number}"} for number in range(11)]
    rows += [{"_id": "A11", "id": "other", "text": "seal"}, {"_id": "", "doc_id": "A12", "text": "fish"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    fixes = DocumentFixes()
    assert [document.id for document in read_documents([tmp_path / "a.jsonl"], fixes)] == [f"A{n}" for n in range(13)]
    assert fixes.notes() == []
    (tmp_path / "b.csv").write_text("id,doc_id,text\n1,7,otter\n2,7,seal\n")
    assert [document.id for document in read_documents([tmp_path / "b.csv"], fixes)] == ["1", "2"]
    assert fixes.notes() == ["column 'doc_id' of b.csv not read (--column text=NAME reads another)"]


def test_rows_without_an_id_among_others_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "1", "text": "otter"}\n{"text": "seal"}\n{"id": null, "text": "fish"}\n')
    (tmp_path / "b.jsonl").write_text('{"text": "whale"}\n{"text": "shark"}\n')  # as usual: nothing to say
    fixes = DocumentFixes()
    found = [document.id for document in read_documents([path, tmp_path / "b.jsonl"], fixes)]
    assert found[:3] == ["1", f"{path.as_posix()}:2", f"{path.as_posix()}:3"]
    assert fixes.notes() == ["2 rows without an id named by file and line, in a.jsonl, whose other rows have one"]


@pytest.mark.parametrize("line", ["ACGTacgtnn" * 6, "MKVLAAGIVG" * 6, "acgtacgtac" * 6, "0123456789abcdef" * 4])
def test_sequences_of_letters_are_no_base64(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.fa").write_text(">one\n" + f"{line}\n" * 9 + ">two\n" + f"{line}\n" * 9)
    fixes = DocumentFixes()
    assert len(list(read_documents([tmp_path], fixes))) == 1
    assert not any("base64" in note for note in fixes.notes())


@pytest.mark.parametrize("name", ["a.eml", "a.mbox"])
def test_base64_within_the_text_of_a_mail_is_said(tmp_path: Path, name: str) -> None:
    body = "as forwarded:\n\n" + encodebytes(bytes(range(256))).decode()
    (tmp_path / name).write_text(f"From ann@x.org Mon Jan  1 10:00:00 2024\nSubject: otters\n\n{body}\n")
    fixes = DocumentFixes()
    assert len(list(read_documents([tmp_path], fixes))) == 1
    assert f"lines of base64, as of attachments, read as words in 1 file: {name}" in fixes.notes()


def test_mails_are_decoded(tmp_path: Path) -> None:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = "Der Fischotter schläft", "Ann <ann@x.org>", "bob@x.org"
    mail.set_content("Grüße vom Otter\n" * 3, cte="base64")
    mail.add_attachment(b"\x00\x01" * 500, maintype="application", subtype="zip", filename="a.zip")
    (tmp_path / "a.eml").write_bytes(bytes(mail))
    page = EmailMessage()
    page["From"] = "ann@x.org"
    page.set_content("<p>an <b>otter</b></p>", subtype="html")
    (tmp_path / "b.eml").write_bytes(bytes(page))
    (tmp_path / "c.eml").write_text("no mail at all\n")
    fixes = DocumentFixes()
    found = {Path(document.id).name: (document.title, document.text) for document in read_documents([tmp_path], fixes)}
    assert found["a.eml"] == ("Der Fischotter schläft", "\n".join(["Grüße vom Otter"] * 3))
    assert found["b.eml"] == ("b.eml", "an otter")
    assert found["c.eml"][1] == "no mail at all"
    assert fixes.notes() == [
        "1 part of e-mails not read, such as attachments, in a.eml",
        "of 2 e-mails, the subject and the text are read, and no other header field: not From (2), To (1)",
    ]


def test_a_mail_whose_plain_text_is_empty_has_the_text_of_its_page(tmp_path: Path) -> None:
    news, forwarded, bare = EmailMessage(), EmailMessage(), EmailMessage()
    news["Subject"], forwarded["Subject"], bare["Subject"] = "News", "Fwd", "Only a subject"
    news.set_content("\n")
    news.add_alternative("<p>an <b>otter</b></p>", subtype="html", cte="base64")
    forwarded.set_content("See below.")
    forwarded.add_attachment(news)
    for name, mail in (("a.eml", news), ("b.eml", forwarded), ("c.eml", bare)):
        (tmp_path / name).write_bytes(bytes(mail))
    texts = {Path(document.id).name: document.text for document in read_documents([tmp_path])}
    assert texts == {"a.eml": "an otter", "b.eml": "See below.\n\nNews\n\nan otter", "c.eml": "Only a subject"}


@pytest.mark.parametrize(
    "body",
    [
        "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\nU3ViamVjdDogeAo=",
        "Content-Type: multipart/mixed; boundary=b\n\nno part",
        "Content-Type: message/rfc822\n\n" * 3000 + "deep",
        "Content-Type: text/plain; charset=no-such\nContent-Transfer-Encoding: base64\n\n!!!",
    ],
)
def test_odd_mails_end_nothing(tmp_path: Path, body: str) -> None:
    (tmp_path / "a.eml").write_text(f"Subject: odd\n{body}\n")
    assert len(list(read_documents([tmp_path]))) == 1


@pytest.mark.parametrize(
    ("name", "head"),
    [("a.html", '<meta charset="windows-1251"><p>'), ("a.eml", "Content-Type: text/plain; charset=windows-1251\n\n")],
)
def test_files_that_declare_their_encoding_are_read_in_it(tmp_path: Path, name: str, head: str) -> None:
    (tmp_path / name).write_bytes(f"{head}Корабль steams on to the harbor of the town\n".encode("cp1251"))
    for source in (tmp_path, tmp_path / name):
        fixes = DocumentFixes()
        assert [document.text.split()[0] for document in read_documents([source], fixes)] == ["Корабль"]
        assert any("as cp1251, not UTF-8, such as " in note for note in fixes.notes()), fixes.notes()


def test_every_mail_of_a_mailbox_is_a_document(tmp_path: Path) -> None:
    mail = "From a@b.c Mon Jan  1 00:00:00 2024\nSubject: {}\n\n{}\n\n"
    path = tmp_path / "a.mbox"
    path.write_text(mail.format("Otters", "They swim.\n>From here to there.") + mail.format("Badgers", "They dig."))
    assert list(read_documents([path])) == [
        Document(f"{path.as_posix()}:1", "They swim.\nFrom here to there.", "Otters"),
        Document(f"{path.as_posix()}:7", "They dig.", "Badgers"),
    ]
    path.write_text(mail.format("Otters", "They swim.\n\nFrom now on, they dive."))
    assert [document.text for document in read_documents([path])] == ["They swim.\n\nFrom now on, they dive."]
    path.write_text("No mail at all.\n\nBut a text.\n")
    assert [document.title for document in read_documents([path])] == ["No mail at all."]


def test_files_that_are_no_text_are_left_out_by_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a text")
    (tmp_path / "b.docx").write_bytes(b"PK\x03\x04 rest")
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.4 rest")
    fixes = DocumentFixes()
    assert len(list(read_documents([tmp_path], fixes))) == 1
    assert (
        "left out 1 file (a zip archive, not text. Unpack it, and give the files in it: unzip FILE): b.docx"
        in fixes.notes()
    )
    assert "left out 1 file (a PDF, not text. Extract its text: pdftotext FILE NEW.txt): c.pdf" in fixes.notes()


def test_training_advises_no_option_that_it_does_not_have(tmp_path: Path) -> None:
    rows = [{"instruction": f"What is {at}?", "output": f"It is {at}."} for at in range(20)]
    path = tmp_path / "qa.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = (str(path),)
    for read in (partial(open_retrieval, kinds=()), open_unsplit):
        with pytest.raises(DataError, match=r"has no column of texts.* Rename the column of the texts") as error:
            read(CorpusSettings(source=source))
        assert "--column" not in str(error.value)
    with pytest.raises(DataError, match=r"name both: --set 'corpus\.columns="):
        open_retrieval(CorpusSettings(source=source), ())
    named = open_retrieval(CorpusSettings(source=source, columns=("instruction", "output")), ())
    read = {document.text for documents in named.documents.values() for document in documents}
    assert read and read <= {row["output"] for row in rows}
    (tmp_path / "folder").mkdir()
    texts = [f"Otter {at} swims in the river {at} all day long. {'It eats fish. ' * 20}" for at in range(60)]
    (tmp_path / "folder" / "a.csv").write_text("text,author\n" + "".join(f"{text},me\n" for text in texts))
    (tmp_path / "folder" / "b.csv").write_text("author,year\nme,2000\n")
    notes = " ".join(open_retrieval(CorpusSettings(source=(str(tmp_path / "folder"),)), ()).notes)
    assert "'author'" in notes and "b.csv" in notes and "--column" not in notes
