"""Commands run in this process."""

import sys
from pathlib import Path

import pytest

from seqlab.__main__ import main


class Answer:
    def __init__(self, code: int, out: str, err: str):
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def seqlab(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Run a command in this process and return its exit code and what it printed."""

    def run(*arguments: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["seqlab", *arguments])
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return Answer(code, printed.out, printed.err)

    return run


@pytest.fixture
def text(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The module's TEXT as my.txt, in an empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "my.txt"
    path.write_text(request.module.TEXT, encoding="utf-8")
    return path
