"""Kernels are compiled once and cached; a slow compilation is announced; without numba there is a fallback."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from seqlab import kernels
from seqlab.attention import fast
from seqlab.attention.fast import attend_fast
from seqlab.attention.masks import causal
from seqlab.attention.plain import attend
from seqlab.attention.scores import Additive
from seqlab.kernels import can_compile

PROGRAM = """
import torch, time
from seqlab.attention.fast import attend_fast
from seqlab.attention.masks import causal
from seqlab.attention.scores import Additive
q, k, v = (torch.randn(2, 3, 4) for _ in range(3))
began = time.perf_counter()
attend_fast(Additive(4, 4, 4), q, k, v, causal(torch.zeros(2, dtype=torch.long), 3))
print(time.perf_counter() - began)
"""


def first_use(cache: Path) -> tuple[float, str]:
    """Seconds of the first attention in a new process, and what it said."""
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment | {"SEQLAB_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout), done.stderr


def test_the_first_use_compiles_says_so_and_keeps_it(tmp_path: Path) -> None:
    seconds, message = first_use(tmp_path)
    assert list(tmp_path.joinpath("numba").rglob("*.nbi")), "nothing was kept"
    if seconds > kernels.ANNOUNCE_AFTER + 0.5:
        assert "preparing the kernel 'additive_weights'" in message
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.joinpath("numba").rglob("*.nb?")}
    first_use(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.joinpath("numba").rglob("*.nb?")} == kept


def test_what_takes_no_time_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    met = []
    kernels.call_kernel(lambda *arguments: met.append(arguments), [1, 2], threads=1)
    assert met == [(1, 2)]
    assert capsys.readouterr().err == ""


def test_a_failing_kernel_says_nothing_later(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    monkeypatch.setattr(kernels, "ANNOUNCE_AFTER", 0.05)

    def failing() -> None:
        raise ValueError

    with pytest.raises(ValueError):
        kernels.call_kernel(failing, [], threads=1)
    time.sleep(0.15)
    assert capsys.readouterr().err == ""


def slow() -> None:
    time.sleep(0.2)


def test_what_takes_long_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "ANNOUNCE_AFTER", 0.05)
    kernels.call_kernel(slow, [], threads=1)
    assert "preparing the kernel 'slow'" in capsys.readouterr().err


def test_loading_a_kernel_from_the_cache_is_not_announced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On a busy machine it takes as long as compiling on a quiet one."""
    monkeypatch.setattr(kernels, "ANNOUNCE_AFTER", 0.05)
    monkeypatch.setattr(kernels, "kernel_cache", lambda: tmp_path)
    (tmp_path / "module").mkdir()
    (tmp_path / "module" / "dropout.slow-12.py311.nbi").touch()
    kernels.call_kernel(slow, [], threads=1)
    assert capsys.readouterr().err == ""


def test_without_a_compiler_the_chunked_form_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "seqlab.kernels.dropout", raising=False)
    monkeypatch.setattr(fast, "CompiledAdditive", None)  # not to be touched
    can_compile.cache_clear()
    try:
        assert not can_compile()
        score = Additive(4, 4, 4)
        q, k, values = (torch.randn(2, 3, 4) for _ in range(3))
        seen = causal(torch.zeros(2, dtype=torch.long), 3)
        expected = attend(score.of_projected(q, k), values, seen.mask(3)).output_BTD
        torch.testing.assert_close(attend_fast(score, q, k, values, seen), expected)
    finally:
        can_compile.cache_clear()


@pytest.mark.parametrize("threads", [1, 2])
def test_the_threads_of_torch_stay_as_they_are(threads: int) -> None:
    """In a process of its own, since it is the first parallel loop that would change them."""
    program = f"import torch; torch.set_num_threads({threads})\n{PROGRAM}\nimport numba\n"
    program += "print(torch.get_num_threads(), numba.get_num_threads())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    possible = min(threads, int(os.environ.get("NUMBA_NUM_THREADS", os.cpu_count() or 1)))
    assert done.stdout.splitlines()[-1] == f"{threads} {possible}"
