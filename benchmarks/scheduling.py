"""A comparison's runs side by side, one thread each, against one after another on all cores.

Run `python -m benchmarks.scheduling`. Both do the same runs in worker processes that are warm; the gain is the time
of the second over that of the first.
"""

import tempfile
import time
from pathlib import Path

from seqlab.comparison.execution.jobs import Job
from seqlab.comparison.execution.pool import Pool
from seqlab.comparison.execution.progress import ProgressView
from seqlab.config import RunSettings, build_settings
from seqlab.threads import available_cores

ARCHS = {"gru": 1.2, "lstm": 1.0, "lstm-attention": 1.6, "transformer": 2.0}  # and about how long a run takes
SEEDS = 2
STEPS = 40
ROUNDS = 2


def jobs(threads: int, name: str, steps: int) -> list[Job]:
    def settings(arch: str, seed: int) -> RunSettings:
        train = {"steps": steps, "threads": threads, "evaluate_every": steps, "sample_tokens": 0, "seed": seed}
        base = {"corpus": {"source": ["python-docs"]}, "backbone": {"name": arch}, "train": train}
        return build_settings(base, [])

    return [
        Job(f"{name}/{arch}-{seed}", settings(arch, seed).resolved(), None, seconds)
        for arch, seconds in ARCHS.items()
        for seed in range(SEEDS)
    ]


def measure(folder: Path, workers: int, threads: int) -> list[float]:
    times = []
    with Pool(folder, workers, threads, ProgressView()) as pool:
        pool.run(jobs(threads, "warm", 2), "warming up")
        for number in range(ROUNDS):
            began = time.perf_counter()
            pool.run(jobs(threads, f"round-{number}", STEPS), "runs")
            times.append(time.perf_counter() - began)
    return times


def main() -> None:
    cores = available_cores()
    with tempfile.TemporaryDirectory() as place:
        beside = measure(Path(place) / "beside", cores, 1)
        after = measure(Path(place) / "after", 1, cores)
    print(
        f"{SEEDS * len(ARCHS)} runs of {STEPS} steps ({', '.join(ARCHS)}), fastest of {ROUNDS} rounds on {cores} cores"
    )
    print(f"{cores} at a time, 1 thread each   {min(beside):6.1f} s")
    print(f"one after another, {cores} threads {min(after):6.1f} s")
    print(f"gain                           {min(after) / min(beside):6.2f}")


if __name__ == "__main__":
    main()
