"""Generated text: at several temperatures, greedy and by beam search, and whether it closes brackets."""

from typing import TYPE_CHECKING

from seqlab.measures.measurement import MeasureContext, Measurement
from seqlab.text_table import aligned_table

if TYPE_CHECKING:
    from seqlab.runs.run import Run

BEAM = 5
PAIRS = {"()": "round brackets", "[]": "square brackets", "{}": "braces", '""': "double quotes", "“”": "curly quotes"}
TAIL = 200  # last characters of a text: pairs opened there are not counted


def temperatures(run: "Run", context: MeasureContext) -> Measurement:
    """One text at each temperature."""
    prompt = context.writing.prompt
    texts = {f"{t:g}": str(run.generate(prompt, 300, temperature=t)) for t in context.writing.temperatures}
    text = "\n\n".join(f"--- temperature {t} ---\n{prompt}{generated}" for t, generated in texts.items())
    return Measurement({"prompt": prompt, "texts": texts}, text)


def beam(run: "Run", context: MeasureContext) -> Measurement:
    """The texts that greedy search and beam search find, with their log-probabilities."""
    prompt = context.writing.prompt
    greedy, wide = (run.search(prompt, 200, width=width)[0] for width in (1, BEAM))
    results = {"greedy": greedy, f"beam {BEAM}": wide}
    text = "\n\n".join(
        f"--- {name}, log-probability {result.logprob:.1f} ---\n{prompt}{result.text}"
        for name, result in results.items()
    )
    data = {name.split()[0]: {"text": result.text, "logprob": result.logprob} for name, result in results.items()}
    return Measurement({"width": BEAM, **data}, text)


def closing(run: "Run", context: MeasureContext) -> Measurement:
    """The share of brackets and quotes that samples close, and the share in as much training text."""
    samples = run.generate("", 2000, samples=20, temperature=0.8).texts
    original = run.text("train", sum(map(len, samples)))
    rows, data = [["", "opened in samples", "closed", "opened in the text", "closed"]], {}
    for pair, name in PAIRS.items():
        ours, theirs = closed(samples, pair), closed([original], pair)
        if ours[0] or theirs[0]:
            rows.append([name, f"{ours[0]}", share(ours), f"{theirs[0]}", share(theirs)])
            data[name] = {"opened": ours[0], "closed": ours[1], "text_opened": theirs[0], "text_closed": theirs[1]}
    if not data:
        return Measurement(data, "Neither the text nor the samples contain brackets or quotes that could be closed.")
    return Measurement(data, aligned_table(rows))


def closed(texts: list[str], pair: str) -> tuple[int, int]:
    """How often a pair is opened before the tail of a text, and how often it is then closed."""
    opened = completed = 0
    for text in texts:
        open_positions: list[int] = []
        for position, character in enumerate(text):
            if character == pair[1] and open_positions:
                completed += open_positions.pop() < len(text) - TAIL
            elif character == pair[0]:
                open_positions.append(position)
                opened += position < len(text) - TAIL
    return opened, completed


def share(counts: tuple[int, int]) -> str:
    return f"{counts[1] / counts[0]:.0%}" if counts[0] else "-"
