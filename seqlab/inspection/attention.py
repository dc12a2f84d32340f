"""attention: where every head looks, token by token, and what each head does by habit.

Weights say where a head looks, not what the prediction depends on: the view `ablate` measures that.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading
from seqlab.inspection.shades import level
from seqlab.inspection.sheet import Chart, Detail, Sheet, TextTable, TokenColumn, one

LOOKED_AT = 10  # tokens that are shown for each
REPEATED = 20  # random tokens, read twice, on which induction is measured
LABELED = 48  # tokens, up to which they are written beside a large picture
CAUTION = "Weights show where a head looks, not what the prediction depends on; ablate measures that."


class Head(NamedTuple):
    """The weights of one head (T, S), and its name."""

    name: str
    weights_TS: Tensor


def attention(readings: Sequence[Reading], *, layer: int | None = None, head: int | None = None) -> Sheet:
    """All heads as a grid, each head's habits, and the attention of the chosen heads (their mean) for every token."""
    reading = one(readings, "attention")
    names = _names(reading, layer)
    layers = [(name, reading.trace[name][0].transpose(0, 1)) for name in names]
    heads = _heads(layers, head)
    mean_TS = torch.stack([each.weights_TS for each in heads]).mean(0)
    received_T = mean_TS.mean(0) / mean_TS.mean(0).max()
    columns = [_column(reading, t, mean_TS[t], float(received_T[t])) for t in range(len(reading.ids))]
    typical = [
        habits(each, repeated_TS) for each, repeated_TS in zip(heads, _on_repeated(reading, names, head), strict=True)
    ]
    rows = [["head", "previous token", "itself", "first token", "induction", "entropy (bits)"]]
    rows += [[each.name, *(f"{v:.3f}" for v in values.values())] for each, values in zip(heads, typical, strict=True)]
    which = heads[0].name if len(heads) == 1 else f"the mean of {len(heads)} heads"
    charts = [_grid_chart(layers, head)] if len(heads) > 1 else []
    charts.append(_large_chart(mean_TS, reading.tokens, f"weights, {which}"))
    if len(names) > 1:
        charts.append(_large_chart(rollout([w_NTS.mean(0) for _, w_NTS in layers]), reading.tokens, "rollout"))
    return Sheet(
        "attention",
        f"{reading.arch}, {which}, at {len(reading.ids):,} tokens. {CAUTION}",
        {
            "heads": {each.name: values for each, values in zip(heads, typical, strict=True)},
            "looks_at": [[[line.label, line.share] for line in column.details] for column in columns],
        },
        "the stronger the color, the more a token is looked at",
        columns=columns,
        blocks=[
            TextTable("the mean weight that each head gives; induction: on random tokens that are read twice", rows)
        ],
        charts=charts,
    )


def rollout(layers: Sequence[Tensor]) -> Tensor:
    """How much of every input reaches each position through all layers, if half of each passes by (Abnar and Zuidema
    2020): the product of (weights + identity) / 2."""
    reached_TS = torch.eye(len(layers[0]))
    for weights_TS in layers:
        reached_TS = (weights_TS + torch.eye(len(weights_TS))) / 2 @ reached_TS
    return reached_TS


def _names(reading: Reading, layer: int | None) -> list[str]:
    names = [name for name, recorded in reading.model.records.items() if recorded.kind == "attention"]
    if not names:
        raise UsageError(f"the architecture '{reading.arch}' records no attention: lstm-attention and transformers do.")
    if layer is None:
        return names
    if not 1 <= layer <= len(names):
        raise UsageError(f"there is no layer {layer} with attention: give a number from 1 to {len(names)}.")
    return names[layer - 1 : layer]


def _heads(layers: Sequence[tuple[str, Tensor]], head: int | None) -> list[Head]:
    """Every head, or the one with this number in every layer."""
    found = []
    for name, weights_NTS in layers:
        if head is not None and not 1 <= head <= len(weights_NTS):
            raise UsageError(f"there is no head {head}: give a number from 1 to {len(weights_NTS)}.")
        for number, weights_TS in enumerate(weights_NTS, 1):
            if head in (None, number):
                found.append(Head(f"{name.removesuffix('.weights')} head {number}", weights_TS))
    return found


def _column(reading: Reading, t: int, weights_S: Tensor, received: float) -> TokenColumn:
    best = weights_S.topk(min(LOOKED_AT, len(weights_S)))
    details = [
        Detail(f"{reading.tokens[int(s)]} ({int(s) + 1})", float(weight), f"{float(weight):.3f}")
        for weight, s in zip(best.values, best.indices, strict=True)
        if weight > 0
    ]
    return TokenColumn(reading.tokens[t], level(received), heading=f"token {t + 1} looks at", details=details)


# --- habits ---------------------------------------------------------------------------------------------------------


def habits(head: Head, repeated_TS: Tensor) -> dict[str, float]:
    """Mean weights on typical places, and the mean entropy of where it looks."""
    weights_TS = head.weights_TS
    safe_TS = weights_TS.clamp(min=1e-12)
    half = len(repeated_TS) // 2
    return {
        "previous": float(weights_TS.diagonal(-1).mean()) if len(weights_TS) > 1 else math.nan,
        "itself": float(weights_TS.diagonal().mean()),
        "first": float(weights_TS[:, 0].mean()),
        # from the second time a token is read, to the token that followed it the first time
        "induction": float(repeated_TS.diagonal(1 - half)[1:].mean()),
        "entropy": float(-(weights_TS * safe_TS.log2()).sum(1).mean()),
    }


def _on_repeated(reading: Reading, names: Sequence[str], head: int | None) -> list[Tensor]:
    """The weights of the same heads on random tokens that are read twice."""
    limit = reading.model.limit
    count = REPEATED if limit is None else max(2, min(REPEATED, limit // 2))
    draw = torch.Generator().manual_seed(0)
    ids_T = torch.randint(reading.run.tokenizer.ordinary_size, (count,), generator=draw).repeat(2)
    trace = Trace()
    reading.model(ids_T[None], trace=trace)
    return [each.weights_TS for each in _heads([(name, trace[name][0].transpose(0, 1)) for name in names], head)]


# --- pictures -------------------------------------------------------------------------------------------------------


def _grid_chart(layers: Sequence[tuple[str, Tensor]], head: int | None) -> Chart:
    """One small picture for each head: layers from top to bottom, heads from left to right, queries in rows."""
    shown = [(name, w_NTS if head is None else w_NTS[head - 1 : head]) for name, w_NTS in layers]
    heads = max(len(weights_NTS) for _, weights_NTS in shown)
    labels = [name.removesuffix(".weights") for name, _ in shown]
    alt = f"Attention weights of {heads} heads in {len(shown)} layers, one square for each; rows look at columns"
    size = (min(9.0, 1.2 + 1.3 * heads), 0.7 + 1.3 * len(shown))
    return Chart(lambda axes: _draw_grid(axes, [w_NTS.numpy() for _, w_NTS in shown], labels), alt, size)


def _draw_grid(axes: Any, layers: Sequence[np.ndarray], labels: Sequence[str]) -> None:
    length = layers[0].shape[1]
    gap = max(1, length // 12)
    heads = max(map(len, layers))
    grid = np.full((len(layers) * (length + gap), heads * (length + gap)), np.nan)
    for row, weights_NTS in enumerate(layers):
        for column, weights_TS in enumerate(weights_NTS):
            y, x = row * (length + gap), column * (length + gap)
            grid[y : y + length, x : x + length] = weights_TS
    axes.imshow(np.sqrt(grid), cmap="Blues", vmin=0, vmax=1, interpolation="nearest", aspect="auto")
    middle = (length - 1) / 2
    axes.set_xticks(
        [middle + n * (length + gap) for n in range(heads)], [f"head {n + 1}" for n in range(heads)], fontsize=8
    )
    axes.set_yticks([middle + n * (length + gap) for n in range(len(layers))], labels, fontsize=8)
    _bare(axes)


def _large_chart(weights_TS: Tensor, tokens: Sequence[str], title: str) -> Chart:
    side = 4.4 if len(tokens) <= LABELED else 4.0
    alt = (
        f"{title}: the tokens of the text in rows look at those in columns; the color is the square root of the weight"
    )
    return Chart(lambda axes: _draw_large(axes, weights_TS.numpy(), tokens, title), alt, (side + 0.4, side))


def _draw_large(axes: Any, weights_TS: np.ndarray, tokens: Sequence[str], title: str) -> None:
    axes.imshow(np.sqrt(weights_TS), cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
    if len(tokens) <= LABELED:
        names = [token.replace("$", r"\$") for token in tokens]
        axes.set_xticks(range(len(tokens)), names, fontsize=6, rotation=90)
        axes.set_yticks(range(len(tokens)), names, fontsize=6)
    else:
        axes.set(xlabel="token that is looked at", ylabel="token that looks")
    axes.set_title(title, fontsize=8)
    _bare(axes)


def _bare(axes: Any) -> None:
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
