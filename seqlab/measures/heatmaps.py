"""Who attends to whom, as a picture: a query in each row, a key in each column."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seqlab.plotting import new_figure, write_figure


def draw_heads(weights_NTS: np.ndarray, words: Sequence[str], title: str, path: Path) -> None:
    """One heatmap for each head, side by side."""
    heads = len(weights_NTS)
    figure = new_figure(1.2 + 2.6 * heads, 3.2)
    for head, axes in enumerate(figure.subplots(1, heads, squeeze=False)[0]):
        drawn = _draw(axes, weights_NTS[head], words, rows=head == 0)
        axes.set_title(f"head {head + 1}", fontsize=9)
        if head == heads - 1:
            figure.colorbar(drawn, ax=axes, shrink=0.7, label="weight")
    figure.suptitle(title, fontsize=10)
    write_figure(figure, path)


def draw_alignment(
    weights_TS: Sequence[Sequence[float]], source: Sequence[str], target: Sequence[str], path: Path
) -> None:
    """What each written token looked at: the source across, the target down."""
    figure = new_figure(1.6 + 0.42 * len(source), 1.2 + 0.36 * len(target))
    axes = figure.subplots()
    drawn = axes.imshow(np.asarray(weights_TS), cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(source)), source, rotation=60, ha="left", fontsize=9)
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(target)), target, fontsize=9)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.colorbar(drawn, ax=axes, shrink=0.7, label="weight")
    write_figure(figure, path)


def _draw(axes: Any, weights_TS: np.ndarray, words: Sequence[str], rows: bool) -> Any:
    drawn = axes.imshow(weights_TS, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(words)), words, rotation=60, ha="right", fontsize=8)
    axes.set_yticks(range(len(words)), words if rows else [""] * len(words), fontsize=8)
    for row, column in np.ndindex(*weights_TS.shape):
        dark = weights_TS[row, column] > 0.5
        axes.text(column, row, f"{weights_TS[row, column]:.2f}", ha="center", va="center", fontsize=5.5,
                  color="white" if dark else "black")  # fmt: skip
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return drawn
