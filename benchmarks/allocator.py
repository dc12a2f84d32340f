"""Memory that stays from step to step: a training step as seqlab takes it, and with the C library as it comes.

Run `python -m benchmarks.allocator`. Each measurement is a process of its own, in turns; the median step of the fastest
process counts. The sizes are those of `benchmarks.roofline`, and the LSTM of a speedrun in bf16.
"""

import argparse
import os
import subprocess
import sys

SECONDS, ROUNDS = 4, 3  # of each process; processes of each kind
LIBRARIES = {"kept": {}, "as it comes": {"MALLOC_PERTURB_": "0"}}  # the default value, which leaves everything alone
SPEEDRUN = "lstm, 512 wide, bf16"
STEPS = f"""
import sys, time
import torch
from benchmarks.roofline import SIZES
from benchmarks.training import step_of, training_step
name, taken, began = sys.argv[1], [], time.monotonic()
options, train = ({{"hidden": 512}}, [("train.precision", "bf16")]) if name == "{SPEEDRUN}" else (SIZES[name], [])
changes = [(f"backbone.{{key}}", value) for key, value in options.items()]
step = step_of(training_step(name.split(",")[0], [*changes, *train]))
for _ in range(3):
    step()
while not taken or time.monotonic() - began < {SECONDS}:
    before = time.perf_counter()
    step()
    taken.append(time.perf_counter() - before)
print(sorted(taken)[len(taken) // 2])
"""


def seconds_of_step(name: str, library: dict[str, str]) -> float:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MALLOC_")}
    command = [sys.executable, "-c", STEPS, name]
    done = subprocess.run(command, env=environment | library, check=True, capture_output=True, text=True)
    return float(done.stdout)


def main(rounds: int = ROUNDS) -> None:
    print(f"training step, batch 32, window 128, {os.cpu_count()} threads, freed memory kept and returned")
    for name in ("rnn", "gru", "lstm", "lstm-attention", "transformer", SPEEDRUN):
        taken = {library: float("inf") for library in LIBRARIES}
        for _ in range(rounds):
            for library, environment in LIBRARIES.items():
                taken[library] = min(taken[library], seconds_of_step(name, environment))
        kept, returned = taken.values()
        print(
            f"{name:22} {returned / kept:5.2f} times as fast  {kept * 1e3:7.1f} ms, as it comes {returned * 1e3:7.1f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    main(parser.parse_args().rounds)
