"""An architecture of another package, from its file to a comparison, an audit, a text and an export."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from separate_package import ROOT, TOOLKIT, fresh_environment, run_in, write_minimal_gru

JOURNEY = """
import seqlab
from seqlab.audit.audit import audit
from seqlab.errors import UsageError
from seqlab.testing import check_architecture

if __name__ == "__main__":
    check_architecture("mingru")
    small = dict(window=16, batch_size=4, embedding=8, hidden=8, threads=1)
    run = seqlab.train("text.txt", arch="mingru", steps=4, out="run", **small)
    assert str(run.generate("a ", length=5))
    assert not any(check.failed for check in audit(run)), audit(run)
    try:
        from seqlab.api import export
        export("run", "exported")
    except UsageError as reason:
        print("export:", reason)
"""
COMPARISON = """
import seqlab

if __name__ == "__main__":
    done = seqlab.compare("text.txt", archs="mingru,lstm", seeds=1, match="params=500", budget="steps=4", tune=0,
                          jobs=1, out="compared", window=16, batch_size=4, embedding=8)
    assert "mingru" in done.table() and len(done.verdicts) == 1
    translated = seqlab.train("reverse", arch="mingru", steps=2, hidden=8, embedding=8, difficulty=3, out="pairs")
    assert translated.predict(["a b"])
"""


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    letters = Random(0).choices("abcdefgh     \n", k=4000)  # random, so the audit finds no overlap
    path.write_text("".join(letters), encoding="utf-8")
    return path


@pytest.mark.timeout(300)
def test_a_separate_package_is_checked_trained_audited_and_used(tmp_path: Path, text: Path) -> None:
    python = fresh_environment(tmp_path / "environment", write_minimal_gru(tmp_path / "package"))
    (tmp_path / "journey.py").write_text(JOURNEY, encoding="utf-8")
    done = run_in(tmp_path, python, "journey.py")
    assert done.returncode == 0, done.stderr
    assert "export:" in done.stdout and "ONNX" in done.stdout
    listed = run_in(tmp_path, python, "-m", "seqlab", "list", "archs")
    assert "mingru" in listed.stdout and "minimal-gru 0.1" in listed.stdout


def test_a_class_that_is_named_on_the_command_line(
    tmp_path: Path, text: Path, seqlab: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_minimal_gru(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # `python -m seqlab` finds what is in the working directory

    def command(*arguments: str) -> Any:
        """Run a command as a new process would: without the class and without the plugins of the one before."""
        monkeypatch.setenv("SEQLAB_PLUGINS", "")
        answer = seqlab(*arguments)
        for name in [module for module in sys.modules if module.partition(".")[0] == "minimal"]:
            del sys.modules[name]
        return answer

    train = ["train", "text.txt", "--arch", "minimal.gru:MinGru", "--hidden", "8", "--steps", "2", "--out", "run"]
    trained = command(*train)
    assert trained.code == 0, trained.err
    assert "  seqlab --plugin minimal.gru:MinGru generate run" in trained.out
    (entry,) = json.loads(command("runs", ".", "--json").out)
    assert (entry["arch"], entry["status"]) == ("minimal.gru:MinGru", "needs --plugin minimal.gru:MinGru")
    generate = ["generate", "run", "--prompt", "a", "--length", "3"]
    refused = command(*generate)
    assert refused.code == 65
    assert "'minimal.gru:MinGru' is code that is not part of seqlab" in refused.err
    assert "seqlab --plugin minimal.gru:MinGru" in refused.err
    allowed = command("--plugin", "minimal.gru:MinGru", *generate)
    assert allowed.code == 0, allowed.err


@pytest.mark.slow
def test_pip_installs_the_packages(tmp_path: Path, text: Path) -> None:
    python = fresh_environment(tmp_path / "environment")
    packages = [write_minimal_gru(tmp_path / "package"), shutil.copytree(TOOLKIT, tmp_path / "toolkit")]
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    installed = run_in(tmp_path, python, "-m", "pip", "install", *options, *map(str, packages))
    assert installed.returncode == 0, installed.stderr
    for name, program in {"journey": JOURNEY, "comparison": COMPARISON}.items():
        (tmp_path / f"{name}.py").write_text(program, encoding="utf-8")
        done = run_in(tmp_path, python, f"{name}.py")
        assert done.returncode == 0, done.stderr
    listed = run_in(tmp_path, python, "-m", "seqlab", "list", "tokenizers")
    assert "ascii" in listed.stdout and "toolkit 0.1" in listed.stdout


def test_the_example_is_short() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code = text[text.index('"""The minimal GRU') :].partition("```")[0]
    assert code.count("\n") <= 70
