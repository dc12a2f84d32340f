import random
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqlab.config import CorpusSettings
from seqlab.data import overlap as module
from seqlab.data.overlap import WINDOW, Overlap, measure_overlap
from seqlab.data.text.corpus import Corpus
from seqlab.data.text.split import split_text

quick = settings(max_examples=40)


def split(text, documents: Literal["stream", "lines"] = "stream", block=10**9):
    blocks = [text[at : at + block] for at in range(0, len(text), block)]
    return split_text(Corpus("x", lambda: iter(blocks)), CorpusSettings(source=("x",), documents=documents))


def random_text(length, seed=0):
    draw = random.Random(seed)
    return "".join(draw.choices("abcdefgh é日😀\n", k=length))


@quick
@given(data=st.data(), block=st.integers(1, 300), chunk=st.integers(1, 300))
def test_windows_are_found_where_python_finds_them(data, block, chunk):
    """Held-out text is a patchwork of training text and new text."""
    known, new = random_text(1800), random_text(400, seed=1)
    held_out = ""
    while len(held_out) < 200:
        source = data.draw(st.sampled_from([known, new]))
        first = data.draw(st.integers(0, 300))
        held_out += source[first : first + data.draw(st.integers(1, 90))]
    actual = split(known + held_out[:200], block=block)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", chunk)
        result = measure_overlap(actual)
    train, validation = actual.text("train"), actual.text("validation")
    windows = [validation[at : at + WINDOW] for at in range(0, len(validation) - WINDOW + 1, WINDOW)]
    assert result == Overlap("windows of 32 characters", len(windows), sum(window in train for window in windows))


def test_a_window_that_is_repeated_counts_each_time():
    known = random_text(1800)
    overlap = measure_overlap(split(known + known[:WINDOW] * 6 + known[:8]))
    assert (overlap.checked, overlap.repeated) == (6, 6)


def test_a_long_held_out_part_is_sampled_evenly(monkeypatch):
    """The second half of the held-out part repeats the training text."""
    monkeypatch.setattr(module, "MAX_CHECKED", 100)
    known = random_text(90_000)
    result = measure_overlap(split(known + random_text(5000, seed=1) + known[:5000], block=777))
    assert 75 <= result.checked <= 150
    assert result.share == pytest.approx(0.5, abs=0.02)


def test_lines_that_stand_in_both_parts():
    draw = random.Random(0)
    lines = [draw.choice(["anna", "bob", f"name {number}"]) for number in range(500)]
    result = split("\n".join(lines) + "\n", documents="lines")
    train, held_out = set(result.lines("train")), list(result.lines("validation"))
    assert measure_overlap(result) == Overlap("lines", len(held_out), sum(line in train for line in held_out))


def test_many_lines_are_sampled(monkeypatch):
    monkeypatch.setattr("seqlab.data.text.split.MAX_CHECKED", 20)
    result = measure_overlap(split("".join(f"{number % 700}\n" for number in range(1400)), documents="lines"))
    assert result.checked == 20
    assert 0.7 < result.share <= 1


def test_a_held_out_part_shorter_than_a_window():
    result = measure_overlap(split(random_text(100)))
    assert (result.checked, result.share) == (0, 0)
    assert "too short" in str(result)


@pytest.mark.parametrize(
    ("found", "words"), [(0, "text is new"), (3, "hardly any"), (50, "some"), (400, "memorizing pays")]
)
def test_it_is_said_in_words(found, words):
    said = str(Overlap("lines", 1000, found))
    assert f"{found:,} of 1,000 held-out lines ({found / 1000:.1%})" in said
    assert words in said


def test_new_text_is_new():
    assert measure_overlap(split(random_text(20_000))).repeated == 0


def test_all_of_it_is_known():
    assert measure_overlap(split(random_text(1000) * 20)).share == 1
