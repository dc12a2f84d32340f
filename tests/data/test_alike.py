"""Texts and labels that are the same to a reader: one definition for splits, notes, the doctor and the audit."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from seqlab.analysis.scan import scan_text
from seqlab.cli.app import app
from seqlab.config import CorpusSettings
from seqlab.data.accents import count_characters
from seqlab.data.alike import difference, same_form, same_label
from seqlab.data.content_notes import content_notes
from seqlab.data.examples.example import LabeledText
from seqlab.data.examples.load import open_examples
from seqlab.data.invisible import invisible_notes, show_invisible
from seqlab.data.near_copies import near_copied_examples
from seqlab.data.overlap import example_overlap
from seqlab.data.text.corpus import corpus_from_text
from seqlab.data.text.split import split_text

ALIKE = "only in case, Unicode form, spaces or invisible characters"


@pytest.mark.parametrize(
    "one, other",
    [
        ("The film", "the FILM"),
        ("café", "cafe\u0301"),
        ("Straße", "STRASSE"),
        (" a  film\u00a0", "a film"),
        ("a\u200bb", "ab"),
        ("❤\ufe0f", "❤"),
        ("CAFE\u0301\u200b x", "café x"),
        ("a\x1bb", "ab"),
        ("a\x7fb", "ab"),
        ("a\x0bb", "a b"),
        ("a\x0cb", "a b"),
        ("a\x85b", "a b"),
        ("a\rb", "a b"),
        ("a\tb", "a b"),
    ],
)
def test_what_is_the_same_to_a_reader(one, other):
    assert same_form(one) == same_form(other)


@pytest.mark.parametrize("one, other", [("a film", "a film!"), ("का", "की"), ("a b", "ab"), ("e", "é"), ("x²", "x2")])
def test_what_is_not(one, other):
    assert same_form(one) != same_form(other)


@pytest.mark.parametrize(
    "one, other, how",
    [
        ("pos", "p\u043es", "letters of other scripts that look the same"),
        ("\u0391nger", "Anger", "letters of other scripts that look the same"),
        ("pos.", "pos", "marks at the end"),
        ("joy; ", "joy", "marks at the end"),
        ("P\u043es.", "pos", "case and letters of other scripts that look the same and marks at the end"),
        ("1.", "1", "how a number is written"),
        ("R&amp;D", "R&D", "HTML entities"),
        ("caf&eacute;", "caf&#233;", "HTML entities"),
        ("a&nbsp;b", "a b", "HTML entities and spaces"),
        ('"yes"', "yes", "quotation marks"),
        ("“yes”", '"yes"', "quotation marks"),
        ("don’t know", "don't know", "quotation marks"),
        ("&quot;Yes&quot;", "yes", "HTML entities and quotation marks and case"),
    ],
)
def test_labels_that_look_the_same(one, other, how):
    assert same_label(one) == same_label(other)
    assert difference([one, other]) == f"only in {how}"


@pytest.mark.parametrize(
    "one, other",
    [(".", ","), ("«", "»"), ('"', "''"), ("R&D", "RD"), ("C#", "C"), ("A+", "A"), ("нет", "net"), ("yes?", "yes")],
)
def test_labels_that_do_not_look_the_same(one, other):
    assert same_label(one) != same_label(other)


def test_case_is_seen_in_every_script():
    assert same_label("Нет") == same_label("нет") and same_label("класс A") == same_label("КЛАСС a")


@given(st.text())
def test_a_form_is_its_own_form_and_that_of_other_unicode_forms(text):
    assert same_form(same_form(text)) == same_form(text)
    assert same_form(unicodedata.normalize("NFD", text)) == same_form(unicodedata.normalize("NFC", text))


def test_numbers_are_labels_however_they_are_written():
    assert len(set(map(same_label, ["1", "1.0", "01", "1,00", " +1"]))) == 1
    assert len(set(map(same_label, ["1", "-1", "1.5", "10", "1e0", "one"]))) == 6


@pytest.mark.parametrize(
    "labels, words",
    [
        (["Tea", "tea"], "only in case"),
        (["café", "cafe\u0301"], "only in Unicode form"),
        (["a", "a\u200b"], "only in invisible characters"),
        (["a", "a\x08"], "only in invisible characters"),
        (["a b", "a  b"], "only in spaces"),
        (["A", "a\u200b"], "only in case and invisible characters"),
        (["Neg.", "neg", "ne\u200bg"], "only in case and invisible characters and marks at the end"),
        (["1", "1.0"], "only in how a number is written"),
    ],
)
def test_the_difference_is_said(labels, words):
    assert difference(labels) == words


def test_control_characters_are_named_and_tabs_and_newlines_are_not_counted(write):
    text = "a\x0bb\x1b\x1b\x1b c\x07\x07\td\ne\x85"
    [note] = invisible_notes(count_characters([text, "plain\ttext\n"]))
    assert note == (
        "invisible characters: 7, read as they are: U+001B escape (3), U+0007 control character (2), "
        "U+000B vertical tab (1), U+0085 next line (1)"
    )
    assert invisible_notes(count_characters(["plain\ttext\n"])) == []
    rows = [(f"text {at}", "yn"[at % 2] + "\x0c" * (at % 4 > 1)) for at in range(40)]
    examples = open_examples("labeled", CorpusSettings(source=(str(write("a.csv", table(rows))),)))
    assert "invisible characters: 20, read as they are: U+000C form feed (20)" not in content_notes(examples)  # trimmed
    assert "removed the spaces around 20 labels" in examples.notes
    rows = [(f"text {at}", "yn"[at % 2] + "\x08" * (at % 4 > 1)) for at in range(40)]
    examples = open_examples("labeled", CorpusSettings(source=(str(write("b.csv", table(rows))),)))
    assert examples.notes[0] == (
        r"'y' (10), 'y\x08' (10); 'n' (10), 'n\x08' (10) differ only in invisible characters: they are different labels"
    )
    assert "invisible characters: 20, read as they are: U+0008 control character (20)" in content_notes(examples)


def test_what_nobody_sees_is_shown():
    assert show_invisible("a\u200bb\u00a0c\n") == r"a\u200bb\xa0c\n"
    assert show_invisible("cafe\u0301") == r"cafe\u0301"
    assert show_invisible("café, की") == "café, की"


def table(rows) -> str:
    return "text,label\n" + "".join(f"{text},{label}\n" for text, label in rows)


def test_alike_labels_are_said_so_that_they_can_be_told_apart(write):
    labels = ["café", "cafe\u0301", "tea", "Tea", "1", "1.0", "a", "a\u200b"]
    path = write("a.csv", table((f"text {at}", labels[at % 8]) for at in range(80)))
    dev = write("b.csv", table([("x", "tea")]))
    examples = open_examples("labeled", CorpusSettings(source=(str(path),), validation=(str(dev),)))
    assert examples.notes == (
        r"'cafe\u0301' (10), 'café' (10) differ only in Unicode form: they are different labels",
        "'Tea' (10), 'tea' (11) differ only in case: they are different labels",
        "'1' (10), '1.0' (10) differ only in how a number is written: they are different labels",
        r"'a' (10), 'a\u200b' (10) differ only in invisible characters: they are different labels",
    )
    notes = content_notes(examples)
    assert "invisible characters: 10, read as they are: U+200B zero width space (10)" in notes
    assert notes[-1].startswith("accents are written in two ways: 10 as part of their letter, 10 as characters of")


TEXTS = [f"a film with number {at} in its name" for at in range(40)]
VARIANTS = [str.upper, lambda text: f"{text} ", lambda text: text.replace("film", "fil\u200bm")]


def test_alike_inputs_stay_together_and_both_counts_are_said(write):
    rows = [(make(text), "yn"[at % 2]) for make in (str, *VARIANTS) for at, text in enumerate(TEXTS)]
    path = write("a.csv", table([*rows, rows[0]]))
    examples = open_examples("labeled", CorpusSettings(source=(str(path),)))
    assert examples.notes[:2] == (
        "1 of the 161 examples repeat an earlier input, all with its answer",
        f"120 inputs differ from an earlier one {ALIKE}, such as '{TEXTS[0]}', "
        r"'a fil\u200bm with number 0 in its name'",
    )
    assert len(examples.notes) == 2
    held_out, train = examples.splits["validation"], examples.splits["train"]
    assert 12 <= len(held_out) <= 20
    assert example_overlap(held_out, train).repeated == near_copied_examples(held_out, train).repeated == 0


@pytest.mark.parametrize("change", VARIANTS)
def test_alike_inputs_of_given_files_are_found_by_notes_and_audit(write, change):
    train = write("a.csv", table((text, "yn"[at % 2]) for at, text in enumerate(TEXTS)))
    copies = [*map(change, TEXTS[:3]), TEXTS[4], "something that is new to everybody"]
    dev = write("b.csv", table((text, "y") for text in copies))
    examples = open_examples("labeled", CorpusSettings(source=(str(train),), validation=(str(dev),)))
    assert examples.notes[-1] == (
        f"4 of the 5 validation inputs (80.0%) are also in the training split, 3 of them with differences {ALIKE}"
    )
    training = [LabeledText(text, "y") for text in TEXTS]
    assert example_overlap([LabeledText(text, "y") for text in copies], training).repeated == 4


def test_the_doctor_counts_alike_inputs_and_invisible_characters(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write(
        "a.csv", table((make(text), "yn"[at % 2]) for make in (str, VARIANTS[2]) for at, text in enumerate(TEXTS))
    )
    said = CliRunner().invoke(app, ["doctor", str(path)]).output
    assert "no input occurs twice" not in said
    assert f"40 inputs differ from an earlier one {ALIKE}" in said
    assert "invisible characters: 40, read as they are" in said


def test_labels_that_differ_in_a_variation_selector_are_said_and_told_apart(write):
    rows = "".join(f"text {at}\t{label}\n" for at in range(10) for label in ("❤", "❤\ufe0f"))
    examples = open_examples("labeled", CorpusSettings(source=(str(write("a.tsv", f"text\tlabel\n{rows}")),)))
    assert any(
        r"'❤' (10), '❤\ufe0f' (10) differ only in invisible characters: they are different labels" in note
        for note in examples.notes
    )


def test_spaces_that_look_like_the_ordinary_one_are_said() -> None:
    words = " ".join(["the cat sat on the mat"] * 40)
    text = corpus_from_text(f"{words} 10\u00a0km and 5\u00a0km, 1\u202f000 m\n", "my.txt")
    note = (
        "spaces that are not the ordinary one: 3, read as other characters: U+00A0 no-break space (2), "
        "U+202F narrow no-break space (1)"
    )
    assert note in content_notes(split_text(text, CorpusSettings(source=("my.txt",))))
    assert note in scan_text(text).character_stats.notes
    assert scan_text(corpus_from_text("plain\ttext\n日本\u3000語\n", "my.txt")).character_stats.notes == []
