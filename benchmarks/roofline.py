"""Where the time of a training step goes: its speed under the roofline of this machine, and its operations by kind.

Run `python -m benchmarks.roofline [--out roofline.png]`. The roofline (Williams et al. 2009) has two parts: the fastest
matrix product, by torch's default library or by oneDNN, and what copying a large array moves. A step's work is counted
in closed form, three times that of its forward pass. Its bytes are the least that it can move: what is kept for the
backward pass is written and read once, and a weight is read in both passes, its gradient written and read, its two
moments and itself read and written.
"""

import argparse
import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.profiler import ProfilerActivity, profile

from benchmarks.training import BATCH, SQUARE, WINDOW, Step, fastest, product_steps, step_of, training_step
from seqlab.models.language_model import LanguageModel
from seqlab.plotting import COLORS, light_grid, new_figure, write_figure
from seqlab.training.step import TrainingStep

ROUNDS, PROFILED_STEPS = 20, 3
COPIED = 1 << 26  # numbers of the array that shows the bandwidth, more than any cache holds
WEIGHT_TRAFFIC = 2 + 2 + 6  # reads and writes of a weight in one step
RATE = 0.1
SIZES = {
    "rnn": {"hidden": 256},
    "gru": {"hidden": 256},
    "lstm": {"hidden": 256},
    "lstm-attention": {"hidden": 256},
    "transformer": {"hidden": 128, "layers": 4, "heads": 4, "context": WINDOW},
}
KINDS = {  # of torch's operations, by a part of their names; the first that fits
    "optimizer": ("Adam", "adam"),
    "recurrent kernel": ("rnn_layer", "lstm", "gru_cell", "rnn_tanh"),
    "attention kernel": ("attention", "CompiledAdditive"),
    "matrix products": ("mm", "linear", "matmul", "OnednnLinear"),
    "dropout kernel": ("_Drop", "_AddDropped", "_EmbedDropped"),
    "layer norm": ("layer_norm",),
    "loss": ("softmax", "nll"),
    "copies": ("copy", "cat", "clone", "contiguous", "stack", "to_", "zero", "fill"),
    "elementwise": ("add", "mul", "sigmoid", "tanh", "gelu", "sub", "div", "neg", "pow"),
}


@dataclass(frozen=True)
class Machine:
    """What this machine can do at most."""

    flops: dict[str, float]  # per second, by precision
    bytes: float  # per second


@dataclass(frozen=True)
class Point:
    """One training step under the roofline."""

    name: str
    precision: str
    seconds: float
    flops: float
    bytes: float
    shares: dict[str, float]  # of the time, by kind of operation

    @property
    def speed(self) -> float:
        return self.flops / self.seconds

    def roof(self, machine: Machine) -> float:
        return min(machine.flops[self.precision], machine.bytes * self.flops / self.bytes)


def measure_machine(rounds: int) -> Machine:
    steps: dict[str, Step] = {}
    for name, dtype in {"float32": torch.float32, "bf16": torch.bfloat16}.items():
        steps |= {f"{name} {library}": step for library, step in product_steps(dtype).items()}
    source, target = torch.zeros(COPIED), torch.zeros(COPIED)
    steps["copy"] = lambda: target.copy_(source)
    best = fastest(steps, rounds)
    copy = best.pop("copy")
    fastest_product = {name: min(best[key] for key in best if key.startswith(name)) for name in ("float32", "bf16")}
    return Machine({name: 2 * SQUARE**3 / seconds for name, seconds in fastest_product.items()}, 2 * 4 * COPIED / copy)


def make_step(arch: str, *changes: tuple[str, str]) -> TrainingStep:
    rates = {"model.embedding": 128, "model.embedding_dropout": RATE, "model.output_dropout": RATE}
    options = {f"backbone.{key}": value for key, value in SIZES[arch].items()}
    rates |= {"backbone.dropout": RATE} if SIZES[arch].get("layers", 1) > 1 else {}
    return training_step(arch, [*rates.items(), *options.items(), *changes])


def least_bytes(training: TrainingStep) -> int:
    """What a step moves at least, with every tensor that is kept for the backward pass counted once."""
    kept: dict[int, int] = {}
    weights = {parameter.data_ptr() for parameter in training.parameters}

    def count(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.data_ptr() not in weights:
            kept[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor

    with saved_tensors_hooks(count, lambda tensor: tensor):
        training.gradients(0)
    parameters = sum(parameter.numel() for parameter in training.parameters)
    return 2 * sum(kept.values()) + 4 * WEIGHT_TRAFFIC * parameters


def shares_of(training: TrainingStep) -> dict[str, float]:
    """The shares of a step's time by kind of operation, from torch's profiler."""
    step = step_of(training)
    step()
    with profile(activities=[ProfilerActivity.CPU], acc_events=True) as profiled:
        for _ in range(PROFILED_STEPS):
            step()
    seconds: defaultdict[str, float] = defaultdict(float)
    for event in profiled.key_averages():
        kind = next((kind for kind, parts in KINDS.items() if any(part in event.key for part in parts)), "other")
        seconds[kind] += event.self_cpu_time_total
    total = sum(seconds.values())
    return {kind: value / total for kind, value in sorted(seconds.items(), key=lambda item: -item[1])}


def measure_points(rounds: int) -> list[Point]:
    points = []
    for arch in SIZES:
        made = {precision: make_step(arch, ("train.precision", precision)) for precision in ("float32", "bf16")}
        best = fastest({precision: step_of(training) for precision, training in made.items()}, rounds)
        for precision, training in made.items():
            model = training.model
            assert isinstance(model, LanguageModel)
            flops = 3 * BATCH * WINDOW * model.flops_per_token(WINDOW)
            point = Point(arch, precision, best[precision], flops, least_bytes(training), shares_of(training))
            points.append(point)
    return points


def draw(machine: Machine, points: list[Point], path: Path) -> None:
    figure = new_figure(7, 4.6)
    axes = figure.add_subplot()
    light_grid(axes)
    intensities = [point.flops / point.bytes for point in points]
    knees = [peak / machine.bytes for peak in machine.flops.values()]
    left, right = min(*intensities, *knees) / 3, max(intensities) * 4
    for (precision, peak), style in zip(machine.flops.items(), ("-", "--"), strict=True):
        xs = [left, peak / machine.bytes, right]
        ys = [min(peak, machine.bytes * x) / 1e9 for x in xs]
        axes.plot(xs, ys, style, color="#555555", linewidth=1.2)
        axes.annotate(f"{precision}: {peak / 1e9:.0f} GFLOP/s", (xs[2], ys[2]), (0, 3), textcoords="offset points",
                      ha="right", va="bottom", fontsize=8)  # fmt: skip
    for index, arch in enumerate(SIZES):
        mine = [point for point in points if point.name == arch]
        for point in mine:
            face = COLORS[index] if point.precision == "float32" else "none"
            axes.scatter(point.flops / point.bytes, point.speed / 1e9, s=42, edgecolors=COLORS[index], facecolors=face,
                         linewidths=1.5, label=arch if point.precision == "float32" else None)  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="operations per byte that has to be moved", ylabel="GFLOP/s")
    for axis, ticks in ((axes.xaxis, (2, 5, 10, 20, 50, 100, 200, 500)), (axes.yaxis, (50, 100, 200, 400))):
        axis.set_ticks(ticks, labels=[str(tick) for tick in ticks])
        axis.set_ticks([], minor=True)
    axes.set_title("Training steps under the roofline: filled float32, open bf16", fontsize=10, loc="left")
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    write_figure(figure, path)


def main(rounds: int = ROUNDS, out: Path | None = None) -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    machine, points = measure_machine(rounds), measure_points(rounds)
    peaks = ", ".join(f"{flops / 1e9:.0f} GFLOP/s in {name}" for name, flops in machine.flops.items())
    print(f"{torch.get_num_threads()} threads: {peaks}, {machine.bytes / 1e9:.1f} GB/s; batch {BATCH}, window {WINDOW}")
    for point in points:
        kinds = ", ".join(f"{kind} {share:.0%}" for kind, share in point.shares.items() if share >= 0.02)
        speed, share = point.speed / 1e9, point.speed / point.roof(machine)
        print(f"{point.name:15} {point.precision:8} {point.seconds * 1e3:6.1f} ms {point.flops / 1e9:6.1f} GFLOP "
              f"{point.bytes / 1e6:7.1f} MB {speed:5.0f} GFLOP/s, {share:4.0%} of the roof: {kinds}")  # fmt: skip
    if out is not None:
        draw(machine, points, out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    main(given.rounds, given.out)
