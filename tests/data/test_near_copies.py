"""Held-out data that is copied with small changes is found; natural repetition is not."""

import random
import time
from pathlib import Path

import pytest

from seqlab.config import CorpusSettings
from seqlab.data.examples.example import LabeledText
from seqlab.data.near_copies import near_copied_examples, near_copied_sentences, near_copies, reworded_notes
from seqlab.data.overlap import measure_overlap
from seqlab.data.text.corpus import corpus_from_text
from seqlab.data.text.split import SplitText, split_text


def words(count: int, seed: int = 0) -> str:
    draw = random.Random(seed)
    known = ["".join(draw.choices("abcdefghij", k=draw.randint(2, 8))) for _ in range(400)]
    return " ".join(draw.choices(known, k=count))


def changed(text: str, every: int, seed: int = 0) -> str:
    """One character in `every` is replaced, dropped or doubled."""
    draw = random.Random(seed)
    return "".join(draw.choice(["", "X", 2 * letter]) if draw.random() < 1 / every else letter for letter in text)


def split(text: str, documents: str = "stream") -> SplitText:
    settings = CorpusSettings.model_validate({"source": ("text",), "documents": documents})
    return split_text(corpus_from_text(text, "text"), settings)


def with_copy(every: int) -> str:
    """A text whose last tenth is its beginning with changes."""
    first = words(9000)
    return first + changed(first[: len(first) // 9], every)


def test_a_copy_of_running_text_with_changes() -> None:
    text = split(with_copy(every=30))
    assert measure_overlap(text).share < 0.5  # word for word, most windows differ
    assert near_copies(text, "validation").share > 0.9


def test_new_text_of_the_same_words_is_no_copy() -> None:
    result = near_copies(split(words(10_000)), "validation")
    assert result.repeated == 0 and result.checked > 30


def test_lines_and_examples() -> None:
    known = [words(12, seed) for seed in range(200)]
    new = [words(12, seed) for seed in range(1000, 1040)]
    copied = [changed(line, 30, seed) for seed, line in enumerate(known[:40])]
    training = [LabeledText(line, "a") for line in known]
    for lines, least, most in ((new, 0, 0), (copied, 36, 40)):
        result = near_copied_examples([LabeledText(line, "a") for line in lines], training)
        assert result.checked == 40 and least <= result.repeated <= most
    text = split("\n".join([*known, *copied]), "lines")
    assert near_copies(text, "validation").repeated > 0


def test_short_inputs_are_compared_but_for_case_and_punctuation() -> None:
    known = ("Thank you, everybody here!", "7* 3 1* 2 2 3 4 5 6 7 8", "fine")
    training = [LabeledText(text, "a") for text in known]
    short = ["thank you everybody here", "7* 3 1 2 2 3* 4 5 6 7 8", "thank you everybody there", "Fine."]
    result = near_copied_examples([LabeledText(text, "a") for text in short], training)
    assert (result.checked, result.repeated) == (3, 1)  # "Fine." may be a coincidence
    assert result.unit == (
        "inputs of 20 characters or more, without case, punctuation and addresses (3 under 40: only equal ones)"
    )
    mixed = near_copied_examples([LabeledText(text, "a") for text in (short[0], words(12))], training)
    assert (mixed.checked, mixed.repeated) == (2, 1) and "(1 under 40" in mixed.unit


def test_long_inputs_in_other_case_and_punctuation_are_copies() -> None:
    known = [words(12, seed) for seed in range(200)]
    training = [LabeledText(line, "a") for line in known]
    copied = [change(line) for line in known[:20] for change in (str.upper, lambda line: line.replace(" ", ", ") + "!")]
    result = near_copied_examples([LabeledText(line, "a") for line in copied], training)
    assert (result.checked, result.repeated) == (40, 40) and "under 40" not in result.unit


def test_copies_are_found_among_phrases_that_all_examples_repeat() -> None:
    """Their n-grams are too frequent to tell anything."""
    known = [f"The film was great and the meal was great and the song was number {at}" for at in range(300)]
    training = [LabeledText(line, "a") for line in known]
    copied = [LabeledText(line.upper(), "a") for line in known[:20]]
    assert near_copied_examples(copied, training).repeated == 20
    other = LabeledText("The film was great and the meal was poor, for nobody had cooked it with any care at all", "a")
    assert near_copied_examples([other], training).repeated == 0


@pytest.mark.parametrize("copies", [3, 12, 20, 60])
def test_many_copies_of_a_line_hide_nobody(copies: int) -> None:
    """The more copies there were, the fewer were found: their n-grams were taken for phrases that all lines repeat."""
    draw = random.Random(copies)
    known = words(18).split()
    lines = [" ".join(draw.choices(known, k=14)) for _ in range(60)]
    filled = [f"in {draw.randint(1000, 9999)} {line}" for line in lines for _ in range(copies)]
    draw.shuffle(filled)
    cut = len(filled) // 10
    result = near_copied_examples(*([LabeledText(line, "a") for line in some] for some in (filled[:cut], filled[cut:])))
    assert result.share > 0.7


@pytest.mark.parametrize("count", [300, 10_000])
def test_forms_that_differ_in_a_number_are_copies(count: int) -> None:
    orders = [f"Order no. {1000 + at} was received and forwarded to the central warehouse." for at in range(count)]
    new, known = ([LabeledText(line, "a") for line in some] for some in (orders[::10], orders))
    known = [example for example in known if example not in set(new)]
    began = time.process_time()
    assert near_copied_examples(new, known).share == 1
    assert time.process_time() - began < 10


def test_what_all_lines_begin_with_makes_no_copies() -> None:
    lines = [f"Order no. {1000 + at} was received and forwarded: {words(14, at)}" for at in range(3000)]
    new, known = ([LabeledText(line, "a") for line in some] for some in (lines[:300], lines[300:]))
    assert near_copied_examples(new, known).repeated == 0


def test_reposts_are_copies_whatever_their_addresses() -> None:
    known = [f"{words(9, seed)} https://t.co/{seed:06}" for seed in range(100)]
    training = [LabeledText(line, "a") for line in known]
    reposts = [f"RT @user{at}: {line.partition('https')[0]}www.example.com/{at}" for at, line in enumerate(known[:20])]
    assert near_copied_examples([LabeledText(line, "a") for line in reposts], training).repeated == 20
    links = [LabeledText(f"@you see https://example.com/a/long/path/{at}", "a") for at in range(5)]
    assert near_copied_examples(links, [LabeledText(links[0].text + "9", "a")]).checked == 0  # nothing is left of them


def test_held_out_inputs_that_are_reworded_are_noted() -> None:
    known = [LabeledText(words(9, seed) + ".", "a") for seed in range(100)]
    other = [LabeledText(words(9, seed), "a") for seed in range(200, 290)]
    changed = [LabeledText(f"RT @me: {example.text.rstrip('.')}!!", "a") for example in known[:10]]
    (note,) = reworded_notes({"train": known, "validation": [*other, *changed]})
    assert note.startswith(
        "validation: 10 of 100 inputs (10.0%) differ from a training input only in case, punctuation"
    )
    (note,) = reworded_notes({"train": other[:30], "validation": known, "test": [*changed, *other[40:]]})
    assert note.startswith("test: 10 of 60 inputs") and "a validation input" in note and "chosen on validation" in note
    assert reworded_notes({"train": known, "validation": [*other, *known]}) == []  # equal ones have other notes
    short = [LabeledText(text, "a") for text in ("Thanks!", "thanks.")]
    assert reworded_notes({"train": short[:1], "validation": short[1:]}) == []


def test_held_out_inputs_with_small_changes_are_noted() -> None:
    known = [LabeledText(words(12, seed), "a") for seed in range(200)]
    new = [LabeledText(words(12, seed), "a") for seed in range(1000, 1090)]
    copied = [LabeledText(f"{example.text} and more", "a") for example in known[:10]]
    (note,) = reworded_notes({"train": known, "validation": [*new, *copied]})
    assert note.startswith(
        "validation: 10 of 100 inputs of 40 characters or more (10.0%) are near copies of a training"
    )
    assert f"such as '{copied[0].text[:40]}" in note and "seqlab audit" in note
    assert reworded_notes({"train": known, "validation": [*new, copied[0]]}) == []  # natural text has as many
    (note,) = reworded_notes({"train": new, "validation": known, "test": copied})
    assert note.startswith("test: 10 of 10 inputs") and "near copies of a validation input" in note


def test_many_inputs_are_compared_quickly_and_what_was_compared_is_said() -> None:
    known = [LabeledText(words(12, seed), "a") for seed in range(2000)]
    training = [LabeledText(f"{example.text} {part} {100 * part}", "a") for part in range(30) for example in known]
    held_out = [LabeledText(f"{example.text} thing", "a") for example in known]
    started = time.process_time()
    (note,) = reworded_notes({"train": training, "validation": held_out})
    assert time.process_time() - started < 20
    assert note.startswith("validation: 500 of 500 inputs") and "a training input among " in note
    assert " of 60,000 (seqlab audit compares more of them)" in note


@pytest.mark.parametrize("name", ["tiny-shakespeare/input.txt", "multi30k-en-de/train.en"])
def test_natural_text_is_not_flagged(shared_data: Path, name: str) -> None:
    text = (shared_data / name).read_text(encoding="utf-8")[:400_000]
    assert near_copies(split(text), "validation").share < 0.02


def test_running_text_is_compared_without_case() -> None:
    first = words(9000)
    text = split(first + first[: len(first) // 9].upper())
    assert measure_overlap(text).repeated == 0
    assert near_copies(text, "validation").share > 0.9


def test_of_long_inputs_the_beginning_is_compared_and_said() -> None:
    """Notes that call them equal compare all of them."""
    begins = words(300)
    training, held_out = ([LabeledText(f"{begins} {end}", "a")] for end in ("the first end", "another end"))
    result = near_copied_examples(held_out, training)
    assert result.repeated == 1 and "(1 over 1,000: their beginning)" in result.unit
    (note,) = reworded_notes({"train": training, "validation": held_out})
    assert "near copies" in note
    same = [LabeledText(f"{begins}, the first end!", "a")]
    (note,) = reworded_notes({"train": training, "validation": same})
    assert "only in case, punctuation" in note


def test_few_texts_of_the_same_phrases_are_no_nearer_than_many() -> None:
    """What is frequent depends on how many texts there are."""
    draw = random.Random(0)
    phrases = ["".join(draw.choices("abcdefgh", k=12)) for _ in range(24)]
    texts = [" ".join(draw.choices(phrases, k=6)) for _ in range(1500)]
    held_out, few, many = texts[:150], texts[150:300], texts[300:]
    shares = [near_copied_sentences(held_out, some, "inputs").share for some in (few, many)]
    assert shares[0] <= shares[1] < 0.2
