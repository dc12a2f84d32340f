import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

TRAIN = """
import json, resource, sys
import seqlab

run = seqlab.train(sys.argv[1], steps=20, hidden=64, evaluate_every=20, threads=1, out=sys.argv[2])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps({"characters": run.config["corpus"]["characters"], "peak": peak}))
"""


def write_words(path: Path, size: int) -> None:
    """Random words, at least `size` bytes of them; what comes after the first ten million repeats them."""
    draw = random.Random(0)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyzé日", k=draw.randint(1, 10))) for _ in range(5000)]
    lines = (" ".join(draw.choices(words, k=10)) + "\n" for _ in range(160_000))
    block = "".join(lines).encode()
    with path.open("wb") as stream:
        while stream.tell() < size:
            stream.write(block)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_gigabyte_of_text_is_trained_on_in_less_than_a_gigabyte(tmp_path, monkeypatch):
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path / "cache"))
    text = tmp_path / "large.txt"
    write_words(text, 2**30)
    try:
        done = subprocess.run(
            [sys.executable, "-c", TRAIN, str(text), str(tmp_path / "run")], capture_output=True, text=True, check=False
        )
    finally:
        text.unlink()
        for path in (tmp_path / "cache").rglob("*.ids"):
            path.unlink()
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)
    assert measured["characters"] > 8e8
    assert measured["peak"] < 2**30, f"{measured['peak'] / 2**20:.0f} MiB"
