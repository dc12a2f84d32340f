"""seqlab evaluate RUN FILE says what is odd about the file, and nothing about the run's own data."""

from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
pytestmark = pytest.mark.filterwarnings("default::seqlab.errors.SeqlabWarning")


def words(count: int) -> str:
    return " ".join(islice(cycle(["the", "old", "cat", "sat", "on", "a", "mat", "by", "sea"]), count))


def test_no_word_about_characters_of_the_runs_own_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seqlab: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.txt").write_text(words(2000) + "ÄÖ " * 40, encoding="utf-8")  # held out, and unknown
    Path("other.txt").write_text(words(300), encoding="utf-8")
    seqlab("train", "my.txt", "--steps", "2", "--hidden", "8", "--out", "r")
    answer = seqlab("evaluate", "r", "other.txt")
    assert answer.code == 0 and "Ä" not in answer.out + answer.err


def test_what_is_odd_about_other_examples_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seqlab: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.csv").write_text("text,label\n" + "".join(f"good one {i},yes\nbad one {i},no\n" for i in range(60)))
    rows = [*(f"fine thing {i},yes" for i in range(5))] * 8 + ["so so,yes", "so so,no"]
    Path("other.csv").write_text("text,label\n" + "\n".join(rows) + "\n")
    seqlab("train", "my.csv", "--steps", "2", "--out", "r")
    answer = seqlab("evaluate", "r", "other.csv")
    shown = " ".join((answer.out + answer.err).split())
    assert "36 of the 42 examples repeat an earlier input" in shown
    assert "1 input has different labels" in shown
    assert "results are based on 42 examples, fewer than 200" in shown
