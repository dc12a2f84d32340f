"""Labels that their inputs give away, and honest inputs that only look like it."""

import random
from collections.abc import Callable

import pytest

from seqlab.data.content_notes import content_notes
from seqlab.data.examples.example import Examples, LabeledText, TaggedSentence, TextPair
from seqlab.data.examples.giveaways import giveaways

LABELS = ("sport", "politics", "music")
WORDS = (
    *("the", "a", "of", "in", "on", "new", "old", "big", "small", "man", "woman", "team", "vote", "song", "city"),
    *("day", "said", "was", "goes", "plays", "7pm", "2nd"),
)
TYPICAL = {"sport": "team", "politics": "vote", "music": "song"}


def texts(write: Callable[[random.Random, int, str, str], str], count: int = 300) -> list[LabeledText]:
    """Sentences in which a typical word goes with the label more often than not, rewritten by `write`."""
    draw = random.Random(0)
    examples = []
    for at in range(count):
        label = draw.choice(LABELS)
        words = draw.choices(WORDS, k=8) + ([TYPICAL[label]] if draw.random() < 0.7 else [])
        draw.shuffle(words)
        examples.append(LabeledText(write(draw, at, " ".join(words), label), label))
    return examples


PLANTED: dict[str, Callable[[random.Random, int, str, str], str]] = {
    "the label at the end": lambda draw, at, text, label: f"{text} {label}",
    "the label in four of ten texts": lambda draw, at, text, label: f"{label.upper()}: {text}" if at % 5 < 2 else text,
    "the label of one class": lambda draw, at, text, label: f"{text} on music" if label == "music" else text,
    "numbers by class": lambda draw, at, text, label: f"{LABELS.index(label) * 1000 + at} {text}",
    "users of one class each": lambda draw, at, text, label: (
        f"a user{3 * draw.randrange(9) + LABELS.index(label)} {text}"
    ),
    "a key": lambda draw, at, text, label: f"{text} desk={'xyz'[LABELS.index(label)]} {text}",
    "a file name": lambda draw, at, text, label: f"{text} {'xyz'[LABELS.index(label)]}_{at:03}.txt",
    "a mark of one class": lambda draw, at, text, label: f"<b> {text}" if label == "sport" else text,
}
HONEST: dict[str, Callable[[random.Random, int, str, str], str]] = {
    "as it is": lambda draw, at, text, label: text,
    "running numbers": lambda draw, at, text, label: f"{at} {text}",
    "any user": lambda draw, at, text, label: f"user{draw.randrange(20)} {text}",
    "any key": lambda draw, at, text, label: f"desk={draw.choice('xyz')} {text}",
    "labels in some texts": lambda draw, at, text, label: f"{text} {label}" if at % 5 == 0 else text,
    "names of any label": lambda draw, at, text, label: f"{text} {draw.choice(LABELS)}",
    "a mark everywhere": lambda draw, at, text, label: f"<b> {text} </b>",
}


@pytest.mark.parametrize("leak", PLANTED)
def test_what_gives_labels_away(leak: str) -> None:
    assert giveaways(texts(PLANTED[leak]))


@pytest.mark.parametrize("kind", HONEST)
def test_what_is_honest(kind: str) -> None:
    assert giveaways(texts(HONEST[kind])) == []


def test_what_is_said() -> None:
    label, last = giveaways(texts(PLANTED["the label at the end"]))
    assert label.startswith("the names of 3 of 3 labels are in their own inputs: '") and "' in 100% of them" in label
    assert last == "the last word tells 300 of 300 labels"
    [mark] = [one for one in giveaways(texts(PLANTED["a mark of one class"])) if one.startswith("'<b>'")]
    assert mark.endswith("inputs of 'sport' and in 0 others")


def test_few_inputs_prove_nothing() -> None:
    """Four inputs with a mark each may have it by accident."""
    assert giveaways([LabeledText(f"text{at % 2} is it", str(at % 2)) for at in range(4)]) == []


def test_tags_in_their_words() -> None:
    sentences = [TaggedSentence(("fox", "runs", f"far{at}"), ("NOUN", "VERB", "ADV")) for at in range(20)]
    assert giveaways(sentences) == []
    tagged = [TaggedSentence(("fox_NOUN", "runs_VERB", f"far{at}"), ("NOUN", "VERB", "ADV")) for at in range(20)]
    assert giveaways(tagged)[0].startswith("the names of 2 of 3 labels")
    spans = [TaggedSentence(("Ann|per", "in", f"Rome{at}|loc"), ("B-per", "O", "I-loc")) for at in range(20)]
    assert giveaways(spans)[0].startswith("the names of 2 of 2 labels")


def test_targets_in_their_sources() -> None:
    pairs = [TextPair(f"the fox {at}", f"der Fuchs {at}") for at in range(20)]
    assert giveaways(pairs) == [] == giveaways([TextPair(pair.source, pair.source) for pair in pairs])
    assert giveaways([TextPair("walked", "walk"), TextPair("talked", "talk")]) == []  # lemmas
    joined = [TextPair(f"{pair.source} ||| {pair.target}", pair.target) for pair in pairs]
    assert giveaways(joined) == ["20 of 20 sources begin or end with their target"]


@pytest.mark.parametrize("kind, said", [("the label at the end", True), ("a key", True), ("as it is", False)])
def test_training_says_what_its_inputs_give_away(kind: str, said: bool) -> None:
    examples = texts({**PLANTED, **HONEST}[kind])
    notes = content_notes(Examples("my", {"train": examples[:200], "validation": examples[200:]}, "", ""))
    found = [note for note in notes if "(300 inputs checked). Where new inputs lack this" in note]
    assert bool(found) == said and all("seqlab audit" in note for note in found)
