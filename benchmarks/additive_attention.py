"""Causal additive attention, forward and backward: the compiled kernel against the plain form.

Run `python -m benchmarks.additive_attention`. Time is the fastest of interleaved repeats; memory is what the process
grows by at its peak, measured in a process of its own for each form.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import torch

from seqlab.attention.fast import attend_fast
from seqlab.attention.masks import causal
from seqlab.attention.plain import attend
from seqlab.attention.scores import Additive

BATCH, HIDDEN = 32, 256
LARGE = 8.0  # a spread that high learning rates lead to
LENGTHS = (128, 256, 512, 1024)
PLAIN_UP_TO = 256  # beyond, the plain form needs 26 GB and more


def make_step(
    implementation: str, length: int, batch: int = BATCH, additive_backward: float = 1.0
) -> Callable[[], None]:
    """One forward and backward pass from projected queries and keys to the attention's output."""
    torch.manual_seed(0)
    score = Additive(HIDDEN, HIDDEN, HIDDEN)
    q_BTH, k_BSH, values_BSH = (additive_backward * torch.randn(batch, length, HIDDEN) for _ in range(3))
    for tensor in (q_BTH, k_BSH, values_BSH):
        tensor.requires_grad_()
    seen = causal(torch.zeros(batch, dtype=torch.long), length)

    def step() -> None:
        if implementation == "fast":
            output_BTH = attend_fast(score, q_BTH, k_BSH, values_BSH, seen)
        else:
            output_BTH = attend(score.of_projected(q_BTH, k_BSH), values_BSH, seen.mask(length)).output_BTD
        output_BTH.sum().backward()

    return step


def timed(step: Callable[[], None]) -> float:
    began = time.perf_counter()
    step()
    return time.perf_counter() - began


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as stat:  # noqa: PTH123
        return int(stat.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(step: Callable[[], None]) -> int:
    """By how many bytes the process grows at most while a step runs; sampled every millisecond."""
    before, peak, running = resident(), 0, True

    def watch() -> None:
        nonlocal peak
        while running:
            peak = max(peak, resident())
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    step()
    running = False
    watcher.join()
    return peak - before


def measured_growth(implementation: str, length: int) -> int:
    command = [sys.executable, "-m", "benchmarks.additive_attention", "--grow", implementation, str(length)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main(rounds: int = 3) -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    print(f"batch {BATCH}, width {HIDDEN}, causal, forward + backward; target at 128: 30x and 1/20 of the memory")
    print(f"{'length':>6} {'plain ms':>9} {'fast ms':>9} {'ratio':>7} {'plain MB':>9} {'fast MB':>8} {'ratio':>7}")
    for length in LENGTHS:
        fast = make_step("fast", length)
        fast()  # compiles, or loads what was compiled before
        plain = make_step("plain", length) if length <= PLAIN_UP_TO else None
        times: dict[str, list[float]] = {"fast": [], "plain": []}
        for _ in range(rounds if length <= 256 else 1):
            times["fast"] += [timed(fast) for _ in range(8)]
            times["plain"] += [timed(plain)] if plain else []
        fast_bytes = measured_growth("fast", length)
        plain_bytes = measured_growth("plain", length) if plain else None
        line = f"{length:>6} "
        if plain_bytes is None:
            line += f"{'-':>9} {min(times['fast']) * 1e3:>9.1f} {'-':>7} {'-':>9} {fast_bytes / 1e6:>8.1f} {'-':>7}"
        else:
            time_ratio = min(times["plain"]) / min(times["fast"])
            line += f"{min(times['plain']) * 1e3:>9.1f} {min(times['fast']) * 1e3:>9.1f} {time_ratio:>6.1f}x "
            line += f"{plain_bytes / 1e6:>9.1f} {fast_bytes / 1e6:>8.1f} {plain_bytes / fast_bytes:>6.1f}x"
        print(line, flush=True)
    usual, large = (
        make_step("fast", LENGTHS[0], additive_backward=additive_backward) for additive_backward in (1.0, LARGE)
    )
    pairs = [(timed(usual), timed(large)) for _ in range(8 * rounds)]
    slower = min(large for _, large in pairs) / min(usual for usual, _ in pairs)
    print(f"queries and keys {LARGE:g} times as large: {slower:.2f} times the time", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--grow", nargs=2, metavar=("FORM", "LENGTH"))
    given = parser.parse_args()
    if given.grow:
        # a small step first, so that libraries and kernels are there already
        make_step(given.grow[0], 8, batch=2)()
        print(growth(make_step(given.grow[0], int(given.grow[1]))))
    else:
        main()
