"""Training steps whose linear layers are multiplied by torch's default library, and by oneDNN.

Run `python -m benchmarks.matmul`. The models are those of the roofline.
"""

import os

import torch

from benchmarks.roofline import SIZES, make_step
from benchmarks.training import BATCH, WINDOW, fastest, step_of
from seqlab.linear import has_onednn

ROUNDS = 20


def main(rounds: int = ROUNDS) -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    print(f"matrix products: batch {BATCH}, window {WINDOW}, float32, {torch.get_num_threads()} threads")
    if not has_onednn():
        print("this build of torch has no oneDNN")
        return
    for arch in SIZES:
        steps = {
            library: step_of(make_step(arch, ("train.matmul", library), ("train.precision", "float32")))
            for library in ("torch", "onednn")
        }
        best = fastest(steps, rounds)
        print(f"{arch:15} torch {best['torch'] * 1e3:6.1f} ms  oneDNN {best['onednn'] * 1e3:6.1f} ms  "
              f"{best['torch'] / best['onednn']:.2f} times as fast")  # fmt: skip


if __name__ == "__main__":
    main()
