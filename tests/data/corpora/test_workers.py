"""Real workers on some shards of full size: what they need of memory, and what remains when one is killed."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from pydoc_data.topics import topics

import psutil
import pytest
from corpus_files import encode, large_text

ENCODING = "import sys; from corpus_files import encode, large_text; encode(large_text(sys.argv[1]), 'byte', workers=2)"
SIZE = 120_000_000


def begin(path: Path) -> subprocess.Popen[str]:
    paths = os.pathsep.join([*sys.path, str(Path(__file__).parent)])
    program, environment = [sys.executable, "-c", ENCODING, str(path)], {**os.environ, "PYTHONPATH": paths}
    return subprocess.Popen(program, env=environment, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    text = "\n".join(topics.values())
    path = tmp_path / "a.txt"
    path.write_text(text * (SIZE // len(text)), encoding="utf-8")
    return path


def wait_for(happened: Callable[[], object]) -> None:
    until = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.005)


def test_workers_of_a_killed_command_end_and_the_next_one_waits(tmp_path: Path) -> None:
    path, line = tmp_path / "a.txt", "The workers of a killed command must not write any more.\n"
    path.write_text(line * (40_000_000 // len(line)), encoding="utf-8")
    process = begin(path)
    cache, said = Path(os.environ["SEQLAB_CACHE"]), list[str]()
    wait_for(lambda: [*cache.glob("tokens/*/*.ids")])
    workers = psutil.Process(process.pid).children()
    for worker in workers:  # as if they took long for their shards
        worker.suspend()
    process.kill()
    process.wait()
    assert process.stderr is not None
    process.stderr.close()  # the workers have it, too: it does not end yet
    before = {path: path.stat().st_mtime_ns for path in cache.glob("tokens/*/0*")}
    done = list[int]()
    text = replace(large_text(path), log=said.append)
    following = threading.Thread(target=lambda: done.append(sum(map(len, encode(text).values()))))
    try:
        following.start()
        wait_for(lambda: done or said)
        assert "waiting for a process of another command" in said[0] and not done
        assert {path: path.stat().st_mtime_ns for path in before} == before
    finally:
        for worker in workers:
            worker.resume()
        following.join()
    assert not psutil.wait_procs(workers, timeout=10)[1]
    assert abs(done[0] - path.stat().st_size) <= 1


@pytest.mark.slow
def test_a_killed_worker_is_said_and_the_command_continues(corpus: Path) -> None:
    process = begin(corpus)
    main = psutil.Process(process.pid)
    cache, most = Path(os.environ["SEQLAB_CACHE"]), 0
    while not [*cache.glob("tokens/*/0*.json")]:
        time.sleep(0.05)
        most = max(most, sum(one.memory_info().rss for one in (main, *main.children())))
    main.children()[0].kill()
    assert "a process that encodes the corpus ended (exit code -9)" in process.communicate()[1]
    assert process.returncode != 0
    assert most < 500e6
    finished = {path: path.stat().st_mtime_ns for path in cache.glob("tokens/*/0*.json")}
    splits = encode(large_text(corpus), workers=2)
    assert finished and {path: path.stat().st_mtime_ns for path in finished} == finished
    assert abs(sum(map(len, splits.values())) - corpus.stat().st_size) <= 1
