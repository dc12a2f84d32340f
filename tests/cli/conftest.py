"""What the tests of commands share."""

from pathlib import Path

import pytest


@pytest.fixture
def text(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The module's TEXT as my.txt, in an empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "my.txt"
    path.write_text(request.module.TEXT, encoding="utf-8")
    return path
