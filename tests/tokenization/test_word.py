"""The word tokenizer: its pieces worked by hand, and which words are kept."""

from pathlib import Path

import pytest
from hypothesis import given
from pydantic import ValidationError
from text_samples import anything, encode, quick, trained

from seqlab.errors import DataError
from seqlab.tokenization.tokenizer import load_tokenizer
from seqlab.tokenization.word import CHUNK, WORD, WordSettings, WordTokenizer


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("the cat sat.", ["the", " cat", " sat", "."]),
        ("don't 'quote' it’s", ["don't", " '", "quote", "'", " it’s"]),
        ("a  b", ["a", " ", " b"]),
        ("a\n b\t c", ["a", "\n", " b", "\t", " c"]),
        ("x (y), ...", ["x", " (", "y", ")", ",", " .", ".", "."]),
        ("end \n", ["end", " ", "\n"]),
        ("rock'n'roll s'", ["rock'n'roll", " s", "'"]),
        ("naïve 日本 12", ["naïve", " 日本", " 12"]),
    ],
)
def test_pieces_by_hand(text: str, pieces: list[str]) -> None:
    assert WORD.findall(text) == pieces
    tokenizer = trained("word", text)
    assert [tokenizer.decode([number]) for number in tokenizer.encode(text)] == pieces


def test_long_texts_are_cut_between_words_only() -> None:
    text = "ab " * CHUNK
    tokenizer = trained("word", text)
    assert [tokenizer.decode([number]) for number in tokenizer.encode(text)] == WORD.findall(text)


@given(text=anything)
@quick
def test_pieces_join_to_the_text(text: str) -> None:
    assert "".join(WORD.findall(text)) == text


def test_the_most_frequent_are_kept_and_ties_are_alphabetical() -> None:
    tokenizer = trained("word", "b a\nc\nc\na", vocab_size=3)
    assert isinstance(tokenizer, WordTokenizer)
    assert tokenizer.words == ("\n", "c", " a")
    assert encode(tokenizer, "b") == [tokenizer.unknown]


def test_lowercase_reads_capitals_as_small() -> None:
    tokenizer = trained("word", "The the THE İΣ", lowercase=True)
    assert tokenizer.decode(tokenizer.encode("THE The")) == "the the"
    assert tokenizer.first_token_bytes("THE end") == b"THE"
    assert tokenizer.fingerprint != trained("word", "The the THE İΣ").fingerprint


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (" the <unk> sat . \n", [" the", " <unk>", " sat", " .", "\n"]),
        ("the\tn't  x_y\n \n", [" the", " n't", " x_y", "\n", "\n"]),
        ("</s> @-@ 日本\u3000a", [" </s>", " @-@", " 日本", " a"]),
    ],
)
def test_words_between_spaces_by_hand(text: str, pieces: list[str]) -> None:
    tokenizer = trained("word", text, split="spaces")
    ids = tokenizer.encode(text)
    assert [tokenizer.decode([number]) for number in ids] == pieces
    assert tokenizer.encode(tokenizer.decode(ids)) == ids, "written with one space before each word, it reads the same"


def test_the_split_is_saved_and_checked(tmp_path: Path) -> None:
    tokenizer = trained("word", "a b\na", split="spaces")
    tokenizer.save(tmp_path)
    again = load_tokenizer(tmp_path / "tokenizer.json")
    assert again.fingerprint == tokenizer.fingerprint != trained("word", "a b\na").fingerprint
    assert again.encode("b a\n") == tokenizer.encode("b a\n") and again.first_token_bytes("  b a") == b"  b"
    with pytest.raises(DataError, match="its 'split' is 'commas', expected words or spaces"):
        WordTokenizer.from_json({**tokenizer.to_json(), "split": "commas"})


@given(text=anything)
@quick
def test_words_between_spaces_are_those_of_python(text: str) -> None:
    tokenizer = trained("word", text + " a\nb", split="spaces")
    words = [" ".join(line.split()) for line in text.split("\n")]
    decoded = tokenizer.decode(tokenizer.encode(text))
    assert [line.removeprefix(" ") for line in decoded.split("\n")] == words


@pytest.mark.parametrize("size", [0, 2**24 + 1])
def test_sizes_are_bounded(size: int) -> None:
    with pytest.raises(ValidationError):
        WordSettings(vocab_size=size)


def test_long_unknown_words_are_named_in_short() -> None:
    with pytest.warns(UserWarning) as caught:
        trained("word", "a").encode("b" * 70_000)
    assert len(str(caught[0].message)) < 200


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("नमस्ते दुनिया।", ["नमस्ते", " दुनिया", "।"]),
        ("cafe\u0301 noir", ["cafe\u0301", " noir"]),
        ("مُحَمَّد", ["مُحَمَّد"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("love \u2764\ufe0f!", ["love", " \u2764\ufe0f", "!"]),
    ],
)
def test_marks_stay_with_their_letters(text: str, words: list[str]) -> None:
    assert WORD.findall(text) == words
