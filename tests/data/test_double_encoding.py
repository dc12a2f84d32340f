"""Text that was encoded twice is counted; text that was not is left alone."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.analysis.doctor import examine
from seqlab.config import CorpusSettings
from seqlab.data.content_notes import content_notes
from seqlab.data.double_encoding import double_encoding_notes
from seqlab.data.text.corpus import corpus_from_text, open_corpus
from seqlab.data.text.split import split_text

FRENCH = "Le café d’été — « où ? » “déjà là” l’Île. "
GERMAN = "„Über den Fluß“ sagte Jürgen: “Spaß” und “GRÖß”, “GEÄ…” "
OTHERS = ["“AMANHÃ” disse. NÃO! “AMANHÃ…” ", "ÂGE, «Â» «Â» et «Â» ", "Ðorđe, Ñandú ", "Привет, мир — да ", "日本語 "]


def encoded_twice(text: str) -> str:
    """As a program does that takes bytes for Windows-1252, and those that it lacks for Latin-1."""
    return "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in text.encode())


@pytest.mark.parametrize("text", ["Müller straße", "l’été", "“so”", "Привет", "fine 😀 day", "20 °C"])
def test_it_is_counted_and_said_what_was_meant(text: str) -> None:
    (note,) = double_encoding_notes([encoded_twice(text) + "\n"] * 2)
    wrong, right = note.partition(" places look so, '")[2].partition("' (")[0].split("' for '")
    assert right in text and encoded_twice(right) == wrong


def test_places_are_counted(tmp_path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(encoded_twice("für die Tür\n") * 300)
    note = "UTF-8 that was encoded twice: 600 places look so, 'Ã¼' for 'ü' (600), read as they are. "
    text = split_text(open_corpus([str(path)]), CorpusSettings(source=(str(path),)))
    assert any(said.startswith(note) for said in content_notes(text))
    assert any(said.startswith(note) for said in examine([str(path)]).notes)


def test_the_command_restores_the_text(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(encoded_twice("“so” déjà Привет\n") * 2, "utf-8", newline="")
    (note,) = double_encoding_notes([Path("a.txt").read_text("utf-8")])
    command = note.partition("is so: ")[2].replace("FILE", "a.txt").replace("NEW", "new.txt")
    subprocess.run(command, shell=True, check=True)
    assert Path("new.txt").read_text("utf-8") == "“so” déjà Привет\n" * 2


def test_the_command_keeps_what_it_cannot_restore(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    lost = "It’s “nice” café, ".encode().decode("cp1252", "replace")  # Windows-1252 has no character for a byte of ”
    Path("a.txt").write_text(f"{lost}été 日本 à â\r\n" * 2, "utf-8", newline="")
    (note,) = double_encoding_notes([Path("a.txt").read_text("utf-8")])
    command = note.partition("is so: ")[2].replace("FILE", "a.txt").replace("NEW", "new.txt")
    subprocess.run(command, shell=True, check=True)
    assert Path("new.txt").read_bytes().decode() == "It’s “niceâ€\ufffd café, été 日本 à â\r\n" * 2


@pytest.mark.parametrize("text", [FRENCH, GERMAN, *OTHERS])
def test_prose_has_none(text: str) -> None:
    assert double_encoding_notes([text] * 5) == []


@given(st.text())
def test_any_text_can_be_watched(text: str) -> None:
    double_encoding_notes(corpus_from_text(text, "a").blocks())
