"""Generated text: at several temperatures, greedy and by beam search, and whether it closes brackets."""

from typing import TYPE_CHECKING

from seqlab.measures.measurement import MeasureContext, Measurement
from seqlab.text_table import aligned_table

if TYPE_CHECKING:
    from seqlab.runs.run import Run

BEAM = 5
PAIRS = {"()": "round brackets", "[]": "square brackets", "{}": "braces", '""': "double quotes", "“”": "curly quotes"}
TAIL = 200  # characters at the end of a text in which a pair may still be open


def temperatures(run: "Run", context: MeasureContext) -> Measurement:
    """One text at each temperature."""
    prompt = context.writing.prompt
    texts = {f"{t:g}": str(run.generate(prompt, 300, temperature=t)) for t in context.writing.temperatures}
    text = "\n\n".join(f"--- temperature {t} ---\n{prompt}{generated}" for t, generated in texts.items())
    return Measurement({"prompt": prompt, "texts": texts}, text)


def beam(run: "Run", context: MeasureContext) -> Measurement:
    """The greedy text beside the most probable one that beam search finds, with their log-probabilities."""
    prompt = context.writing.prompt
    greedy, wide = (run.search(prompt, 200, width=width)[0] for width in (1, BEAM))
    results = {"greedy": greedy, f"beam {BEAM}": wide}
    text = "\n\n".join(
        f"--- {name}, log-probability {result.logprob:.1f} ---\n{prompt}{result.text}"
        for name, result in results.items()
    )
    data = {name.split()[0]: {"text": one.text, "logprob": one.logprob} for name, one in results.items()}
    return Measurement({"width": BEAM, **data}, text)


def closing(run: "Run", context: MeasureContext) -> Measurement:
    """The share of brackets and quotes that samples close, beside the share in as much training text."""
    samples = run.generate("", 2000, samples=20, temperature=0.8).texts
    original = run.text("train", sum(map(len, samples)))
    rows, data = [["", "opened in samples", "closed", "opened in the text", "closed"]], {}
    for pair, name in PAIRS.items():
        ours, theirs = closed(samples, pair), closed([original], pair)
        if ours[0] or theirs[0]:
            rows.append([name, f"{ours[0]}", share(ours), f"{theirs[0]}", share(theirs)])
            data[name] = {"opened": ours[0], "closed": ours[1], "text_opened": theirs[0], "text_closed": theirs[1]}
    if not data:
        return Measurement(data, "Neither the text nor the samples contain a bracket or a quote that could be closed.")
    return Measurement(data, aligned_table(rows))


def closed(texts: list[str], pair: str) -> tuple[int, int]:
    """How often a pair is opened early enough to be closed, and how often it is closed."""
    opened = done = 0
    for text in texts:
        waiting: list[int] = []
        for at, char in enumerate(text):
            if char == pair[1] and waiting:
                done += waiting.pop() < len(text) - TAIL
            elif char == pair[0]:
                waiting.append(at)
                opened += at < len(text) - TAIL
    return opened, done


def share(counts: tuple[int, int]) -> str:
    return f"{counts[1] / counts[0]:.0%}" if counts[0] else "-"
