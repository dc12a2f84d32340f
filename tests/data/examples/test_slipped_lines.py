"""Parallel files whose lines slip are said with the line where it begins; honest ones are not."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from seqlab.config import CorpusSettings
from seqlab.data.examples.load import open_examples

Write = Callable[[str, str], Path]
Sides = tuple[list[str], list[str]]


def pairs(count: int, seed: int = 0) -> Sides:
    """Sentences of any length, and translations that are about as long."""
    draw = random.Random(seed)
    lengths = [draw.randint(3, 25) for _ in range(count)]
    source = [f"{at} {'word ' * length}" for at, length in enumerate(lengths)]
    return source, [f"{at} {'Wort ' * max(1, length + draw.randint(-3, 3))}" for at, length in enumerate(lengths)]


def slipped(sides: Sides, first: int, lines: int, more: int = 1) -> Sides:
    """The source has `more` lines before its line `first`, and the target so many lines later."""
    source, target = sides
    end = first - 1 + lines
    extra = ["- 17 -"] * more
    return [*source[: first - 1], *extra, *source[first - 1 :]], [*target[:end], *extra, *target[end:]]


def notes(write: Write, source: list[str], target: list[str]) -> list[str]:
    files = [write(name, "\n".join(side) + "\n") for name, side in (("a.en", source), ("a.de", target))]
    found = open_examples("pairs", CorpusSettings(source=tuple(map(str, files)))).notes
    return [note for note in found if "seem to slip" in note]


@pytest.mark.parametrize("first, lines, more", [(1, 500, 1), (200, 100, 1), (301, 200, 2)])
def test_the_line_where_it_begins_is_said(write: Write, first: int, lines: int, more: int) -> None:
    source, target = slipped(pairs(500), first, min(lines, 501 - first), more)
    (note,) = notes(write, source, target)
    (turned,) = notes(write, target, source)
    said = int(note.partition("from about line ")[2].split()[0])
    assert abs(said - first) < 10 and note.endswith(f"shortly before line {said}")
    assert f"{'1 line' if more == 1 else '2 lines'} too many in a.en" in note and "above" in note
    assert "too many in a.de" in turned and "below" in turned


def test_honest_pairs_are_not_flagged(write: Write) -> None:
    source, target = pairs(2000)
    other = pairs(2000, seed=1)[1]
    in_order = sorted(range(2000), key=lambda at: len(source[at]))
    dialog = [f"{at} {'word ' * (2 if at % 2 else 20)}" for at in range(2000)]
    for sides in (
        (source, target),
        ([source[at] for at in in_order], [target[at] for at in in_order]),
        (source, other),  # lengths tell nothing
        (source[:12], other[:12]),
        (dialog, [line.replace("word", "Wort") for line in dialog]),
        ([f"{at:05}" for at in range(2000)], [f"{at:06}" for at in range(2000)]),
    ):
        assert notes(write, *sides) == []


def test_real_pairs_slip_only_when_they_are_moved(shared_data: Path, write: Write) -> None:
    source, target = (
        (shared_data / "multi30k-en-de" / name).read_text(encoding="utf-8").splitlines()
        for name in ("val.en", "val.de")
    )
    assert notes(write, source, target) == []
    (note,) = notes(write, *slipped((source, target), 401, 80))
    assert 395 <= int(note.partition("from about line ")[2].split()[0]) <= 410
