"""What a run costs when it is used: how fast it writes, alone and with others, early and late in a text."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from seqlab.runs.directory import WEIGHTS
from seqlab.runs.run import Run
from seqlab.threads import compute_threads

WRITTEN = 100  # tokens
TOGETHER = 32  # texts
LENGTHS = (100, 1000, 10_000)  # of the text that stands there already
PLAINLY = 1000  # the longest text that a plain loop is asked to write first


@dataclass(frozen=True)
class Cost:
    """Seconds of a token: of one text, of each of `TOGETHER`, and by the length that stands there already."""

    name: str
    arch: str
    engine: str
    file_bytes: int
    alone: float
    together: float
    late: dict[int, float]
    state_bytes: dict[int, int]


def fastest(action: Callable[[], object], rounds: int) -> float:
    """Seconds of the quickest of several rounds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return min(times)


def late(run: Run, length: int, engine: str) -> float:
    """Seconds of a token when `length` stand there already."""
    begun = run.dummy_context(length, engine)
    return fastest(lambda: run.continue_from(begun, WRITTEN), 3) / WRITTEN


def lengths(engine: str) -> list[int]:
    return [length for length in LENGTHS if engine == "compiled" or length <= PLAINLY]


def cost(run: Run, name: str, engine: str | None = None) -> Cost:
    """Of a run that writes, by its compiled loop where there is one."""
    engine = engine or run.engine
    run.generate("", 2, engine=engine)  # so that what is made ready once is not counted
    return Cost(
        name=name,
        arch=run.settings.backbone.name,
        engine=engine,
        file_bytes=(run.path / WEIGHTS).stat().st_size,
        alone=fastest(lambda: run.generate("", WRITTEN, engine=engine), 5) / WRITTEN,
        together=fastest(lambda: run.generate("", WRITTEN, samples=TOGETHER, engine=engine), 3) / WRITTEN / TOGETHER,
        late={length: late(run, length, engine) for length in lengths(engine)},
        state_bytes={length: run.model.backbone.state_bytes(length) for length in LENGTHS},
    )


def state_bytes(run: Run) -> dict[str, int]:
    """Of one text, by its length; empty where it does not write."""
    if not run.generates:
        return {}
    return {str(length): run.model.backbone.state_bytes(length) for length in LENGTHS}


def generation(run: Run, threads: int) -> dict[str, float]:
    """Tokens a second, by the length that stands there already; empty where it does not write."""
    if not run.generates:
        return {}
    with compute_threads(threads):
        return {str(length): 1 / late(run, length, run.engine) for length in lengths(run.engine)}
