"""seqlab audit: one line per check, and an exit code."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from audit_cases import TINY, learnt_from_everything

from seqlab import api
from seqlab.__main__ import main
from seqlab.training.progress import Reporter

Command = Callable[..., tuple[int, str, str]]
CHECKS, SKIPPED = 17, 4  # of a language model


@pytest.fixture
def seqlab(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["seqlab", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def test_a_run_that_is_right(text: Path, tmp_path: Path, seqlab: Command) -> None:
    run = api.train(text, out=tmp_path / "run", reporter=Reporter(), **TINY).path
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    code, out, _ = seqlab("audit", run)
    *lines, _, last = out.splitlines()
    assert code == 0
    skipped = [line for line in lines if not line.startswith("pass  ")]
    assert len(lines) == CHECKS
    assert len(skipped) == SKIPPED and all(line.startswith("n/a   ") for line in skipped)
    assert "not applicable: every batch starts with a fresh state" in skipped[0]
    assert last == f"All {CHECKS - SKIPPED} checks passed. {SKIPPED} not applicable."
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
    code, out, _ = seqlab("audit", run, "--json")
    assert code == 0
    assert [set(line) for line in json.loads(out)] == [{"name", "passed", "detail"}] * CHECKS
    assert [line["name"] for line in json.loads(out) if line["passed"] is None] == [
        "training carries its state",
        "counts of the training text only",
        "what it started from saw no held-out data",
        "the test split was looked at rarely",
    ]


def test_a_run_with_a_leak(text: Path, tmp_path: Path, seqlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    leaking = tmp_path / "leaking.txt"
    leaking.write_text(text.read_text(encoding="utf-8") + "Zoë", encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr("seqlab.tasks.dataset.train_tokenizer", learnt_from_everything)
        run = api.train(leaking, out=tmp_path / "run", reporter=Reporter(), **TINY).path
    code, out, err = seqlab("audit", run)
    assert code == 1 and not err
    assert [line.split("  ")[1] for line in out.splitlines() if line.startswith("FAIL")] == [
        "vocabulary from the training text only"
    ]
    last = f"1 of {CHECKS - SKIPPED} checks failed: vocabulary from the training text only. {SKIPPED} not applicable."
    assert out.splitlines()[-1] == last
    code, out, _ = seqlab("audit", run, "--json")
    assert code == 1
    assert [line["name"] for line in json.loads(out) if line["passed"] is False] == [
        "vocabulary from the training text only"
    ]


def test_what_is_no_run(seqlab: Command, tmp_path: Path) -> None:
    code, _, err = seqlab("audit", tmp_path / "nowhere")
    assert code == 66 and "there is no run" in err
