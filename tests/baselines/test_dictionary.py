"""Copying and word-by-word translation, against IBM Model 1 one word at a time, and what they reach on captions."""

import json
import subprocess
import sys
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.baselines import dictionary
from seqlab.baselines.dictionary import Copy, Dictionary
from seqlab.data.examples.example import TextPair
from seqlab.metrics.bleu import bleu, bleu_sums

HOUSE = [TextPair("das Haus", "the house"), TextPair("das Buch", "the book"), TextPair("ein Buch", "a book")]
side = st.lists(st.sampled_from("abcd"), max_size=5).map(" ".join)
pair_lists = st.lists(st.builds(TextPair, side, side.map(str.upper)), min_size=1, max_size=6)


def translate(model: Copy | Dictionary, text: str) -> str:
    return model.predict([TextPair(text, "")])[0]


def one_word_at_a_time(pairs, iterations):
    """t[source][target] after some iterations; None is the empty word."""
    sentences = [([None, *pair.source.split()], pair.target.split()) for pair in pairs]
    t = defaultdict(lambda: defaultdict(lambda: 1.0))
    for _ in range(iterations):
        counts = defaultdict(lambda: defaultdict(float))
        for source, target in sentences:
            for f in target:
                total = sum(t[e][f] for e in source)
                for e in source:
                    counts[e][f] += t[e][f] / total
        t = {e: {f: count / sum(row.values()) for f, count in row.items()} for e, row in counts.items()}
    return t


def test_the_house_and_the_book():
    """Koehn's example: that 'Buch' is 'book' leaves 'das' for 'the' and 'ein' for 'a'."""
    model = Dictionary.fit(HOUSE)
    assert {source: target for source, (target, _) in model.entries.items()} == {
        "das": "the",
        "Haus": "house",
        "Buch": "book",
        "ein": "a",
    }
    assert translate(model, "ein Haus") == "a house"


def test_it_converges():
    probabilities = [Dictionary.fit(HOUSE, iterations).entries["Buch"][1] for iterations in (1, 5, 50)]
    assert probabilities == sorted(probabilities) and probabilities[0] < 0.6 and probabilities[-1] > 0.95


@given(pair_lists, st.integers(1, 6))
def test_one_word_at_a_time(pairs, iterations):
    expected = one_word_at_a_time(pairs, iterations)
    entries = Dictionary.fit(pairs, iterations).entries
    assert set(entries) == set(expected) - {None}
    for source, (target, probability) in entries.items():
        assert probability == pytest.approx(max(expected[source].values()), abs=1e-12)
        assert expected[source][target] == pytest.approx(probability, abs=1e-12)


def test_five_iterations_unless_told_otherwise():
    assert Dictionary.fit(HOUSE).entries == Dictionary.fit(HOUSE, 5).entries
    assert "5 iterations" in Dictionary.fit(HOUSE).about


def test_unknown_words_are_copied():
    model = Dictionary.fit([*HOUSE, TextPair("allein", "")])
    assert translate(model, "  das   Schloss\tallein ") == "the Schloss allein"
    assert translate(model, "") == ""


def test_nothing_to_learn_from():
    for pairs in ([], [TextPair("", "")], [TextPair("a", "")]):
        assert translate(Dictionary.fit(pairs), "a b") == "a b"
    assert translate(Dictionary.fit([TextPair("", "a")]), "a  b") == "a b"


def test_of_many_pairs_the_first_are_learnt_from(monkeypatch):
    pairs = HOUSE + [TextPair("das", "wrong")] * 9
    assert "first" not in Dictionary.fit(pairs).about
    monkeypatch.setattr(dictionary, "MAX_LINKS", 17)
    model = Dictionary.fit(pairs)
    assert model.about.endswith("trained on the first 3 training pairs")
    assert model.entries == Dictionary.fit(HOUSE).entries


def test_a_pair_of_enormous_lines_is_left_out_and_said():
    """Twenty thousand words on each side would be 400 million pairs of words."""
    enormous = TextPair(*(" ".join(f"{side}{number}" for number in range(20_000)) for side in "ab"))
    model = Dictionary.fit([enormous, *HOUSE])
    assert model.entries == Dictionary.fit(HOUSE).entries
    assert model.about.endswith("training pairs left out, with more than 250,000 pairs of words: 1")
    assert "left out" not in Dictionary.fit(HOUSE).about
    assert translate(Dictionary.fit([enormous]), "a b") == "a b"


def test_copying():
    assert translate(Copy(), "  as it\tis ") == "  as it\tis "
    assert "a copy" in Copy().about


MEASURE = """
import json, resource, sys
from seqlab.baselines.dictionary import Dictionary
from seqlab.data.examples.example import TextPair
train, test = json.load(sys.stdin)
before = resource.getrusage(resource.RUSAGE_SELF)
model = Dictionary.fit([TextPair(*sides) for sides in train])
after = resource.getrusage(resource.RUSAGE_SELF)
seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
megabytes = after.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
if sys.platform == "linux":  # where ru_maxrss counts the parent's memory from before the start, too
    megabytes = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 2**10
print(json.dumps([seconds, megabytes, model.predict([TextPair(*sides) for sides in test])]))
"""


def test_captions(shared_data):
    """Multi30k, English to German, in a process of its own to see what it costs."""
    folder = shared_data / "multi30k-en-de"
    if not folder.is_dir():
        pytest.skip(f"there is no folder '{folder}'")

    def read(split):
        sides = ((folder / f"{split}.{side}").read_text(encoding="utf-8").splitlines() for side in ("en", "de"))
        return list(zip(*sides, strict=True))

    train, test = read("train"), read("test2016")
    command = [sys.executable, "-c", MEASURE]
    done = subprocess.run(command, input=json.dumps([train, test]), capture_output=True, check=True, text=True)
    seconds, megabytes, translated = json.loads(done.stdout)
    assert seconds < 30
    assert megabytes < 1000

    def score(hypotheses):
        sums = [bleu_sums(target, text, "none") for text, (_, target) in zip(hypotheses, test, strict=True)]
        return float(bleu(np.sum(sums, axis=0)))

    assert score(Copy().predict([TextPair(*sides) for sides in test])) < 2
    assert score(translated) > 10
