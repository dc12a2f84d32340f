"""One small comparison, carried out for real and looked at by many tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from small_comparisons import SMALL, compared

from seqlab.comparison.compare import Comparison


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Comparison]:
    folder = tmp_path_factory.mktemp("small")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQLAB_CACHE", str(folder / "cache"))
        yield compared(folder / "comparison", **SMALL)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path
