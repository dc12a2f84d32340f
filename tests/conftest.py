"""What tests get: a cache of their own, one thread, commands in this process, and the measuring data where it is."""

import os
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from browser import Browser

# a busy machine makes no test fail: examples have no deadline, and drawing them may take its time
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# every test has a cache of its own, but kernels are compiled once for all of them
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "numba"))


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders that do not exist yet: most tests never touch the cache, and making one for each takes time."""
    root = tmp_path_factory.mktemp("caches")
    return (root / str(number) for number in count())


@pytest.fixture(autouse=True)
def own_cache(caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(next(caches)))


@pytest.fixture(scope="session", autouse=True)
def quick() -> Iterator[None]:
    """Leave out what takes long in every training and shows nothing: drawing, and waiting for the disk (power cuts)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("seqlab.training.finish.draw_curves", lambda *_: None)
        patch.setattr("os.fsync", lambda _: None)
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data for measuring; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("SEQLAB_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"the measuring data is not here: no folder '{folder}' (set SEQLAB_DATA)")
    return folder


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Also where a run does not say how many threads it takes: those of two tests at once would wait for each other."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        for module in (
            "threads",
            "training.budget",
            "training.session",
            "comparison.plan.estimate",
            "analysis.suggestion",
        ):
            patch.setattr(f"seqlab.{module}.default_threads", lambda: 1)
        yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def workers_in_process() -> Iterator[None]:
    """Comparisons of the module run their jobs in this process; tests/comparison/test_pool.py tests real workers.

    They leave out the figures for papers, which take longer than the runs: tests/comparison/test_report.py has them."""
    from in_process_workers import in_process_workers

    with in_process_workers(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("seqlab.comparison.report.write_figures", lambda *_: None)
        yield


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Browser"]:
    """One Chromium for all tests that are marked `browser`; they are skipped where there is none."""
    from browser import CHROMIUM, DRIVER, MISSING, chromium

    if not (CHROMIUM and DRIVER):
        pytest.skip(MISSING)
    with chromium(tmp_path_factory.mktemp("chromium")) as one:
        yield one


class Answer:
    def __init__(self, code: int, out: str, err: str):
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def seqlab(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    """Run a command in this process and return its exit code and what it printed."""
    from seqlab.__main__ import main

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


# they take ten seconds and more, so a worker that begins one last would keep the others waiting
LONG = ("tests/docs/test_docs.py", "tests/extension/", "tests/reliability/test_r12", "tests/comparison/test_comparison")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first, everything else in its order."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))
