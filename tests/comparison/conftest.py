"""One small comparison, carried out for real and looked at by many tests."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from in_process_workers import in_process_workers
from planning_cases import TEXT, known_timings
from small_comparisons import SMALL, compared

from seqlab.comparison.compare import Comparison
from seqlab.comparison.plan import planning
from seqlab.training.timing import OtherPrograms


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    folder = tmp_path_factory.mktemp("small")
    with pytest.MonkeyPatch.context() as patch, in_process_workers():
        patch.setenv("SEQLAB_CACHE", str(folder / "cache"))
        return compared(folder / "comparison", **SMALL)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "my.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def known_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps take the seconds of the cases, and nothing else uses the machine."""
    monkeypatch.setattr(planning, "time_all", known_timings)
    monkeypatch.setattr(planning, "watch_other_programs", lambda: nullcontext(OtherPrograms(0.0)))
