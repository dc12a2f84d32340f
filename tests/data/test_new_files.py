"""A printed command writes a new file: it empties neither the file that it reads nor another."""

import bz2
import gzip
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from seqlab.config import CorpusSettings
from seqlab.data.examples.json_forms import form_of_line
from seqlab.data.examples.load import open_examples
from seqlab.data.foreign import on_file
from seqlab.data.new_files import free_name, new_file
from seqlab.data.task_inference import unclear_layout
from seqlab.data.text.corpus import open_corpus
from seqlab.errors import SeqlabError

PROSE = "The old man walked along the river, and said nothing at all.\n" * 30
CUES = "".join(f"{n}\n00:00:{n:02},100 --> 00:00:{n:02},900\nThe old man walked.\n\n" for n in range(10, 30))
MAIL = f"From: a@b.c\nSubject: x\nContent-Transfer-Encoding: quoted-printable\n\n{PROSE}"
ROWS = [{"text": f"word {at} of it", "label": "ab"[at % 2]} for at in range(40)]
# the names of files that a command writes
WRITTEN = re.compile(
    r"(?:(?<!-)>|-o|\bcp \S+|pdftotext \S+|to write|(?<=jsonl),) (new[\w.-]*\w)"
)  # the names of files that a command writes


def _read_text(name: str) -> str:
    corpus = open_corpus([name])
    list(corpus.blocks())
    return "\n".join(corpus.fixes.source_notes)


def _read_examples(name: str) -> str:
    return str(open_examples("labeled", CorpusSettings(source=(name,))).notes)


def _layout(name: str) -> str:
    return str(unclear_layout([name]))


def _jsonl(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


NESTED = [{"content": {"text": row["text"]}, "label": row["label"]} for row in ROWS]
CASES: dict[str, tuple[str, bytes, Callable[[str], str]]] = {
    "encoding": ("new.txt", ("naïve café\n" * 20).encode("cp1252") + b"\x81\x8d\n", _read_text),
    "joined encodings": ("new.txt", "Zoë naïve\n".encode() * 20 + "Zoë café\n".encode("cp1252") * 20, _read_text),
    "NUL": ("new.txt", PROSE.encode() + b"a\0b\n", _read_text),
    "bzip2": ("new.txt", bz2.compress(PROSE.encode()), _read_text),
    "PDF": ("new.txt", b"%PDF-1.4\n%\xe2", _read_text),
    "subtitles": ("new.txt", CUES.encode(), _read_text),
    "one mail": ("new.txt", MAIL.encode(), _read_text),
    "mailbox": ("new.txt", b"From a Mon Jan  1 00:00:00 2024\n" + MAIL.encode(), _read_text),
    "mail in a mailbox file": ("new.mbox", MAIL.encode(), _read_text),
    "page": ("new.txt", b"<p>The old man walked.</p>\n" * 30, _read_text),
    "rows in a text": ("new.txt", _jsonl(*ROWS), _read_text),
    "nested rows in a text": ("new.txt", _jsonl(*({"a": {"b": row["text"]}} for row in ROWS)), _read_text),
    "nested rows": ("new.jsonl", _jsonl(*NESTED), _layout),
    "other keys": ("new.jsonl", _jsonl(*({key: "a word"} for key in ("text", "content") * 9)), _layout),
    "array": ("new.jsonl", json.dumps(ROWS, indent=1).encode(), _read_examples),
    "arrays": ("new.jsonl", _jsonl(*([row["text"], row["label"]] for row in ROWS)), _read_examples),
    "labels in arrays": ("new.jsonl", _jsonl(*({**row, "label": [row["label"]]} for row in ROWS)), _read_examples),
    "commas": ("new.jsonl", _jsonl(*ROWS).replace(b"}\n", b"},\n"), _read_examples),
    "several tables": ("new-b.jsonl", json.dumps({"a": ROWS, "b": ROWS}).encode(), _read_examples),
    "second header": ("new-1.csv", b"text,label\n" + b"a b,x\nc d,y\n" * 9 + b"label,text\nx,a b\n", _read_examples),
}


@pytest.mark.parametrize("case", CASES)
def test_the_command_writes_no_file_that_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    monkeypatch.chdir(tmp_path)
    name, content, read = CASES[case]
    existing = {name, "new.jsonl", "new.mbox", "new-1.csv", "new-1-1.csv", "new-2.txt", "new-a.jsonl"}
    for file in existing:
        Path(file).write_bytes(content)
    try:
        said = read(name)
    except SeqlabError as error:
        said = str(error)
    written = {*WRITTEN.findall(said)}
    assert written, said
    assert not existing & written, said


def test_the_text_survives_two_commands_in_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_bytes(CUES.replace("old", "naïve").encode("cp1252") + b"\x81\x8d\n")
    for name, where in (("a.txt", "convert it: "), ("new.txt", "is said: ")):
        try:
            said = _read_text(name)
        except SeqlabError as error:
            said = str(error)
        subprocess.run(said.partition(where)[2].replace("ENCODING", "LATIN1"), shell=True, check=True)
    assert "-->" in Path("new.txt").read_text()
    assert Path("new-2.txt").read_text().startswith("The naïve man walked.\n")


def test_a_number_follows_where_the_name_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert new_file(".txt") == "new.txt"
    Path("new.txt").write_text("a")
    Path("new-2.txt").symlink_to("nowhere")
    assert new_file(".txt") == "new-3.txt" and new_file(".csv") == "new.csv"
    assert free_name("a b", ".txt", taken=["a b.txt"]) == "a b-2.txt" and new_file(".a b") == "'new.a b'"


def test_the_name_of_a_file_is_no_part_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert on_file("iconv FILE > NEW", "NEW-FILE.txt") == "iconv NEW-FILE.txt > new.txt"


def test_commands_read_packed_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    objects = "".join(json.dumps(row, indent=1) + "\n" for row in ROWS)
    Path("a.jsonl.gz").write_bytes(gzip.compress(objects.encode()))
    said = form_of_line(Path("a.jsonl.gz"), objects.splitlines())
    subprocess.run(said.partition("to convert them: ")[2], shell=True, check=True)
    assert [json.loads(line) for line in Path("new.jsonl").read_text().splitlines()] == ROWS
    rows = [
        [(f"word{(first + step * at) % 10}", "NVADP"[(first + step * at) % 5]) for at in range(8)]
        for first in range(10)
        for step in (1, 3)
    ]
    words = "\n".join("".join(f"{tag}\t{word}\n" for word, tag in row) for row in rows)
    Path("a.conll.gz").write_bytes(gzip.compress(words.encode()))
    notes = open_examples("tagged", CorpusSettings(source=("a.conll.gz",))).notes
    (note,) = [note for note in notes if "If they are in columns" in note]
    subprocess.run(note.partition("If they")[2].partition(": ")[2], shell=True, check=True)
    made = "\n".join("".join(f"{word}\t{tag}\n" for word, tag in row) for row in rows)
    assert Path("new.conll").read_text() == made
