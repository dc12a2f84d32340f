"""What the tests of the promises share: a text, a finished run, the command line in this process."""

import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from reliability_runs import TEXT, Answer, apart, train

from seqlab.__main__ import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "small.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def finished(text: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run that carries state. Not to be changed: take a copy."""
    folder = tmp_path_factory.mktemp("finished")
    with apart(folder):
        return train(text, folder / "run", batching="stream", steps=10, evaluate_every=5)


@pytest.fixture
def tiny_run(finished: Path, tmp_path: Path) -> Path:
    """A copy of a finished run, to be spoilt."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    """Run a command in this process: its exit code and what it printed, never a traceback."""

    def run(*arguments: str | Path) -> Answer:
        monkeypatch.setattr(sys, "argv", ["seqlab", *map(str, arguments)])
        capsys.readouterr()
        with warnings.catch_warnings(), pytest.raises(SystemExit) as ended:
            warnings.simplefilter("default")
            main()
            sys.exit(0)
        code = ended.value.code
        assert code is None or isinstance(code, int), code
        out, err = capsys.readouterr()
        return Answer(code or 0, out, err)

    return run
