"""Do short windows or small batches at the beginning pay? `python -m benchmarks.warmup FOLDER [--seconds 40]`.

Tiny Shakespeare, 100,000 core parameters, one thread. Every plan of shapes gets the same time: the step of each shape
is timed first, all shapes taking turns, and a plan's steps follow from its shares of the time, so that the losses do
not depend on what else the machine does. Each plan is trained at three learning rates with one seed, then at the best
rate with seven more. Times and losses are stored in FOLDER, and the same command goes on where an earlier one stopped.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch

import seqlab
from benchmarks.training import fastest, make_batch, step_of, training_step
from seqlab.data.text.batches import TokenRows, WindowBatches
from seqlab.data.text.tokens import TokenSplit
from seqlab.tasks import text as text_tasks
from seqlab.text_table import markdown_table
from seqlab.training.progress import Reporter

WINDOW, ROUNDS, SEEDS = 128, 30, 8
RATES = (0.0035, 0.007, 0.014)
ARCHITECTURES: dict[str, dict[str, Any]] = {
    "lstm": {"backbone.hidden": 128, "model.embedding": 64},
    "transformer": {"backbone.hidden": 64, "backbone.layers": 2, "backbone.heads": 4, "model.embedding": 64},
}
Shape = tuple[int, int]  # sequences and their length
FULL: Shape = (16, WINDOW)
PLANS: dict[str, dict[Shape, float]] = {  # shares of the time
    "constant": {FULL: 1.0},
    "short windows": {(64, 32): 0.2, (32, 64): 0.2, FULL: 0.6},
    "small batches": {(4, WINDOW): 0.2, (8, WINDOW): 0.2, FULL: 0.6},
}


@dataclass(frozen=True)
class ChangingWindows:
    """Random windows whose number and length change at given steps."""

    phases: list[tuple[int, WindowBatches]]  # the step before which each ends
    batches_per_epoch: float

    def rows(self, seed: int, index: int) -> TokenRows:
        batches = next((batches for end, batches in self.phases if index < end), self.phases[-1][1])
        return batches.rows(seed, index)


def step_seconds(arch: str) -> dict[Shape, float]:
    shapes = {shape for plan in PLANS.values() for shape in plan}
    steps = {
        f"{rows}x{window}": step_of(
            training_step(arch, settings_of(arch), batch=make_batch(ragged=False, rows=rows, window=window))
        )
        for rows, window in sorted(shapes)
    }
    best = fastest(steps, ROUNDS)
    return {shape: best[f"{shape[0]}x{shape[1]}"] for shape in shapes}


def settings_of(arch: str) -> list[tuple[str, Any]]:
    return [*ARCHITECTURES[arch].items(), *([("backbone.context", WINDOW)] if arch == "transformer" else [])]


def train(folder: Path, arch: str, ends: list[tuple[int, Shape]], rate: float, seed: int) -> float:
    def choose(split: TokenSplit, *_: Any) -> Any:
        phases = [(end, WindowBatches(split, *shape)) for end, shape in ends]
        return ChangingWindows(phases, phases[-1][1].batches_per_epoch)

    before, text_tasks.choose_batches = text_tasks.choose_batches, choose
    steps = ends[-1][0]
    settings = {**dict(settings_of(arch)), "train.lr": rate, "train.threads": 1, "task.window": WINDOW,
                "train.evaluate_every": steps, "train.seed": seed, "task.batch_size": FULL[0]}  # fmt: skip
    try:
        run = seqlab.train(
            "tiny-shakespeare", arch=arch, dropout=0.0, steps=steps, sample_tokens=0, out=folder / "run",
            overwrite=True, reporter=Reporter(), settings=settings,
        )  # fmt: skip
    finally:
        text_tasks.choose_batches = before
    assert run.results is not None
    return run.results.validation["nats_per_token"]


def measured(folder: Path, seconds: float) -> Iterator[tuple[str, str, float, int, int, float]]:
    """Architecture, plan, rate, seed, steps and loss of every training."""
    path = folder / "losses.jsonl"
    stored = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {tuple(line[:4]): tuple(line) for line in stored}
    for arch in ARCHITECTURES:
        times = folder / f"{arch}.json"
        if not times.exists():
            timed = step_seconds(arch)
            times.write_text(json.dumps([[*shape, timed[shape]] for shape in sorted(timed)]))
        costs = {(rows, window): cost for rows, window, cost in json.loads(times.read_text())}
        for plan, shares in PLANS.items():
            ends, step = [], 0
            for shape, share in shares.items():
                step += max(1, round(share * seconds / costs[shape]))
                ends.append((step, shape))
            losses: dict[float, float] = {}
            todo = [(rate, 0) for rate in RATES]
            for rate, seed in todo:
                key = (arch, plan, rate, seed)
                if key not in known:
                    known[key] = (*key, step, train(folder, arch, ends, rate, seed))
                    with path.open("a", encoding="utf-8") as stream:
                        print(json.dumps(known[key]), file=stream)
                yield known[key]
                losses[rate] = known[key][-1] if seed == 0 else losses[rate]
                if len(losses) == len(RATES) and len(todo) == len(RATES):
                    best = min(losses, key=losses.__getitem__)
                    todo += [(best, seed) for seed in range(1, SEEDS)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=40.0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    losses: dict[tuple[str, str], dict[float, list[float]]] = {}
    steps: dict[tuple[str, str], int] = {}
    for arch, plan, rate, seed, count, loss in measured(arguments.folder, arguments.seconds):
        losses.setdefault((arch, plan), {}).setdefault(rate, []).append(loss)
        steps[arch, plan] = count
        print(f"{arch} {plan} rate {rate:g} seed {seed}: {loss:.4f} nats/char after {count} steps", flush=True)
    rows = []
    for (arch, plan), by_rate in losses.items():
        rate, best = next((rate, own) for rate, own in by_rate.items() if len(own) == SEEDS)
        rows.append([arch, plan, f"{rate:g}", f"{steps[arch, plan]:,}", f"{mean(best):.4f} ± {stdev(best):.4f}"])
    print(markdown_table(["model", "shapes", "rate", "steps", "nats/char"], rows))


if __name__ == "__main__":
    main()
