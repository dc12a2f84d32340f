"""What dropout costs: a training step of each architecture with it, against the same step without.

Run `python -m benchmarks.dropout`. The rate is 0.1 wherever the architecture drops: on embeddings, between layers or in
every sublayer, and before the output. Where the arrays of a model lie in memory changes its step by some percent, so
several models of each kind take turns, and the median of their fastest steps counts. `--cpu` counts CPU time, for a
machine that others use too.
"""

import argparse
import os
from statistics import median
from typing import Any

import torch

from benchmarks.training import BATCH, WINDOW, Step, fastest, step_of, training_step

RATE, HIDDEN, LAYERS = 0.1, 128, 2
ROUNDS, MODELS = 30, 5
TARGET = 0.05
ARCHITECTURES: dict[str, dict[str, Any]] = {
    "feedforward": {"layers": LAYERS},
    "rnn": {"layers": LAYERS},
    "gru": {"layers": LAYERS},
    "lstm": {"layers": LAYERS},
    "lstm-attention": {"layers": LAYERS},
    "transformer": {"layers": 4, "heads": 4, "context": WINDOW},
}


def dropping_step(arch: str, rate: float) -> Step:
    options = {"hidden": HIDDEN, **ARCHITECTURES[arch]}
    options |= {} if arch == "feedforward" else {"dropout": rate}
    rates = {"model.embedding": HIDDEN, "model.embedding_dropout": rate, "model.output_dropout": rate}
    return step_of(
        training_step(arch, [*rates.items(), *((f"backbone.{key}", value) for key, value in options.items())])
    )


def main(rounds: int = ROUNDS, threads: int | None = None, cpu: bool = False) -> None:
    torch.set_num_threads(threads or os.cpu_count() or 1)
    print(f"dropout {RATE}: batch {BATCH}, window {WINDOW}, {HIDDEN} wide, {torch.get_num_threads()} threads")
    for arch in ARCHITECTURES:
        rates = {f"{rate} {number}": rate for number in range(MODELS) for rate in (RATE, 0.0)}
        best = fastest({name: dropping_step(arch, rate) for name, rate in rates.items()}, rounds, cpu)
        dropping, without = (median(best[name] for name in rates if rates[name] == rate) for rate in (RATE, 0.0))
        print(f"{arch:16} {dropping / without - 1:6.1%} of a step  target {TARGET:.0%}  {dropping * 1e3:7.1f} ms, "
              f"without {without * 1e3:7.1f} ms")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--cpu", action="store_true")
    given = parser.parse_args()
    main(given.rounds, given.threads, given.cpu)
