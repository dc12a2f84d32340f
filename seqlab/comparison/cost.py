"""What a run takes when it writes: how fast it is early and late in a text, and how much it keeps in mind."""

import time
from collections.abc import Callable

from seqlab.api import Run
from seqlab.training.prepare import computing

WRITTEN = 100  # tokens
LENGTHS = (100, 1000)  # of the text that stands there already


def fastest(action: Callable[[], object], rounds: int) -> float:
    """Seconds of the quickest of several rounds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return min(times)


def late(run: Run, length: int) -> float:
    """Seconds of a token when `length` stand there already."""
    begun = run.generate("", length, engine="plain")
    return fastest(lambda: run.go_on(begun, WRITTEN), 3) / WRITTEN


def state_bytes(run: Run) -> dict[str, int]:
    """Of one text, by its length; empty where it does not write."""
    if not run.writes:
        return {}
    return {str(length): run.model.backbone.state_bytes(length) for length in LENGTHS}


def generation(run: Run, threads: int) -> dict[str, float]:
    """Tokens a second, by the length that stands there already; empty where it does not write."""
    with computing(threads):
        return {str(length): 1 / late(run, length) for length in LENGTHS} if run.writes else {}
