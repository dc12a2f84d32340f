"""curves.png: the learning curves of a run, readable in print."""

from pathlib import Path
from typing import Any

import numpy as np

from seqlab.plotting import COLORS, light_grid, new_figure, write_figure
from seqlab.wording import decimals

TRAINING, VALIDATION, FAINT = *COLORS[:2], "#b8c4d6"


def draw_curves(log: list[dict[str, Any]], title: str, path: Path) -> None:
    """Training and validation loss on the left, perplexity on the right.

    Where training minimizes another loss than the plain cross-entropy (label smoothing, distillation), both are drawn,
    and only the cross-entropy compares with the validation loss."""
    figure = new_figure(9, 3.6)
    left, right = figure.subplots(1, 2)
    draw_losses(left, log)
    _draw_perplexity(right, log)
    # file names may contain dollar signs and bytes that are not UTF-8
    left.set_title(title.encode(errors="replace").decode(), parse_math=False)
    left.set(xlabel="step", ylabel="loss (nats per token)")
    right.set(title="perplexity", xlabel="step")
    for axes in (left, right):
        light_grid(axes)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False)
    write_figure(figure, path)


def draw_losses(axes: Any, log: list[dict[str, Any]]) -> None:
    steps_N, losses_N = _series(log, "loss")
    at_M, validation_M = _series(log, "validation_loss")
    plain_at_M, plain_M = _series(log, "cross_entropy")
    if len(steps_N):
        axes.plot(steps_N, losses_N, color=FAINT, linewidth=0.6, label="training, each step")
        axes.plot(steps_N, smoothed(losses_N), color=TRAINING, linewidth=1.5, label="training, smoothed")
        if len(plain_M):
            label = "training, plain cross-entropy"
            axes.plot(plain_at_M, smoothed(plain_M), "--", color=TRAINING, linewidth=1.5, label=label)
        # single spikes would flatten everything else
        top = max(float(np.percentile(losses_N, 99.5)), validation_M.max(initial=-np.inf))
        low = min(float(losses_N.min()), validation_M.min(initial=np.inf), smoothed(plain_M).min(initial=np.inf))
        margin = 0.05 * (top - low) + 1e-3
        axes.set_ylim(low - margin, top + margin)
    if len(at_M):
        axes.plot(at_M, validation_M, "o-", color=VALIDATION, linewidth=1.5, markersize=4, label="validation")


def _draw_perplexity(axes: Any, log: list[dict[str, Any]]) -> None:
    plain = any("train_cross_entropy" in line for line in log)
    for key, label, style, color in (
        ("train_cross_entropy" if plain else "train_loss", "training", "s--", TRAINING),
        ("validation_loss", "validation", "o-", VALIDATION),
    ):
        steps_N, losses_N = _series(log, key)
        if len(steps_N):
            # a diverged run has losses that no float can raise e to
            perplexity_N = np.exp(np.minimum(losses_N, 100))
            axes.plot(steps_N, perplexity_N, style, color=color, linewidth=1.5, markersize=4, label=label)
            best = int(np.argmin(perplexity_N))
            place = {"textcoords": "offset points", "xytext": (0, 7), "ha": "center", "color": color}
            axes.annotate(decimals(perplexity_N[best], 2), (steps_N[best], perplexity_N[best]), **place)
    axes.margins(y=0.15)


def _series(log: list[dict[str, Any]], key: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps and values of the log lines with this key."""
    points = [(line["step"], line[key]) for line in log if line.get(key) is not None]
    return np.array([step for step, _ in points]), np.array([value for _, value in points])


def smoothed(values_N: np.ndarray) -> np.ndarray:
    """A running mean over a fiftieth of the run."""
    width = max(1, len(values_N) // 50)
    sums_N = np.cumsum(np.concatenate(([0.0], values_N)))
    last_N = np.arange(1, len(values_N) + 1)
    first_N = np.maximum(0, last_N - width)
    return (sums_N[last_N] - sums_N[first_N]) / (last_N - first_N)
