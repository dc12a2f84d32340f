"""Training on several processes of one machine: tokens a second with one process and with two, on the same cores.

Run `python -m benchmarks.processes`. Each line is a launch of its own by torchrun. "per core" compares with one process
on one thread: 1 is as fast for each core. Two processes add up their gradients after every step.
"""

import json
import subprocess
import sys
import time

from benchmarks.training import BATCH, HIDDEN, WINDOW, training_step
from seqlab.distributed.group import share_work
from seqlab.threads import available_cores, compute_threads

SIZES = {
    "lstm": [("backbone.hidden", 512), ("backbone.layers", 2), ("model.embedding", HIDDEN)],
    "transformer": [("backbone.hidden", HIDDEN), ("backbone.layers", 4), ("model.embedding", HIDDEN)],
}
STEPS, WARMUP = 12, 3


def main() -> None:
    cores = available_cores()
    layouts = {(1, 1), (1, cores), (cores, 1)}
    print(f"batches of {BATCH} x {WINDOW} tokens, {cores} cores; the median of {STEPS} steps")
    print(f"{'':12} {'processes':>9} {'threads of each':>15} {'tokens/s':>9} {'per core':>8}")
    for arch in SIZES:
        alone = 0.0
        for processes, threads in sorted(layouts):
            speed = measured(arch, processes, threads)
            alone = alone or speed
            print(f"{arch:12} {processes:9} {threads:15} {speed:9,.0f} {speed / alone / processes / threads:8.2f}")


def measured(arch: str, processes: int, threads: int) -> float:
    """Tokens a second, as the first process saw it."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    words = ["-m", "benchmarks.processes", arch, str(threads)]
    done = subprocess.run([*launch, *words], check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


def train(arch: str, threads: int) -> None:
    """Time steps, as one of the processes; the first prints tokens a second."""
    with share_work() as world, compute_threads(threads):
        training = training_step(arch, SIZES[arch])
        seconds = []
        for number in range(WARMUP + STEPS):
            began = time.perf_counter()
            training.gradients(number)
            training.update()
            seconds.append(time.perf_counter() - began)
        median = sorted(seconds[WARMUP:])[STEPS // 2]
        if world.is_writer:
            print(json.dumps(BATCH * WINDOW / median))


if __name__ == "__main__":
    train(sys.argv[1], int(sys.argv[2])) if len(sys.argv) > 1 else main()
