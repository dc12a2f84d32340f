"""Text that another program has cut into subwords or tokens is said, wherever it is read."""

import pytest

import seqlab
from seqlab.data.examples.example import LabeledText, TaggedSentence, TextPair
from seqlab.data.examples.odd_texts import odd_texts
from seqlab.data.subwords import CutText
from seqlab.errors import SeqlabWarning

BPE = "the fo@@ x ran"
CUT = {
    "BPE": BPE,
    "SentencePiece": "▁the ▁fo x ▁ran",
    "WordPiece": "the fo ##x ran",
    "Moses": "it &apos;s well @-@ known",
}


@pytest.mark.parametrize("kind", CUT)
def test_each_kind_of_piece_is_said_with_its_number_of_lines(kind):
    (note,) = CutText().read([CUT[kind], "the fox ran"]).notes()
    assert note.startswith("1 of the 2 lines has ") and f"of {kind}" in note and "To join it first: " in note


@pytest.mark.parametrize("text", ["mail me@@example", "a ## b", "# Title\n## Part", "don&apos;t", "5 @ 3", "", "a▁b"])
def test_other_signs_are_no_pieces(text):
    assert CutText().read([text]).notes() == []


def test_a_few_lines_are_not_said():
    assert CutText().read([BPE] + ["plain"] * 200).notes() == []


def test_examples_say_what_it_means_for_their_scores():
    (source, target) = odd_texts([TextPair(BPE, "der Fu@@ chs")] * 3)
    assert "3 of the 3 sources" in source and "the tokenizer cuts these pieces again" in source
    assert "3 of the 3 targets" in target and "BLEU and other scores are those of the pieces" in target
    assert "3 of the 3 texts" in odd_texts([LabeledText(BPE, "pos")] * 3)[0]
    (sentence,) = odd_texts([TaggedSentence(("fo@@", "x"), ("B-A", "I-A"))] * 3)
    assert "3 of the 3 sentences" in sentence and "every piece counts as a word" in sentence


def test_running_text_says_it_in_blocks():
    pieces = CutText()
    assert [*pieces.watch([f"{BPE}\n", "plain\n"])] == [f"{BPE}\n", "plain\n"]
    assert "1 of the 2 lines has subwords" in pieces.notes()[0]


def test_training_and_scoring_say_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("my.txt", "other.txt"):
        (tmp_path / name).write_text(
            "".join(f"{name} {number} {BPE} and on it went\n" for number in range(300)), "utf-8"
        )
    run = seqlab.train("my.txt", steps=1, hidden=8, tokenizer="char")
    assert any("subwords of BPE" in note for note in run.config["corpus"]["notes"])
    with pytest.warns(SeqlabWarning, match="300 of the 300 lines have subwords of BPE"):
        run.evaluate("other.txt")
