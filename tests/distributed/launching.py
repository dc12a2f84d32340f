"""Starts programs with torchrun, as many processes as a test wants."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LIMIT = 800  # seconds, for a machine that does much else


def torchrun(processes: int, *words: str, cwd: Path = ROOT, **environment: str) -> subprocess.Popen[str]:
    """Start it; `standalone` finds a free port, so that several tests can do so at once."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    given = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    given |= {"PYTHONPATH": str(ROOT), **environment}
    return subprocess.Popen(
        [*command, *words], cwd=cwd, env=given, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def start_jobs(processes: int, jobs: Sequence[dict[str, Any]]) -> subprocess.Popen[str]:
    return torchrun(processes, "-m", "tests.distributed.golden_worker", json.dumps(list(jobs)))


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Its exit code and what it printed; if it takes too long, it is killed, and what it printed is the error."""
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"not done after {LIMIT} s:\n{out}\n{err}") from None
    return process.returncode, out, err


def finished(process: subprocess.Popen[str]) -> None:
    code, out, err = ended(process)
    assert code == 0, f"{out}\n{err}"


def children(process: subprocess.Popen[str]) -> list[int]:
    """The processes that it has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[1]) == process.pid:
            found.append(int(stat.parent.name))
    return sorted(found)
