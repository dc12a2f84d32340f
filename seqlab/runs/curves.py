"""curves.png: how the losses went, readable on paper."""

import math
from pathlib import Path
from typing import Any

import numpy as np


def draw_curves(log: list[dict[str, Any]], title: str, path: Path) -> None:
    """Training and validation loss on the left, perplexity on the right."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    train = [(line["step"], line["loss"]) for line in log if line.get("loss") is not None]
    validation = [(line["step"], line["validation_loss"]) for line in log if line.get("validation_loss") is not None]
    figure = Figure(figsize=(9, 3.6), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    if train:
        steps_N, losses_N = np.array(train).T
        left.plot(steps_N, losses_N, color="#b8c4d6", linewidth=0.6, label="training, each step")
        left.plot(steps_N, smoothed(losses_N), color="#1f4e9c", linewidth=1.5, label="training, smoothed")
        left.set_ylim(*_range(losses_N, [loss for _, loss in validation]))
    if validation:
        steps_N, losses_N = np.array(validation).T
        left.plot(steps_N, losses_N, "o-", color="#c2410c", linewidth=1.5, markersize=4, label="validation")
        right.plot(steps_N, np.exp(losses_N), "o-", color="#c2410c", linewidth=1.5, markersize=4, label="validation")
        best = int(np.argmin(losses_N))
        right.annotate(f"{math.exp(losses_N[best]):.2f}", (steps_N[best], math.exp(losses_N[best])),
                       textcoords="offset points", xytext=(0, 8), ha="center")  # fmt: skip
        right.margins(y=0.15)
    left.set(title=title, xlabel="step", ylabel="loss (nats per token)")
    right.set(title="perplexity", xlabel="step")
    for axes in (left, right):
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False)
    figure.savefig(path)


def smoothed(values_N: np.ndarray) -> np.ndarray:
    """A running mean over a fiftieth of the run; at the start, over what there is."""
    width = max(1, len(values_N) // 50)
    sums_N = np.cumsum(np.concatenate(([0.0], values_N)))
    last_N = np.arange(1, len(values_N) + 1)
    first_N = np.maximum(0, last_N - width)
    return (sums_N[last_N] - sums_N[first_N]) / (last_N - first_N)


def _range(losses_N: np.ndarray, validation: list[float]) -> tuple[float, float]:
    """Leave out single spikes, which would flatten everything else."""
    finite_N = losses_N[np.isfinite(losses_N)]
    top = max([float(np.percentile(finite_N, 99.5)), *validation])
    low = min([float(finite_N.min()), *validation])
    margin = 0.05 * (top - low) + 1e-3
    return low - margin, top + margin
