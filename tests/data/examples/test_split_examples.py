"""Which example goes into which part."""

import re
from collections import Counter
from pathlib import Path

import pytest
from example_tables import corpus, labels, many, reviews
from hypothesis import given, settings
from hypothesis import strategies as st

from seqlab.data.examples.example import TextPair
from seqlab.data.examples.lines import LocatedExample, Location
from seqlab.data.examples.load import open_examples
from seqlab.data.examples.split import MIN_INPUTS, split_examples
from seqlab.data.text.corpus import corpus_from_text
from seqlab.data.text.split import split_text
from seqlab.errors import DataError

quick = settings(max_examples=60)


def placed(inputs):
    return [LocatedExample(TextPair(text, "x"), Location(Path("a"), line)) for line, text in enumerate(inputs, 2)]


@pytest.mark.parametrize("split", ["90/10", "80/10/10"])
@pytest.mark.parametrize("count", [10, 11, 19, 137])
def test_examples_are_dealt_out_as_lines_are(write, split, count):
    """The same shuffle as of a text's lines, an example beside its line."""
    rows = many(count)
    result = open_examples("labeled", corpus(write("a.tsv", reviews(*rows)), split_ratios=split))
    text = corpus_from_text("".join(text + "\n" for text, _ in rows), "lines")
    lines = split_text(text, corpus("x", split_ratios=split, documents="lines"))
    assert list(result.splits) == lines.splits
    for part in lines.splits:
        assert [example.input for example in result.splits[part]] == list(lines.lines(part))
    assert result.rule == f"{split}, assigned by a fixed shuffle that keeps equal inputs together"
    assert result.notes == ()


@quick
@given(st.lists(st.integers(0, 30), min_size=1, max_size=80), st.sampled_from(["90/10", "80/10/10"]))
def test_equal_inputs_are_dealt_out_together(numbers, split):
    inputs = [str(number) for number in numbers]
    different = len(set(inputs))
    if different < MIN_INPUTS:
        with pytest.raises(DataError, match=f"has {different} different inputs? in {len(inputs)} example"):
            split_examples({"train": placed(inputs)}, split)
        return
    splits = {name: list(part) for name, part in split_examples({"train": placed(inputs)}, split).splits.items()}
    sides = {name: {placed.example.input for placed in part} for name, part in splits.items()}
    assert all(sides.values())
    assert sum(map(len, sides.values())) == different
    assert Counter(placed.example.input for part in splits.values() for placed in part) == Counter(inputs)
    for part in splits.values():
        assert [placed.location.line for placed in part] == sorted(placed.location.line for placed in part)
    held_out = sum(len(side) for name, side in sides.items() if name != "train")
    assert held_out / different == pytest.approx({"90/10": 0.1, "80/10/10": 0.2}[split], abs=1 / different)


def test_given_files_fix_the_parts(write):
    train, dev, test = (write(f"{name}.tsv", reviews(*many(4, 10 * place))) for place, name in enumerate("abc"))
    both = open_examples("labeled", corpus(train, validation=(dev,), test=(test,), split_ratios="80/10/10"))
    assert {part: [example.input for example in both.splits[part]] for part in both.splits} == {
        "train": [f"text {number}" for number in range(4)],
        "validation": [f"text {number}" for number in range(10, 14)],
        "test": [f"text {number}" for number in range(20, 24)],
    }
    assert both.rule == "validation and test from files"
    given = open_examples("labeled", corpus(train, validation=(dev,), split_ratios="80/10/10"))
    assert (list(given.splits), given.rule) == (["train", "validation"], "validation from files")


def test_with_a_test_file_a_tenth_of_the_training_examples_is_held_out(write):
    train, test = write("a.tsv", reviews(*many(40))), write("b.tsv", reviews(*many(3, 100)))
    result = open_examples("labeled", corpus(train, test=(test,), split_ratios="80/10/10"))
    assert {part: len(result.splits[part]) for part in result.splits} == {"train": 36, "validation": 4, "test": 3}
    assert result.rule.startswith("test from files; validation is a tenth of the training examples, assigned")
    assert result.splits["train"] == open_examples("labeled", corpus(train)).splits["train"]


def test_too_few_to_deal_out(write):
    train, other = write("a.tsv", reviews(*many(9))), write("b.tsv", reviews(*many(12)))
    for test in ((), (other,)):
        with pytest.raises(DataError, match=r"a\.tsv' has 9 different inputs in 9 examples; .* at least 10"):
            open_examples("labeled", corpus(train, test=test))
    assert len(open_examples("labeled", corpus(train, validation=(other,))).splits["train"]) == 9


def test_inputs_that_are_alike_are_too_few_to_deal_out(write):
    rows = [(f"{'Text' if at % 2 else 'text'} {at // 2}", "ab"[at % 2]) for at in range(12)]
    with pytest.raises(DataError, match="has 12 different inputs in 12 examples, which are 6 but for case, spaces and"):
        open_examples("labeled", corpus(write("a.tsv", reviews(*rows))))


def test_every_label_is_in_the_training_part(write):
    """Each stands once among a hundred, so that some would be dealt out."""
    rare = [f"rare {number}" for number in range(30)]
    rows = [*many(70), *((f"single {label}", label) for label in rare)]
    result = open_examples("labeled", corpus(write("a.tsv", reviews(*rows)), split_ratios="80/10/10"))
    assert set(labels(result, "train")) == {"odd", "even", *rare}
    assert set(labels(result, "validation", "test")) <= {"odd", "even"}
    assert sum(map(len, result.splits.values())) == 100
    note, singles = result.notes
    assert singles.startswith("30 of the 32 labels have one example each: 'rare 0' (")
    moved = re.fullmatch(r"moved (\d+) examples into the training split, which had none with these labels: (.*)", note)
    assert moved and int(moved[1]) == moved[2].count("'rare ")


def test_labels_of_their_own_are_no_labels(write):
    rows = [(f"text {number}", f"label {number}") for number in range(20)]
    with pytest.raises(DataError, match="almost every example has its own label"):
        open_examples("labeled", corpus(write("a.tsv", reviews(*rows))))


def test_sentences_without_blank_lines_between_them_are_said(write):
    path = write("a.conll", "Mary B-PER\nsaw O\nit O\n" * 30)
    with pytest.raises(
        DataError, match=r"has 1 different input in 1 example; .* No blank line separates its sentences"
    ):
        open_examples("tagged", corpus(path))


def test_shares_that_are_off_are_said_with_the_input_that_is_kept_together(write):
    rows = [f"No comment\t{'ab'[at % 2]}" for at in range(120)] + [f"text {at}\t{'ab'[at % 2]}" for at in range(100)]
    result = open_examples("labeled", corpus(write("a.tsv", "\n".join(["text\tlabel", *rows]) + "\n")))
    (said,) = [note for note in result.notes if "instead of" in note]
    held_out = len(result.splits["validation"])
    assert said.startswith(f"{100 * held_out / 220:.0f}% of the examples instead of 10% are for validation")
    where = "training" if held_out < 22 else "validation"
    assert said.endswith(f"equal inputs stay together: 'No comment' is 55% of the examples, all of it in {where}")


def test_shares_as_asked_for_need_no_words(write):
    rows = [f"text {at // 2}\t{'ab'[at % 2]}" for at in range(200)]
    result = open_examples("labeled", corpus(write("a.tsv", "\n".join(["text\tlabel", *rows]) + "\n")))
    assert not [note for note in result.notes if "instead of" in note]
