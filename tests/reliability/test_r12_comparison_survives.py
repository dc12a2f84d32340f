"""R12: workers and the command are killed at random; no run is lost, none is done twice, the table is the same."""

import random
from pathlib import Path

import psutil
import pytest
from killed_comparisons import agree, done_at_once, survive, words


class Killer:
    """Kills a worker, or now and then the command that started it, so many times."""

    def __init__(self, kills: int, draw: random.Random):
        self.left, self._draw = kills, draw

    def __call__(self, pid: int) -> int | None:
        try:
            workers = psutil.Process(pid).children()
        except psutil.NoSuchProcess:
            return None
        if not self.left:
            return None
        self.left -= 1
        return self._draw.choice(workers).pid if workers and self._draw.random() < 0.75 else pid


def check(tmp_path: Path, kills: int, seed: int, jobs: int, **options) -> None:
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    whole, killed = tmp_path / "whole" / "c", tmp_path / "killed" / "c"
    draw = random.Random(seed)
    killer = Killer(kills, draw)
    done_at_once([*words(whole, **options), "--jobs", str(jobs)])
    command = [*words(killed, **options), "--jobs", str(jobs)]
    survive(command, killed, killer, lambda: draw.uniform(0.1, 1.5), 280)
    assert killer.left <= kills // 2
    agree(killed, whole)


def test_a_comparison_survives(tmp_path: Path) -> None:
    check(tmp_path, kills=2, seed=1, archs="rnn", seeds=2, jobs=2, steps=150, tune=0)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_comparison_of_eight_workers_survives(tmp_path: Path) -> None:
    check(tmp_path, kills=40, seed=2, archs="rnn,gru,lstm,transformer", seeds=4, jobs=8, steps=300, tune=2)
