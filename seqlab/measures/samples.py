"""What a language model writes: at several temperatures, greedy beside beam search, and whether it closes brackets."""

from pathlib import Path
from typing import TYPE_CHECKING

from seqlab.measures.measurement import Measurement
from seqlab.recipes import Writing
from seqlab.text_table import aligned_table

if TYPE_CHECKING:
    from seqlab.runs.run import Run

BEAM = 5
PAIRS = {"()": "round brackets", "[]": "square brackets", "{}": "braces", '""': "double quotes", "“”": "curly quotes"}
ROOM = 200  # characters at a text's end in which something may be open still


def temperatures(run: "Run", folder: Path, writing: Writing) -> Measurement:
    """One text at each temperature."""
    texts = {f"{t:g}": str(run.generate(writing.prompt, 300, temperature=t)) for t in writing.temperatures}
    text = "\n\n".join(f"--- temperature {t} ---\n{writing.prompt}{written}" for t, written in texts.items())
    return Measurement({"prompt": writing.prompt, "texts": texts}, text)


def beam(run: "Run", folder: Path, writing: Writing) -> Measurement:
    """The greedy text beside the most probable one that a beam search finds, both with their log-probability."""
    greedy, wide = (run.search(writing.prompt, 200, width=width)[0] for width in (1, BEAM))
    data = {
        name: {"text": found.text, "logprob": found.logprob} for name, found in (("greedy", greedy), ("beam", wide))
    }
    text = "\n\n".join(
        f"--- {name}, log-probability {found.logprob:.1f} ---\n{writing.prompt}{found.text}"
        for name, found in (("greedy", greedy), (f"beam {BEAM}", wide))
    )
    return Measurement({"width": BEAM, **data}, text)


def closing(run: "Run", folder: Path, writing: Writing) -> Measurement:
    """The share of brackets and quotes that samples close, beside that of as much of the text itself."""
    written = run.generate("", 2000, samples=20, temperature=0.8).texts
    original = run.text("train", sum(map(len, written)))
    rows, data = [["", "opened in samples", "closed", "opened in the text", "closed"]], {}
    for pair, name in PAIRS.items():
        ours, theirs = closed(written, pair), closed([original], pair)
        if ours[0] or theirs[0]:
            rows.append([name, f"{ours[0]}", share(ours), f"{theirs[0]}", share(theirs)])
            data[name] = {"opened": ours[0], "closed": ours[1], "text_opened": theirs[0], "text_closed": theirs[1]}
    if not data:
        return Measurement(data, "Neither the text nor the samples have a bracket or a quote that could be closed.")
    return Measurement(data, aligned_table(rows))


def closed(texts: list[str], pair: str) -> tuple[int, int]:
    """How often something is opened early enough to be closed, and how often it is."""
    opened = done = 0
    for text in texts:
        waiting: list[int] = []
        for at, char in enumerate(text):
            if char == pair[1] and waiting:
                done += waiting.pop() < len(text) - ROOM
            elif char == pair[0]:
                waiting.append(at)
                opened += at < len(text) - ROOM
    return opened, done


def share(counts: tuple[int, int]) -> str:
    return f"{counts[1] / counts[0]:.0%}" if counts[0] else "-"
