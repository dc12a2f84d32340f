"""A list that is read as running text is said, and whether it is sorted."""

import random
from pathlib import Path

import pytest

from seqlab import api
from seqlab.training.progress import Reporter

DRAW = random.Random(0)
WORDS = sorted({"".join(DRAW.choices("abcdefghijklm", k=DRAW.randint(3, 9))) for _ in range(400)})
TINY = {"steps": 1, "hidden": 4, "embedding": 4, "window": 16, "batch_size": 2, "threads": 1, "tokenizer": "byte"}


def notes(folder: Path, lines: list[str], **options: str) -> list[str]:
    (folder / "words.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    said: list[str] = []
    reporter = Reporter()
    reporter.log = said.append  # pyright: ignore[reportAttributeAccessIssue]
    api.train(folder / "words.txt", out=folder / "run", reporter=reporter, overwrite=True, **{**TINY, **options})
    return [note for note in said if "as in a list" in note]


def test_the_end_of_a_sorted_list_is_no_fair_sample(tmp_path: Path) -> None:
    (note,) = notes(tmp_path, [word.title() if at % 7 == 0 else word for at, word in enumerate(WORDS)])
    assert "they are sorted, so that the end of the alphabet is held out: --documents lines" in note


def test_other_lists(tmp_path: Path) -> None:
    (note,) = notes(tmp_path, random.Random(1).sample(WORDS, len(WORDS)))
    assert "sorted" not in note and "--documents lines" in note
    assert notes(tmp_path, WORDS, documents="lines") == []
    assert "sorted" not in notes(tmp_path, ["a b"] * 400)[0]  # equal lines are in any order


def test_a_few_empty_lines_do_not_hide_a_list(tmp_path: Path) -> None:
    (note,) = notes(tmp_path, [*WORDS[:300], "", *WORDS[300:301], "", "", "", *WORDS[301:302], ""])
    assert "they are sorted, so that" in note


SENTENCES = [word for at in range(0, 300, 10) for word in ("", *WORDS[at : at + 10])]


@pytest.mark.parametrize("lines", [WORDS[:40], SENTENCES, [" ".join(WORDS[at : at + 9]) for at in range(0, 300, 3)]])
def test_what_is_no_list(tmp_path: Path, lines: list[str]) -> None:
    assert notes(tmp_path, lines) == []
