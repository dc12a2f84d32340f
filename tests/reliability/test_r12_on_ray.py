"""R12 on Ray: workers, Ray's own workers and the command are killed, and results are those of the local launcher."""

import time
from pathlib import Path

import psutil
import pytest
from killed_comparisons import agree, done_at_once, survive, words

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
OPTIONS = {"archs": "rnn", "seeds": 3, "steps": 1200, "tune": 0}
KINDS = {"worker process": "execution import worker", "Ray's worker": "ray::runs/"}  # and what shows in their commands


class KillerOnRay:
    """Kills one of each kind while a run is being trained, then the command."""

    def __init__(self, folder: Path):
        self._folder, self.left = folder, [*KINDS, "command"]
        self._next = 0.0

    def __call__(self, pid: int) -> int | None:
        logs = [path for path in self._folder.glob("runs/*/metrics.jsonl") if path.stat().st_size > 2000]
        begun = [log for log in logs if not (log.parent / "scores.json").exists()]
        if not self.left or not begun or time.monotonic() < self._next:
            return None
        victim = pid if self.left[0] == "command" else self._find(pid, KINDS[self.left[0]])
        if victim is not None:
            self.left.pop(0)
            self._next = time.monotonic() + 1
        return victim

    def _find(self, pid: int, shows: str) -> int | None:
        for process in psutil.Process(pid).children(recursive=True):
            try:
                if shows in " ".join(process.cmdline()):
                    return process.pid
            except psutil.Error:
                continue
        return None


def processes(words: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        shown = " ".join(process.info["cmdline"] or [])
        if words in shown and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


def test_a_comparison_on_ray_survives(tmp_path: Path) -> None:
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    whole, killed = tmp_path / "whole" / "c", tmp_path / "killed" / "c"
    done_at_once([*words(whole, **OPTIONS), "--set", "train.threads=1"])
    killer = KillerOnRay(killed)
    command = [*words(killed, **OPTIONS), "--set", "train.threads=1", "--launcher", "ray"]
    survive(command, killed, killer, lambda: 0.3, 900)
    assert not killer.left
    agree(killed, whole)
    log = (tmp_path / "killed" / "log").read_text()
    assert "attempt 2 of 5" in log, "the number of the attempt is said"
    assert "Traceback" not in log
    assert not processes(str(killed)), "nothing is left that works on the comparison"
