"""Which tokens look at which: maps of weights, one for each head; as bytes for the script of a page, and drawn.

Rows look at columns. Both are the same tokens where a text looks at itself, and others where a translation looks at its
source. Colors and bytes stand for the square root of a weight, so that small weights can be seen as well.
"""

import base64
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from seqlab.inspection.sheet import Chart, WeightMap, WeightMaps

KEPT_BYTES, MAP_BYTES = 330_000, 200_000  # on a page, of all rows and of all maps together
MOST_KEPT, FEWEST_KEPT = 16, 4  # weights of a row
LARGEST_MAP = 128  # points in a row or column of a map
LABELED = 48  # tokens, up to which they are written beside a large picture
COLORED = {"cmap": "Blues", "vmin": 0, "vmax": 1, "interpolation": "nearest", "aspect": "auto"}
TICKS = (0.0, 0.01, 0.1, 0.25, 0.5, 1.0)  # weights in the legend
ALT = "the tokens in rows look at those in columns; the color is the square root of the weight"


# --- bytes ----------------------------------------------------------------------------------------------------------


def packed_maps(maps: WeightMaps) -> dict[str, Any]:
    """For the script of a page: each map as bytes, smaller where the text is long, and the largest weights of every
    row with their columns."""
    every = [*maps.summaries, *(head for heads in maps.layers for head in heads)]
    rows, columns = len(maps.rows), len(maps.columns)
    kept = min(columns, MOST_KEPT, max(FEWEST_KEPT, KEPT_BYTES // (3 * rows * len(every))))
    side = min(LARGEST_MAP, max(1, math.isqrt(MAP_BYTES // len(every))))
    factor = math.ceil(max(rows, columns) / side)
    return {
        "rows": rows,
        "columns": columns,
        "kept": kept,
        "factor": factor,
        "maps": [_packed(each, kept, factor) for each in every],
    }


def _packed(each: WeightMap, kept: int, factor: int) -> dict[str, str]:
    weights_TS = each.weights_TS.numpy()
    largest_TK = np.argsort(-weights_TS, axis=1, kind="stable")[:, :kept]
    return {
        "name": each.name,
        "map": _text(as_bytes(pooled(weights_TS, factor))),
        "columns": _text(largest_TK.astype("<u2")),
        "weights": _text(as_bytes(np.take_along_axis(weights_TS, largest_TK, axis=1))),
    }


def as_bytes(weights: np.ndarray) -> np.ndarray:
    """From 0 to 255: the square root, so that one of a thousand equal weights is not zero."""
    return np.round(255 * np.sqrt(weights.clip(0, 1))).astype(np.uint8)


def pooled(weights_TS: np.ndarray, factor: int) -> np.ndarray:
    """The largest of every `factor` x `factor` weights, so that a single strong one stays visible."""
    (rows, columns), n = weights_TS.shape, factor
    padded = np.pad(weights_TS, ((0, -rows % n), (0, -columns % n)))
    return padded.reshape(padded.shape[0] // n, n, padded.shape[1] // n, n).max((1, 3))


def _text(values: np.ndarray) -> str:
    return base64.b64encode(values.tobytes()).decode()


# --- pictures -------------------------------------------------------------------------------------------------------


def map_charts(maps: WeightMaps) -> list[Chart]:
    """The grid of all heads, and the summaries large; of a single head, only itself."""
    heads = [head for layer in maps.layers for head in layer]
    if len(heads) == 1:
        return [_large_chart(maps, heads[0])]
    return [_grid_chart(maps.layers), *(_large_chart(maps, each) for each in maps.summaries)]


def _grid_chart(layers: Sequence[Sequence[WeightMap]]) -> Chart:
    """One small picture for each head: layers from top to bottom, heads from left to right."""
    heads = max(map(len, layers))
    alt = f"Attention weights of {heads} heads in {len(layers)} layers, one map for each: {ALT}"
    size = (min(9.0, 1.2 + 1.3 * heads), 0.7 + 1.3 * len(layers))
    return Chart(lambda axes: _draw_grid(axes, layers), alt, size)


def _draw_grid(axes: Any, layers: Sequence[Sequence[WeightMap]]) -> None:
    rows, columns = layers[0][0].weights_TS.shape
    down, across = (length + max(1, length // 12) for length in (rows, columns))  # with a gap
    heads = max(map(len, layers))
    grid = np.full((len(layers) * down, heads * across), np.nan)
    for row, layer in enumerate(layers):
        for column, head in enumerate(layer):
            y, x = row * down, column * across
            grid[y : y + rows, x : x + columns] = head.weights_TS.numpy()
    axes.imshow(np.sqrt(grid), **COLORED)
    for axis, length, step, names in (
        (axes.xaxis, columns, across, [head.name.rpartition(" head ")[2] for head in max(layers, key=len)]),
        (axes.yaxis, rows, down, [layer[0].name.partition(" head ")[0] for layer in layers]),
    ):
        axis.set_ticks([(length - 1) / 2 + n * step for n in range(len(names))], names, fontsize=8)
    axes.set_xlabel("head", fontsize=8)
    _bare(axes)


def _large_chart(maps: WeightMaps, each: WeightMap) -> Chart:
    labeled = max(len(maps.rows), len(maps.columns)) <= LABELED
    side = 4.4 if labeled else 4.0
    return Chart(lambda axes: _draw_large(axes, maps, each, labeled), f"{each.name}: {ALT}", (side + 0.4, side))


def _draw_large(axes: Any, maps: WeightMaps, each: WeightMap, labeled: bool) -> None:
    drawn = axes.imshow(np.sqrt(each.weights_TS.numpy()), **COLORED)
    bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.6, pad=0.02)
    bar.set_ticks([weight**0.5 for weight in TICKS], labels=[f"{weight:g}" for weight in TICKS], fontsize=7)
    bar.set_label("weight", fontsize=8)
    bar.outline.set_visible(False)
    if labeled:
        rows, columns = ([token.replace("$", r"\$") for token in tokens] for tokens in (maps.rows, maps.columns))
        axes.set_xticks(range(len(columns)), columns, fontsize=6, rotation=90)
        axes.set_yticks(range(len(rows)), rows, fontsize=6)
    else:
        axes.tick_params(labelsize=7)
    axes.set_xlabel("token that is looked at", fontsize=8)
    axes.set_ylabel("token that looks", fontsize=8)
    axes.set_title(each.name, fontsize=8)
    _bare(axes)


def _bare(axes: Any) -> None:
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
