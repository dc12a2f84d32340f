"""Real workers on some shards of full size: what they need of memory, and what remains when one is killed."""

import os
import subprocess
import sys
import time
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
