"""Mail, subtitles and pictures in base64 are read as running text, and that is said."""

import gzip
import subprocess
from base64 import encodebytes
from pathlib import Path

import pytest

from seqlab.data.text.corpus import open_corpus

PROSE = "The old man walked along the river, and said nothing at all.\n" * 30
CUES = "".join(f"{n}\n00:00:{n:02},100 --> 00:00:{n:02},900\nThe old man walked.\n\n" for n in range(10, 30))
MAIL = "From a@b.c Mon Jan  1 00:00:00 2024\nFrom: a@b.c\nSubject: x\nContent-Transfer-Encoding: {}\n\n{}\n"
PICTURE = f"# Head\n\n{PROSE}\n![img](data:image/png;base64,{'iVBORw0KGgo' * 300})\n"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (CUES, "subtitles, with time codes"),
        ("\ufeff" + CUES, "subtitles, with time codes"),
        ("\ufeffWEBVTT\n\n" + CUES.replace(",", "."), "subtitles, with time codes"),
        (MAIL.partition("\n")[2].format("base64", encodebytes(PROSE.encode()).decode()), "mail, with bodies in base64"),
        (MAIL.format("base64", encodebytes(PROSE.encode()).decode()), "mail, with bodies in base64"),
        (MAIL.format("quoted-printable", PROSE.replace("said", "s=61id")), "mail, with bodies in quoted-printable"),
        (PICTURE, "text with files in base64 inside, such as pictures"),
        (f"<p>{PICTURE}</p>", "text with files in base64 inside, such as pictures"),
    ],
)
def test_it_is_said_and_the_command_keeps_the_text(tmp_path, monkeypatch, text, form):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(text)
    (note,) = open_corpus(["a.txt"]).fixes.source_notes
    said = f"read a.txt as running text, but it looks like {form}. To "
    assert note.startswith(said)
    subprocess.run(note.removeprefix(said).partition(": ")[2], shell=True, check=True)
    kept = Path("new.txt").read_text()
    assert "The old man walked" in kept and "\ufeff" not in kept
    assert not any(mark in kept for mark in ("-->", "iVBOR", "Subject", "=61", "WEBVTT"))


def test_tags_of_subtitles_are_no_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spoken = r"{\an8}<i>The old man</i> <font color='#fff'>walked</font><00:00:01.500> <v Ann>4 < 5, <3 and 6 > 5."
    Path("a.txt").write_text(CUES.replace("The old man walked.", spoken) + "\n\n<i>\n</i>\n")
    (note,) = open_corpus(["a.txt"]).fixes.source_notes
    subprocess.run(note.rpartition("what is said: ")[2], shell=True, check=True)
    assert Path("new.txt").read_text() == "The old man walked 4 < 5, <3 and 6 > 5.\n" * 20


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff", "\ufeffWEBVTT - a film\n\n"])
def test_numbers_that_are_said_are_kept(tmp_path, monkeypatch, ends, mark):
    monkeypatch.chdir(tmp_path)
    said = ["How many?", "42", "1984\n7", "Well.\n2"] * 3
    cues = [f"{at}\n00:00:{at:02},100 --> 00:00:{at:02},900\n{text}\n" for at, text in enumerate(said, 10)]
    Path("a.srt").write_text(mark + "\n".join(cues), newline=ends)
    (note,) = open_corpus(["a.srt"]).fixes.source_notes
    subprocess.run(note.rpartition("what is said: ")[2], shell=True, check=True)
    assert Path("new.txt").read_text() == "\n".join(said) + "\n"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("<!DOCTYPE html>\n<html><body>\n" + PROSE, "HTML or XML, with tags. To get the text of a page: pandoc "),
        ("<p>The old man walked.</p>\n" * 30, "HTML or XML, with tags. To get the text of a page: pandoc "),
        ('{"text": "The old man walked.", "id": 3}\n' * 30, "JSON lines. To read the text of each: cp "),
    ],
)
def test_pages_and_rows_are_told_by_their_content(tmp_path, text, form):
    path = tmp_path / "a.txt"
    path.write_text(text)
    (note,) = open_corpus([str(path)]).fixes.source_notes
    assert note.startswith(f"read a.txt as running text, but it looks like {form}")


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        PROSE.replace("river", "<unk>").replace("\n", " <eos>\n"),
        PROSE + "He wrote </p> at the end of it.\n" * 3,
        "{\n  a = 1;\n}\n" * 20,
        "{a}\n" * 20,
        "From: here to there\n\n" + PROSE,
        PROSE + "At 00:00:10,100 --> 00:00:11,000 he spoke.\n",
        "From: a@b.c\nSubject: x\nContent-Transfer-Encoding: 7bit\n\n" + PROSE,
        PROSE + "Write data:image/png;base64,AAAA to embed a picture.\n",
    ],
)
def test_other_text_has_no_note(tmp_path, text):
    path = tmp_path / "a.txt"
    path.write_text(text)
    assert open_corpus([str(path)]).fixes.source_notes == []


HEADER = "Return-Path: <a@b.c>\nFrom: A <a@b.c>\nSubject: x\nMIME-Version: 1.0\n"
PARTS = (
    'Content-Type: multipart/alternative;\n boundary="=="\n\n'
    f"--==\nContent-Type: text/plain; charset=utf-8\n\n{PROSE}\n"
    f"--==\nContent-Type: text/html; charset=utf-8\n\n<p>{PROSE}</p>\n--==--\n"
)


@pytest.mark.parametrize(
    "body",
    [
        PARTS,
        f"Content-Transfer-Encoding: 8bit\n\n{PROSE}",
        f"Content-Type: text/html\n\n<style>p {{}}</style><p>{PROSE}",
    ],
)
@pytest.mark.parametrize("mailbox", [False, True])
def test_mail_is_told_by_its_header(tmp_path, monkeypatch, body, mailbox):
    monkeypatch.chdir(tmp_path)
    envelope = "From a@b.c Mon Jan  1 00:00:00 2024\n"
    Path("a.eml").write_text(f"{envelope}{HEADER}{body}\n{envelope}{HEADER}{body}" if mailbox else HEADER + body)
    (note,) = open_corpus(["a.eml"]).fixes.source_notes
    said = "read a.eml as running text, but it looks like mail, with header fields. To get its text: "
    assert note.startswith(said)
    subprocess.run(note.removeprefix(said), shell=True, check=True)
    kept = Path("new.txt").read_text()
    assert kept.count("The old man walked") == (60 if mailbox else 30)
    assert not any(mark in kept for mark in ("Return-Path", "MIME", "<p>", "--==", "{}"))


def test_the_mails_of_a_folder_are_counted(tmp_path):
    for number in range(7):
        (tmp_path / f"{number}.eml").write_text(f"{HEADER}{number}: x\n{PARTS}{number}")
    (note,) = open_corpus([str(tmp_path)]).fixes.source_notes
    assert note.startswith("read 7 files (0.eml, 1.eml, 2.eml, 3.eml, 4.eml and 2 more) as running text, but it looks")


def _mails(folder: Path) -> Path:
    """Mails of all kinds in a folder, and in one below."""
    encoded = MAIL.partition("\n")[2].format("base64", encodebytes(f"{PROSE}2\n".encode()).decode())
    for name, text in {
        "1.eml": f"{HEADER}\n{PROSE}1\n",
        "2.eml": encoded,
        "b c/3.eml": f"{HEADER}\n{PROSE}3\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("besides", ["", ".hidden.eml", "read me.txt"])
def test_the_command_for_a_folder_of_mail_reads_all_of_it(tmp_path, monkeypatch, besides):
    monkeypatch.chdir(tmp_path)
    if besides:
        (_mails(Path("my mail")) / besides).write_text(PROSE)
    (note,) = [note for note in open_corpus([str(_mails(Path("my mail")))]).fixes.source_notes if "mail, with" in note]
    assert note.startswith("read 1.eml, 2.eml, 3.eml as running text, but it looks like mail, with header fields and")
    subprocess.run(note.partition("To get their text: ")[2], shell=True, check=True)
    kept = Path("new.txt").read_text()
    assert kept.count("The old man walked") == 90
    assert [line for line in kept.splitlines() if line.isdigit()] == ["1", "2", "3"]


@pytest.mark.parametrize("absolute", [False, True])
def test_the_command_for_some_mails_of_a_folder_names_the_first(tmp_path, monkeypatch, absolute):
    monkeypatch.chdir(_mails(tmp_path))
    (note,) = open_corpus(["1.eml", str(tmp_path / "2.eml") if absolute else "2.eml"]).fixes.source_notes
    assert " Of 1.eml alone: to get its text: python3 -c " in note


def test_a_memo_is_no_mail(tmp_path):
    (tmp_path / "a.txt").write_text(f"From: the director\nTo: all\nSubject: a walk\nDate: today\n\n{PROSE}")
    assert open_corpus([str(tmp_path / "a.txt")]).fixes.source_notes == []


ROWS = '{"text": "The old man walked.", "id": 3}\n' * 30
DEEP_ROWS = '{"a": {"text": "The old man walked."}}\n' * 30
WORDS = "The/DT old/JJ man/NN walked/VBD ./.\n" * 12
COPIED = "COPY r (text, label) FROM stdin;\n" + "The old man walked.\tpos\n" * 20 + "\\.\n"
FROM_R = '"text" "label"\n' + "".join(f'"{at}" "The old man walked." "pos"\n' for at in range(20))
MAILBOX = MAIL.format("base64", encodebytes(PROSE.encode()).decode()) * 2
CELLS = '{"cells": [{"cell_type": "code", "source": ["The old man walked."]}]}'


@pytest.mark.parametrize("text", [CUES, MAILBOX, PICTURE, ROWS, DEEP_ROWS, WORDS, COPIED, FROM_R, CELLS])
def test_the_command_for_a_packed_file_makes_what_it_makes_of_the_file(tmp_path, monkeypatch, text):
    made = []
    for name, content in (("a b.txt", text.encode()), ("a b.txt.gz", gzip.compress(text.encode()))):
        folder = tmp_path / f"of {name}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        Path(name).write_bytes(content)
        note = open_corpus([name]).fixes.source_notes[-1]
        subprocess.run(
            note.partition(" looks like ")[2].partition(": ")[2].partition(" (or ")[0], shell=True, check=True
        )
        (new,) = folder.glob("new.*")
        made.append((new.name, new.read_bytes()))
    assert made[0] == made[1] and b"old" in made[0][1]


def test_a_mailbox_is_told_by_the_line_above_each_mail(tmp_path):
    mail = f"From a@b.c Mon Jan  1 00:00:00 2024\nFrom: A <a@b.c>\nSubject: x\n\n{PROSE}\n"
    (tmp_path / "a.mbox").write_text(mail * 40)
    (note,) = open_corpus([str(tmp_path / "a.mbox")]).fixes.source_notes
    assert note.startswith("read a.mbox as running text, but it looks like mail, with header fields. To get its text: ")
