"""A training step beside other programs: with the short wait of threads that seqlab sets, and with that of OpenMP.

Run `python -m benchmarks.busy`. The threads of a kernel wait for each other at every time step of a recurrence. If
another program has the core of one of them, the others wait for it: spinning, they keep even more programs from it.
"""

import os
import subprocess
import sys
from contextlib import ExitStack

SECONDS = 5  # of each measurement
WAITS = {"as seqlab sets it": {}, "as OpenMP does": {"OMP_WAIT_POLICY": "", "GOMP_SPINCOUNT": "300000"}}
SPIN = [sys.executable, "-c", "while True: pass"]
STEP = f"""
import seqlab  # before torch is loaded
import time
from benchmarks.training import our_step
step, taken, began = our_step("lstm"), [], time.monotonic()
step()
while not taken or time.monotonic() - began < {SECONDS}:
    before = time.perf_counter()
    step()
    taken.append(time.perf_counter() - before)
print(sorted(taken)[len(taken) // 2])
"""


def seconds_of_step(wait: dict[str, str], programs: int) -> float:
    """The median step of an LSTM on all cores, beside so many programs that compute."""
    with ExitStack() as stack:
        for _ in range(programs):
            stack.callback(subprocess.Popen(SPIN).kill)
        environment = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"} | wait
        done = subprocess.run([sys.executable, "-c", STEP], env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    print(f"the median step of an LSTM on {os.cpu_count()} threads, ms, beside programs that compute")
    for programs in (0, 1, os.cpu_count() or 1):
        taken = {name: seconds_of_step(wait, programs) for name, wait in WAITS.items()}
        ours, other = taken.values()
        columns = "  ".join(f"{name} {seconds * 1e3:8.1f}" for name, seconds in taken.items())
        print(f"{programs} programs: {columns}  {other / ours:7.2f} times as fast")


if __name__ == "__main__":
    main()
