"""Several trainings at once: with the short wait of threads that seqlab sets, and with that of OpenMP.

Run `python -m benchmarks.busy`. The threads of a kernel wait for each other at every time step of a recurrence. If
another program has the core of one of them, the others wait for it: spinning, they keep even more programs from it.
"""

import os
import subprocess
import sys
from contextlib import ExitStack

SECONDS = 5  # of each measurement, at least
WAITS = {"as seqlab sets it": {}, "as OpenMP does": {"GOMP_SPINCOUNT": "300000"}}
STEPS = """
import seqlab  # before torch is loaded
import sys, time
from benchmarks.training import our_step
step, taken, began = our_step("lstm"), [], time.monotonic()
step()
while not taken or time.monotonic() - began < float(sys.argv[1]):
    before = time.perf_counter()
    step()
    taken.append(time.perf_counter() - before)
print(sorted(taken)[len(taken) // 2])
"""


def seconds_of_step(wait: dict[str, str], others: int) -> float:
    """The median step of an LSTM on all cores, beside so many other trainings."""
    environment = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"} | wait
    command = [sys.executable, "-c", STEPS]
    with ExitStack() as stack:
        for _ in range(others):
            stack.callback(subprocess.Popen([*command, "1e9"], env=environment).kill)
        done = subprocess.run([*command, str(SECONDS)], env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    print(f"the median step of an LSTM on {os.cpu_count()} threads, ms, beside other trainings")
    for others in (0, 1, 3):
        taken = {name: seconds_of_step(wait, others) for name, wait in WAITS.items()}
        ours, other = taken.values()
        columns = "  ".join(f"{name} {seconds * 1e3:8.1f}" for name, seconds in taken.items())
        print(f"{others} others: {columns}  {other / ours:7.2f} times as fast")


if __name__ == "__main__":
    main()
