"""Generation costs of a run: speed alone, in a batch and by context length; bytes of weights and state."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from seqlab.mixing.mixture import MIXTURE_FILE
from seqlab.runs.directory import WEIGHTS
from seqlab.runs.run import Run
from seqlab.threads import compute_threads

WRITTEN = 100  # tokens
TOGETHER = 32  # texts
LENGTHS = (100, 1000, 10_000)  # of the context
LONGEST_PLAIN = 1000  # context that the plain engine has to read


@dataclass(frozen=True)
class Cost:
    """Seconds per token of one text, of each of `TOGETHER` texts, and by context length."""

    name: str
    arch: str
    engine: str
    file_bytes: int
    alone: float
    together: float
    late: dict[int, float]
    state_bytes: dict[str, int]


def fastest(action: Callable[[], object], rounds: int) -> float:
    """Seconds of the fastest of several rounds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return min(times)


def seconds_per_token(run: Run, length: int, engine: str) -> float:
    """With a context of `length` tokens."""
    context = run.dummy_context(length, engine)
    return fastest(lambda: run.continue_from(context, WRITTEN), 3) / WRITTEN


def by_length(run: Run, engine: str) -> dict[int, float]:
    """Seconds per token by context length, as far as the engine is fast enough."""
    lengths = [length for length in LENGTHS if engine == "compiled" or length <= LONGEST_PLAIN]
    return {length: seconds_per_token(run, length, engine) for length in lengths}


def cost(run: Run, name: str, engine: str | None = None) -> Cost:
    engine = engine or run.engine
    run.generate("", 2, engine=engine)  # compiles and allocates
    return Cost(
        name=name,
        arch=run.settings.backbone.name,
        engine=engine,
        file_bytes=file_bytes(run),
        alone=fastest(lambda: run.generate("", WRITTEN, engine=engine), 5) / WRITTEN,
        together=fastest(lambda: run.generate("", WRITTEN, samples=TOGETHER, engine=engine), 3) / WRITTEN / TOGETHER,
        late=by_length(run, engine),
        state_bytes=state_bytes(run),
    )


def file_bytes(run: Run) -> int:
    """Bytes of what it predicts with: weights, and counts if it is mixed with them."""
    files = [run.path / name for name in (WEIGHTS, MIXTURE_FILE)]
    return sum(file.stat().st_size for file in files if file.exists())


def state_bytes(run: Run) -> dict[str, int]:
    """Bytes of the state by context length; empty if the run does not generate."""
    if not run.generates:
        return {}
    return {str(length): run.model.backbone.state_bytes(length) for length in LENGTHS}


def generation_speed(run: Run, threads: int) -> dict[str, float]:
    """Tokens per second by context length; empty if the run does not generate."""
    if not run.generates:
        return {}
    with compute_threads(threads):
        return {str(length): 1 / seconds for length, seconds in by_length(run, run.engine).items()}
