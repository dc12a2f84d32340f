"""What is said of how data is read: the first example in tokens, unknown tokens, and text without words."""

import re

import pytest
from example_cases import TextPair, labeled, sentences, tagged

from seqlab.config import build_settings
from seqlab.data.examples.example import Examples, LabeledText, TaggedSentence
from seqlab.errors import SeqlabWarning
from seqlab.registry import TASKS
from seqlab.tasks.as_read import first_example, reading_notes, unfit_words, unknown_share

TRAIN = sentences(40)


def read(task: str, train: list, held_out: list, tokenizer: str = "word"):
    settings = build_settings({"task": {"name": task}, "corpus": {"source": ["x"]}}, [("tokenizer.name", tokenizer)])
    data = Examples("x", {"train": train, "validation": held_out}, "given")
    return TASKS.load(task).encode_splits(data, settings)


@pytest.mark.parametrize(
    "task, example, tokenizer, shown",
    [
        ("classify", LabeledText("the\u200b cat\nz", "a"), "word", r"▁the|<unknown>|▁cat|\n|<unknown> -> label 'a'"),
        ("classify", LabeledText("a cat", "x"), "char", "▁|a|▁|c|a|t -> label 'x'"),
        ("tag", TaggedSentence(("the", "zzz"), ("O", "B-x")), "word", "the/O|<unknown>/B-x"),
        ("tag", TaggedSentence(("a", "cat"), ("O", "B-x")), "char", "▁|a/O|▁|c|a|t/B-x"),
        ("translate", TextPair("a cat", "CAT zzz"), "word", "▁a|▁cat -> ▁CAT|<unknown>"),
        ("classify", LabeledText("the " * 20, "x"), "word", "|".join(["▁the"] * 12) + "|… -> label 'x'"),
    ],
)  # fmt: skip
def test_the_first_example_is_shown_as_it_is_read(task, example, tokenizer, shown):
    texts = ["the cat", "a cat", "a tree\nhere"]
    train = {
        "classify": [LabeledText(text, "x") for text in texts],
        "tag": [TaggedSentence(tuple(text.split()), ("O",) * len(text.split())) for text in texts],
        "translate": [TextPair(text, text.upper()) for text in texts],
    }[task]
    dataset = read(task, train, [example], tokenizer)
    assert first_example(dataset.splits["validation"], dataset.vocabulary) == f"first example: {shown}"


def test_unknown_tokens_are_said_from_one_percent_on():
    train = [labeled(words) for words in TRAIN]
    dataset = read("classify", train, [*train, LabeledText("zzz yyy", "none")])
    share = 2 / sum(len(ids) for ids in dataset.splits["validation"].inputs)
    assert unknown_share(dataset.splits["validation"], dataset.vocabulary) == pytest.approx(share) and share < 0.01
    assert reading_notes(dataset.splits, dataset.vocabulary)[1:] == [
        "without any token that the tokenizer knows: 1 of 41 validation examples"
    ]
    dataset = read("classify", train, [*train[:2], LabeledText("zzz yyy", "none")])
    share = unknown_share(dataset.splits["validation"], dataset.vocabulary)
    assert reading_notes(dataset.splits, dataset.vocabulary)[1] == (
        f"{share:.1%} of the tokens of the validation examples are unknown to the tokenizer: it reads them all as the "
        "same token"
    )
    dataset = read("tag", [tagged(words) for words in TRAIN], [TaggedSentence(("zzz",), ("O",))])
    assert "100.0% of the tokens" in reading_notes(dataset.splits, dataset.vocabulary)[1]
    assert "it reads their spelling only" in reading_notes(dataset.splits, dataset.vocabulary)[1]
    assert reading_notes(dataset.splits, dataset.vocabulary)[1].endswith(
        "100.0% of the characters of the different words of the validation examples are unknown to the tokenizer: it "
        "reads them all as the same character"
    )


def test_unknown_tokens_are_counted_on_both_sides_of_pairs():
    train = [TextPair(" ".join(words), " ".join(words).upper()) for words in TRAIN]
    dataset = read("translate", train, [TextPair("the cat", "THE zzz yyy CAT"), TextPair("the", "THE")])
    said = "40.0% of the target tokens of the validation examples are unknown to the tokenizer: the model cannot write"
    [note] = [note for note in reading_notes(dataset.splits, dataset.vocabulary) if "unknown to" in note]
    assert note.startswith(said) and "source" not in note
    assert unknown_share(dataset.splits["validation"], dataset.vocabulary) == pytest.approx(2 / 8)
    dataset = read("translate", train, [TextPair("zzz cat", "THE zzz yyy CAT")])
    [note] = [note for note in reading_notes(dataset.splits, dataset.vocabulary) if "unknown to" in note]
    assert "50.0% of the source tokens of the validation examples are unknown to the tokenizer: it reads" in note
    assert "; 50.0% of the target tokens" in note
    dataset = read("translate", train, [TextPair("the cat", "THE CAT")])
    assert not [note for note in reading_notes(dataset.splits, dataset.vocabulary) if "unknown to" in note]


def test_text_without_spaces_comes_with_advice():
    stretches = [
        LabeledText("".join(chr(0x4E00 + 37 * at + step) for step in range(11)), "ab"[at % 2]) for at in range(9)
    ]
    dataset = read("classify", stretches[:6], stretches[6:])
    assert "written without spaces" in str(unfit_words(dataset.splits, dataset.vocabulary))
    assert "--tokenizer char" in reading_notes(dataset.splits, dataset.vocabulary)[-1]
    spaced = [LabeledText(" ".join(example.text[at : at + 2] for at in range(0, 10, 2)), "a") for example in stretches]
    dataset = read("classify", spaced, spaced)
    assert unfit_words(dataset.splits, dataset.vocabulary) is None
    dataset = read("classify", stretches[:6], stretches[6:], "char")
    assert unfit_words(dataset.splits, dataset.vocabulary) is None
    dataset = read("classify", [LabeledText("a b", "x")], [LabeledText("c d b", "x")])
    assert "most held-out tokens" in str(unfit_words(dataset.splits, dataset.vocabulary))


def test_unknown_tokens_of_held_out_text_are_said_with_the_tokenizer_of_another_run(tmp_path):
    known, new = tmp_path / "known.txt", tmp_path / "new.txt"
    known.write_text("the cat sat on the mat. " * 50)
    new.write_text("the cat sat on the mat. " * 90 + "ΩΨ字 " * 60)
    task, said = TASKS.load("language"), []
    settings = {path: build_settings({"corpus": {"source": [str(path)]}}, []) for path in (known, new)}
    vocabulary = task.open_dataset(settings[known], said.append).vocabulary
    with pytest.warns(SeqlabWarning, match="not in the vocabulary|unknown") as warned:
        task.open_dataset(settings[new], said.append, vocabulary)
    [message] = [str(warning.message) for warning in warned]
    share = r"which is \d+ of the \d+ tokens of the validation text"
    assert re.search(rf"'Ω'.*: encoded as the unknown token, {share}", message)
    assert not [note for note in said if "validation" in note and "unknown" in note], "one note says it all"
