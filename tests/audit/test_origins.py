"""What a run started from: recorded in config.json, and followed to the text that its weights have seen."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from audit_cases import TINY, new_text
from example_files import labelled

from seqlab import api
from seqlab.audit.audit import audit
from seqlab.audit.origins import origins
from seqlab.audit.result import CheckResult
from seqlab.training.progress import Reporter


def trained(source: Path, name: str, **options: Any) -> api.Run:
    return api.train(source, out=source.parent / name, reporter=Reporter(), **{**TINY, **options})


def origin_check(run: api.Run) -> CheckResult:
    return next(check for check in audit(run) if check.name == origins.name)


def seen_notes(run: api.Run) -> list[str]:
    """What was said of the runs that it started from."""
    return [note for note in run.config["corpus"].get("notes", []) if "was trained on" in note]


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A text, another one, and one that begins with the end of the first."""
    first, second = new_text(6000), new_text(6000, seed=1)
    paths = [tmp_path / name for name in ("text.txt", "other.txt", "leaking.txt")]
    for path, content in zip(paths, (first, second, first[-1500:] + second), strict=True):
        path.write_text(content, encoding="utf-8")
    return paths[0], paths[1], paths[2]


def test_weights_that_saw_another_text_are_no_leak(texts: tuple[Path, Path, Path]) -> None:
    text, other, _ = texts
    before = trained(other, "before")
    run = trained(text, "run", init=before.path)
    assert [origin["role"] for origin in run.config["origins"]] == ["init"]
    assert run.config["origins"][0]["training_fingerprint"] == before.config["training_fingerprint"]
    check = origin_check(run)
    assert check.passed and "was trained on 0.0% of the validation windows" in check.detail
    assert not seen_notes(run)
    assert origin_check(before).passed is None
    further = trained(text, "further", init=run.path)
    assert "was trained on the same training split" in origin_check(further).detail


@pytest.mark.parametrize("steps_between", [0, 1])
def test_weights_that_saw_the_held_out_text_are_found(texts: tuple[Path, Path, Path], steps_between: int) -> None:
    """Directly, or through a run that was itself fine."""
    text, other, leaking = texts
    before = trained(leaking, "before")
    if steps_between:
        before = trained(other, "between", init=before.path)
    run = trained(text, "run", init=before.path)
    assert len(run.config["origins"]) == 1 + steps_between
    check = origin_check(run)
    assert check.failed and "was trained on 100.0% of the validation windows" in check.detail
    leak = f"(100.0%) also occur in what '{run.config['origins'][-1]['path']}', which this run starts from, was trained"
    assert [leak in note for note in seen_notes(run)] == [True], "said before training, and kept"
    card = (run.path / "README.md").read_text(encoding="utf-8")
    assert leak in card and f"It started from the weights of `{before.path}`." in card


def test_a_teacher_that_saw_the_held_out_text_is_found(texts: tuple[Path, Path, Path]) -> None:
    text, _, leaking = texts
    teacher = trained(leaking, "teacher")
    run = trained(text, "run", settings={"task.teacher": str(teacher.path)})
    assert [origin["role"] for origin in run.config["origins"]] == ["teacher"]
    assert origin_check(run).failed
    assert "which is its teacher, was trained on" in seen_notes(run)[0]
    assert f"from a teacher, `{teacher.path}`." in (run.path / "README.md").read_text(encoding="utf-8")


def test_another_split_of_the_same_text_is_found_even_if_the_run_is_gone(texts: tuple[Path, Path, Path]) -> None:
    text, _, _ = texts
    before = trained(text, "before", split_ratios="90/10")
    run = trained(text, "run", init=before.path, split_ratios="80/10/10")
    assert "(100.0%) also occur in what" in seen_notes(run)[0]
    shutil.rmtree(before.path)
    check = origin_check(run)
    assert check.failed and "another split of the same data" in check.detail


def test_examples_that_the_weights_saw_are_found(tmp_path: Path) -> None:
    header, *rows = labelled().splitlines(keepends=True)
    for name, part in (("reviews", rows), ("half", rows[:30]), ("other", [f"so {row}" for row in rows])):
        (tmp_path / f"{name}.tsv").write_text(header + "".join(part), encoding="utf-8")
    options: dict[str, Any] = {"task": "classify"}
    small = {key: value for key, value in TINY.items() if key not in ("window", "sample_tokens")}

    def run_on(name: str, folder: str, **more: Any) -> api.Run:
        out = tmp_path / folder
        return api.train(tmp_path / f"{name}.tsv", out=out, reporter=Reporter(), **small, **options, **more)

    seen, unseen = run_on("reviews", "seen"), run_on("other", "unseen")
    bad, good = run_on("half", "bad", init=seen.path), run_on("half", "good", init=unseen.path)
    assert origin_check(bad).failed and "also occur in what" in seen_notes(bad)[0]
    assert origin_check(good).passed and not seen_notes(good)


def test_a_start_whose_text_is_gone_cannot_be_compared(texts: tuple[Path, Path, Path]) -> None:
    text, other, _ = texts
    before = trained(other, "before")
    other.unlink()
    run = trained(text, "run", init=before.path)
    assert "is unknown: its data is gone or has changed" in seen_notes(run)[0]
    assert origin_check(run).passed is None
