"""seqlab speedrun: one command from raw text to a mixed model, its record, and what it refuses."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import seqlab as library
from seqlab.recipes import recipe as read_recipe
from seqlab.speedruns import speedrun as module
from seqlab.speedruns.speedrun import RECIPES, Attempt, Speedrun
from seqlab.training import session
from seqlab.training.loop import TrainingProgress

WORDS = "the quick brown fox jumps over the lazy dog and runs to the sea where the cat sat on a mat. "


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "my.txt"
    file.write_text(WORDS * 120, encoding="utf-8")
    return file


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recipe with fewer units, and some steps instead of minutes."""
    tables = {"backbone": {"name": "lstm", "hidden": 8}, "model": {"embedding": 8}}
    tables["task"] = {"mix": "counts", "window": 16, "batch_size": 4}
    monkeypatch.setattr(module, "read_recipe", lambda name: tables)
    monkeypatch.setattr(
        module, "RESERVE", 299.0 - module.RESERVED_SHARE * 300 + 0.5
    )  # half a second is left for training


def test_the_command_gives_a_model_and_a_record(
    text: Path, tmp_path: Path, small: None, seqlab: Callable[..., Any]
) -> None:
    out = tmp_path / "best"
    answer = seqlab("speedrun", str(text), "--seeds", "2", "--out", str(out))
    assert answer.code == 0 and "network alone" in answer.out and "Mean " in answer.out
    record = json.loads((out / "speedrun.json").read_text(encoding="utf-8"))
    assert len(record["attempts"]) == 2 and record["minutes"] == 5 and record["interval"]
    assert all(attempt["machine"] and attempt["date"] for attempt in record["attempts"])
    run = library.load(out / "seed-1")
    assert run.model.mixture is not None and run.results is not None
    assert record["attempts"][1]["steps"] == run.results.steps
    assert record["attempts"][1]["window"] == pytest.approx(
        run.results.validation["bits_per_char"] * 0.693147, rel=1e-4
    )


def test_the_record_chooses_no_weights_by_validation_and_other_texts_do(
    text: Path, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[TrainingProgress] = []
    original = session.finish
    monkeypatch.setattr(session, "finish", lambda *given: ended.append(given[1]) or original(*given))
    library.speedrun(text, out=tmp_path / "own")
    monkeypatch.setattr(module, "TEXT", str(text))
    library.speedrun(text, out=tmp_path / "record")
    logs = [(tmp_path / name / "seed-0" / "metrics.jsonl").read_text() for name in ("own", "record")]
    own, record = (log.count("validation_loss") for log in logs)
    assert own > 1 and record == 1
    assert ended[1].best_step == ended[1].step


def test_what_cannot_be_run_is_refused(text: Path, tmp_path: Path, seqlab: Callable[..., Any]) -> None:
    assert "no recipe for 1 minute: expected 5, 20, 60" in seqlab("speedrun", str(text), "--minutes", "1").err
    assert "expected 1 to 100" in seqlab("speedrun", str(text), "--seeds", "0").err
    assert "the first seed is -1" in seqlab("speedrun", str(text), "--first-seed", "-1").err
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    answer = seqlab("speedrun", str(text), "--out", str(tmp_path / "full"))
    assert answer.code == 2 and "not empty" in answer.err
    table = tmp_path / "reviews.csv"
    table.write_text("text,label\n" + "a good one,yes\na bad one,no\n" * 30, encoding="utf-8")
    answer = seqlab("speedrun", str(table))
    assert answer.code == 2 and "language model" in answer.err
    answer = seqlab("speedrun", str(tmp_path / "nofile.txt"))
    assert answer.code == 66 and "there is no file" in answer.err
    assert "clock" not in answer.err + answer.out


def test_the_same_command_continues_with_the_seeds_that_are_missing(
    text: Path, tmp_path: Path, small: None, seqlab: Callable[..., Any]
) -> None:
    out = tmp_path / "best"
    first = library.speedrun(text, out=out)
    shutil.copytree(out / "seed-0", out / "seed-1")
    (out / "seed-1" / "results.json").unlink()  # an attempt that was interrupted
    answer = seqlab("speedrun", str(text), "--seeds", "2", "--out", str(out))
    assert answer.code == 0, answer.err
    assert "seed 0 is finished" in answer.err + answer.out
    record = json.loads((out / "speedrun.json").read_text(encoding="utf-8"))
    assert record["attempts"][0] == first.as_dict()["attempts"][0] and record["attempts"][1]["seed"] == 1
    answer = seqlab("speedrun", str(text), "--first-seed", "7", "--out", str(out))
    record = json.loads((out / "speedrun.json").read_text(encoding="utf-8"))
    assert [attempt["seed"] for attempt in record["attempts"]] == [0, 1, 7]
    assert library.load(out / "seed-7").settings.train.seed == 7
    answer = seqlab("speedrun", str(text), "--minutes", "20", "--out", str(out))
    assert answer.code == 2 and "choose another --out" in answer.err
    text.write_text(WORDS * 100, encoding="utf-8")
    answer = seqlab("speedrun", str(text), "--seeds", "3", "--out", str(out))
    assert answer.code == 2 and "the text has changed since seed 0" in answer.err


def test_attempts_that_took_too_long_are_said() -> None:
    facts = (1.5, 1.4, 1.6, "0123", "a machine", None, "today")
    attempts = [Attempt(seed, "", 10, seconds, *facts) for seed, seconds in enumerate((250.0, 312.0))]
    record = Speedrun(5, "mine", ["my.txt"], attempts, {})
    assert any("seed 1 by 12 s" in sentence for sentence in record.sentences)


@pytest.mark.parametrize("minutes", RECIPES)
def test_recipes_are_mixed_with_counts_in_windows_of_256(minutes: int) -> None:
    tables = read_recipe(RECIPES[minutes])
    assert tables["task"]["mix"] == "counts" and tables["task"]["window"] == 256


def test_one_that_is_interrupted_in_its_first_seed_begins_anew(
    text: Path, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch, seqlab: Callable[..., Any]
) -> None:
    out = tmp_path / "best"
    with monkeypatch.context() as patch:
        patch.setattr("seqlab.training.loop.Trainer.run", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            library.speedrun(text, out=out)
    assert (out / "seed-0").exists() and json.loads((out / "speedrun.json").read_text())["attempts"] == []
    answer = seqlab("speedrun", str(text), "--out", str(out))
    assert answer.code == 0, answer.err
    assert len(json.loads((out / "speedrun.json").read_text())["attempts"]) == 1


def test_a_finished_seed_is_not_shown_for_another_text(
    text: Path, tmp_path: Path, small: None, seqlab: Callable[..., Any]
) -> None:
    library.speedrun(text, out=tmp_path / "best")
    text.write_text(WORDS * 100, encoding="utf-8")
    answer = seqlab("speedrun", str(text), "--out", str(tmp_path / "best"))
    assert answer.code == 2 and "the text has changed since seed 0" in answer.err
    answer = seqlab("speedrun", "-", "--seeds", "2", "--out", str(tmp_path / "piped"))
    assert answer.code == 2 and "standard input can be read once" in answer.err
