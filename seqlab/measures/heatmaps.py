"""Attention weights as heatmaps: a query in each row, a key in each column."""

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
        weights_TS = weights_NTS[head]
        image = _heatmap(axes, weights_TS)
        axes.set_xticks(range(len(words)), words, rotation=60, ha="right", fontsize=8)
        axes.set_yticks(range(len(words)), words if head == 0 else [""] * len(words), fontsize=8)
        for row, column in np.ndindex(*weights_TS.shape):
            weight = weights_TS[row, column]
            color = "white" if weight > 0.5 else "black"
            axes.text(column, row, f"{weight:.2f}", ha="center", va="center", fontsize=5.5, color=color)
        axes.set_title(f"head {head + 1}", fontsize=9)
        if head == heads - 1:
            figure.colorbar(image, ax=axes, shrink=0.7, label="weight")
    figure.suptitle(title, fontsize=10)
    write_figure(figure, path)


def draw_alignment(
    weights_TS: Sequence[Sequence[float]], source: Sequence[str], target: Sequence[str], path: Path
) -> None:
    """The attention of each generated token: source tokens in columns, target tokens in rows."""
    figure = new_figure(1.6 + 0.42 * len(source), 1.2 + 0.36 * len(target))
    axes = figure.subplots()
    image = _heatmap(axes, np.asarray(weights_TS), aspect="auto")
    axes.set_xticks(range(len(source)), source, rotation=60, ha="left", fontsize=9)
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(target)), target, fontsize=9)
    figure.colorbar(image, ax=axes, shrink=0.7, label="weight")
    write_figure(figure, path)


def _heatmap(axes: Any, weights_TS: np.ndarray, **options: Any) -> Any:
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return axes.imshow(weights_TS, cmap="Blues", vmin=0, vmax=1, **options)
