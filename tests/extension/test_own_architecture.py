"""An architecture of another package, from its file to a comparison, an audit, a text and an export."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest
from separate_package import ROOT, fresh_environment, install_by_hand, write_package

JOURNEY = """
import seqlab
from seqlab.audit.audit import audit
from seqlab.errors import UsageError
from seqlab.testing import check_architecture

if __name__ == "__main__":  # a comparison starts processes that import this file
    check_architecture("mingru")
    small = dict(window=16, batch_size=4, embedding=8, hidden=8)
    run = seqlab.train("text.txt", arch="mingru", steps=4, out="run", **small)
    assert str(run.generate("a ", length=5))
    assert all(check.passed for check in audit(run)), audit(run)
    del small["hidden"]
    done = seqlab.compare("text.txt", archs="mingru,lstm", seeds=1, match="params=500", budget="steps=4", tune=0,
                          jobs=1, out="compared", **small)
    assert "mingru" in done.table() and len(done.verdicts) == 1
    try:
        from seqlab.api import export
        export("run", "exported")
    except UsageError as reason:
        print("export:", reason)
    translated = seqlab.train("reverse", arch="mingru", steps=2, hidden=8, embedding=8, difficulty=3, out="pairs")
    assert translated.predict(["a b"])
"""


def run_in(folder: Path, python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SEQLAB_PLUGINS")}
    return subprocess.run(
        [python, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=280
    )


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    letters = Random(0).choices("abcdefgh     \n", k=4000)  # nothing is repeated, so the audit finds no overlap
    path.write_text("".join(letters), encoding="utf-8")
    return path


@pytest.mark.timeout(300)
def test_a_separate_package_is_checked_trained_compared_audited_and_used(tmp_path: Path, text: Path) -> None:
    python = fresh_environment(tmp_path / "environment")
    install_by_hand(python, write_package(tmp_path / "package"))
    (tmp_path / "journey.py").write_text(JOURNEY, encoding="utf-8")
    done = run_in(tmp_path, python, "journey.py")
    assert done.returncode == 0, done.stderr
    assert "export:" in done.stdout and "ONNX" in done.stdout
    listed = run_in(tmp_path, python, "-m", "seqlab", "list", "archs")
    assert "mingru" in listed.stdout and "minimal-gru 0.1" in listed.stdout


def test_a_class_that_is_named_on_the_command_line(tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_package(tmp_path)  # beside the text: `python -m` finds what is in the working directory
    command = ["-m", "seqlab"]
    train = ["train", "text.txt", "--arch", "minimal.gru:MinGru", "--hidden", "8", "--steps", "2", "--out", "run"]
    trained = run_in(tmp_path, Path(sys.executable), *command, *train)
    assert trained.returncode == 0, trained.stderr
    generate = ["generate", "run", "--prompt", "a", "--length", "3"]
    refused = run_in(tmp_path, Path(sys.executable), *command, *generate)
    assert refused.returncode == 65
    assert "'minimal.gru:MinGru' is code that is not part of seqlab" in refused.stderr
    assert "seqlab --plugin minimal.gru:MinGru" in refused.stderr
    allowed = run_in(tmp_path, Path(sys.executable), *command, "--plugin", "minimal.gru:MinGru", *generate)
    assert allowed.returncode == 0, allowed.stderr


@pytest.mark.slow
@pytest.mark.skipif(find_spec("hatchling") is None, reason="the package's build backend is not installed here")
def test_pip_installs_the_package(tmp_path: Path) -> None:
    python = fresh_environment(tmp_path / "environment")
    package = write_package(tmp_path / "package")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    installed = run_in(tmp_path, python, "-m", "pip", "install", *options, str(package))
    assert installed.returncode == 0, installed.stderr
    checked = "from seqlab.testing import check_architecture; check_architecture('mingru')"
    assert run_in(tmp_path, python, "-c", checked).returncode == 0


def test_the_example_is_short() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code = text[text.index('"""The minimal GRU') :].partition("```")[0]
    assert code.count("\n") <= 70
