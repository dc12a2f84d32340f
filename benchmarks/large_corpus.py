"""More text than memory: encode some gigabytes of made text, with one worker and with two, and watch the memory.

`python -m benchmarks.large_corpus ratio` measures the speed of one and of two workers on a part of the text, in turns;
the fastest of `--repeats` counts. On a busy machine the seconds say little; the processor time of all processes still
says whether two workers do more work than one. `--tokenizer bpe` is slower by a factor of ten or more: give it less
text (`--gigabytes 0.2`).
`python -m benchmarks.large_corpus` encodes all of it (5 GB), and draws docs/scale/memory.png.

The text is the language reference of Python, repeated: copies in which one word in ten is replaced by another, in
random order, each below a heading of its own.
"""

import argparse
import gzip
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from pydoc_data.topics import topics

import psutil

from seqlab.config import CorpusSettings, TokenizerSettings
from seqlab.data.corpora.large_text import open_large
from seqlab.plotting import COLORS, legend_above, light_grid, new_figure, write_figure
from seqlab.registry import TOKENIZERS

PICTURE = Path(__file__).parents[1] / "docs" / "scale" / "memory.png"
SOURCE = "\n\n".join(topics[name] for name in sorted(topics))
FILE = 250_000_000  # bytes of each file
COPIES = 100
EVERY = 0.5  # seconds between two looks at the memory


def perturbed(draw: random.Random) -> str:
    """A copy of the text in which one word in ten is another word of it."""
    words = SOURCE.split(" ")
    for _ in range(len(words) // 10):
        words[draw.randrange(len(words))] = words[draw.randrange(len(words))]
    return " ".join(words)


def make_corpus(folder: Path, size: int) -> None:
    """Files of 250 MB: plain text, one of them a single line, and the last tenth JSON lines that gzip packs."""
    made, number = 0, 0
    draw = random.Random(0)
    copies = [perturbed(draw) for _ in range(COPIES)]
    while made < size:
        wanted = min(FILE, size - made)
        written = 0
        as_rows = made >= 0.9 * size
        path = folder / (f"{number:03d}.jsonl.gz" if as_rows else f"{number:03d}.txt")
        with gzip.open(path, "wb", 1) if as_rows else path.open("wb") as stream:
            while written < wanted:
                text = f"Copy {draw.randrange(10**9)}\n\n{draw.choice(copies)}\n"
                text = text.replace("\n", " ") if number == 1 else text
                rows = (json.dumps({"text": part, "id": written}) + "\n" for part in text.split("\n\n"))
                raw = ("".join(rows) if as_rows else text).encode()
                stream.write(raw)
                written += len(raw)
        made, number = made + written, number + 1


class MemoryWatch:
    """Resident bytes of this process and its children over time."""

    def __init__(self) -> None:
        self.main: list[float] = []
        self.workers: list[float] = []
        self.times: list[float] = []
        self._stop = threading.Event()
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        own = psutil.Process()
        while not self._stop.wait(EVERY):
            sizes = []
            for child in own.children(recursive=True):
                try:
                    sizes.append(child.memory_info().rss)
                except psutil.NoSuchProcess:
                    continue
            self.main.append(own.memory_info().rss / 1e6)
            self.workers.append(sum(sizes) / 1e6)
            self.times.append(time.monotonic() - self._began)

    def __enter__(self) -> "MemoryWatch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def peak(self) -> float:
        """Megabytes of all processes together."""
        return max(map(sum, zip(self.main, self.workers, strict=True)))


@contextmanager
def own_cache(parent: Path) -> Iterator[None]:
    """A fresh cache, removed afterwards."""
    cache = Path(tempfile.mkdtemp(dir=parent))
    before = os.environ.get("SEQLAB_CACHE")
    os.environ["SEQLAB_CACHE"] = str(cache)
    try:
        yield
    finally:
        shutil.rmtree(cache)
        if before is None:
            del os.environ["SEQLAB_CACHE"]
        else:
            os.environ["SEQLAB_CACHE"] = before


def processor_seconds() -> float:
    """Of this process and of those that it has started and that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


@dataclass(frozen=True)
class Encoding:
    seconds: float
    processor: float  # seconds of all processes
    read: int  # bytes of text
    tokens: int


def encode(folder: Path, tokenizer: str, workers: int) -> Encoding:
    """The tokenizer is learned before the clock starts."""
    text = open_large(CorpusSettings(source=(str(folder),), sharded=True)).with_sample()
    made = TOKENIZERS.load(tokenizer).train(text.sample_chunks(), _settings(tokenizer))
    print(text.sample, flush=True)
    began, spent = time.monotonic(), processor_seconds()
    encoded, splits = text.encode(made, workers)
    tokens = sum(map(len, splits.values()))
    return Encoding(time.monotonic() - began, processor_seconds() - spent, encoded.stats.bytes, tokens)


def _settings(tokenizer: str) -> TokenizerSettings:
    return TOKENIZERS.load(tokenizer).Settings()


def ratio(parent: Path, size: int, tokenizer: str, repeats: int) -> None:
    folder = parent / tokenizer
    folder.mkdir()
    make_corpus(folder, size)
    done: dict[int, list[Encoding]] = {1: [], 2: []}
    for workers in [1, 2] * repeats:
        with own_cache(parent):
            one = encode(folder, tokenizer, workers)
        done[workers].append(one)
        load = f"load {os.getloadavg()[0]:.1f}"
        print(f"workers {workers}: {one.seconds:.1f} s, {one.processor:.1f} s of processors ({load})", flush=True)
    best = {workers: min(one.seconds for one in found) for workers, found in done.items()}
    work = {workers: min(one.processor for one in found) for workers, found in done.items()}
    speeds = {workers: done[1][0].read / seconds / 1e6 for workers, seconds in best.items()}
    share = best[1] / best[2] / 2
    print(f"{tokenizer}: {speeds[1]:.1f} MB/s with one worker, {speeds[2]:.1f} with two: {share:.2f} of linear")
    print(f"processor time with two workers: {work[2] / work[1]:.2f} times that with one")


def whole(parent: Path, size: int, tokenizer: str) -> None:
    folder = parent / "whole"
    folder.mkdir()
    began = time.monotonic()
    make_corpus(folder, size)
    stored = sum(path.stat().st_size for path in folder.iterdir())
    files, seconds = len(list(folder.iterdir())), time.monotonic() - began
    print(f"made {stored:,} bytes in {files} files in {seconds:.0f} s", flush=True)
    imported = psutil.Process().memory_info().rss / 1e6
    with own_cache(parent), MemoryWatch() as watch:
        one = encode(folder, tokenizer, 2)
    speed = f"{one.read / one.seconds / 1e6:.1f} MB/s"
    print(f"{one.read:,} bytes of text, {one.tokens:,} tokens ({tokenizer}) in {one.seconds:.0f} s: {speed}")
    print(f"resident: {imported:.0f} MB after the imports, at most {watch.peak:.0f} MB in all processes")
    draw(watch, imported, f"{one.read / 1e9:.1f} GB of text into shards by two workers ({tokenizer})")
    shutil.rmtree(folder)


def draw(watch: MemoryWatch, imported: float, title: str) -> None:
    figure = new_figure(7, 3.2)
    axes = figure.subplots()
    light_grid(axes)
    both = [sum(pair) for pair in zip(watch.main, watch.workers, strict=True)]
    axes.plot(watch.times, both, color=COLORS[0], label="all processes")
    axes.plot(watch.times, watch.main, color=COLORS[1], label="main process")
    axes.axhline(imported, color=COLORS[2], linestyle=":", label="main process after its imports")
    axes.axhline(500, color=COLORS[3], linestyle="--", label="500 MB")
    axes.set_ylim(0, 1.06 * max(500, *both))
    axes.set_xlabel("seconds")
    axes.set_ylabel("resident memory, MB")
    axes.set_title(title, fontsize=9)
    legend_above(axes)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    write_figure(figure, PICTURE)
    print(f"drawn: {PICTURE}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", default="whole", choices=["whole", "ratio"])
    parser.add_argument("--gigabytes", type=float)
    parser.add_argument("--tokenizer", default="char")
    parser.add_argument("--repeats", type=int, default=2, help="of a ratio")
    parser.add_argument("--folder", type=Path, help="for the text, which is removed afterwards")
    given = parser.parse_args(sys.argv[1:])
    with tempfile.TemporaryDirectory(dir=given.folder) as parent:
        if given.what == "ratio":
            ratio(Path(parent), int((given.gigabytes or 1.0) * 1e9), given.tokenizer, given.repeats)
        else:
            whole(Path(parent), int((given.gigabytes or 5.0) * 1e9), given.tokenizer)


if __name__ == "__main__":
    main()
