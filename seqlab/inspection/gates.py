"""gates: how far each gate is open at every token, and how often it is saturated.

A gate that is nearly 0 or 1 for most tokens has stopped weighing: Karpathy et al. (2015) call it saturated.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading, Side
from seqlab.inspection.shades import level
from seqlab.inspection.sheet import Chart, Detail, Sheet, TextTable, TokenColumn, one
from seqlab.plotting import COLORS, legend_above, light_grid

CLOSED, OPEN = 0.1, 0.9  # saturated below and above
BINS = 20


def gates(readings: Sequence[Reading], *, layer: int | None = None, unit: int | None = None) -> list[Sheet]:
    """Every gate as a strip under the text, the mean of its units or one unit; saturation; a histogram. A translator
    has a sheet for each of its texts."""
    reading = one(readings, "gates")
    names = _names(reading, layer)
    by_side = [(side, [name for name in names if reading.side_of(name) == side]) for side in reversed(reading.sides)]
    return [_sheet(reading, side, own, unit) for side, own in by_side if own]


def _sheet(reading: Reading, side: Side, names: Sequence[str], unit: int | None) -> Sheet:
    values_GTH = {name: reading.trace[name][0] for name in names}
    shown_GT = {name: _shown(name, value_TH, unit) for name, value_TH in values_GTH.items()}
    columns = [
        TokenColumn(
            token,
            cells=[(level(float(value_T[t])), "") for value_T in shown_GT.values()],
            heading=f"token {t + 1}",
            details=[Detail(name, float(value_T[t]), f"{float(value_T[t]):.3f}") for name, value_T in shown_GT.items()],
        )
        for t, token in enumerate(side.tokens)
    ]
    whose = "the mean of all units" if unit is None else f"unit {unit}"
    of_side = f" of the {side.name}" if len(reading.sides) > 1 else ""
    saturation = {name: _saturation(value_TH) for name, value_TH in values_GTH.items()}
    rows = [["gate", "mean", f"below {CLOSED}", f"above {OPEN}"]]
    rows += [[name, f"{mean:.3f}", f"{low:.1%}", f"{high:.1%}"] for name, (mean, low, high) in saturation.items()]
    counts = {name: np.histogram(value.numpy(), BINS, (0, 1))[0] / value.numel() for name, value in values_GTH.items()}
    return Sheet(
        "gates" if side == reading.side else f"gates-{side.name}",
        f"{len(values_GTH)} gates of {reading.arch}, {whose}, at {len(columns):,} tokens{of_side}.",
        {
            "tokens": side.tokens,
            "gates": {name: value_T.tolist() for name, value_T in shown_GT.items()},
            "saturation": {n: dict(zip(("mean", "closed", "open"), row, strict=True)) for n, row in saturation.items()},
        },
        "the stronger the color, the further open: from 0 to 1",
        list(values_GTH),
        columns,
        [TextTable("saturation: the share of values near 0 and near 1", rows)],
        [Chart(lambda axes: _draw(axes, counts), _alt(saturation))],
    )


def _lane(reading: Reading, name: str) -> str:
    return name.removeprefix(reading.side_of(name).scope)


def _names(reading: Reading, layer: int | None) -> list[str]:
    records = reading.model.records
    gates = [name for name, recorded in records.items() if recorded.kind == "gate"]
    if not gates:
        raise UsageError(f"the architecture '{reading.arch}' has no gates that it records: gru and lstm have.")
    if layer is not None:
        layers = sorted({_lane(reading, name).partition(".")[0] for name in gates})
        gates = [name for name in gates if _lane(reading, name).startswith(f"layer{layer}.")]
        if not gates:
            raise UsageError(f"there is no layer {layer} with gates: the model has them in {', '.join(layers)}.")
    return gates


def _shown(name: str, value_TH: torch.Tensor, unit: int | None) -> torch.Tensor:
    if unit is None:
        return value_TH.mean(1)
    if not 1 <= unit <= value_TH.shape[1]:
        raise UsageError(f"'{name}' has no unit {unit}: give a number from 1 to {value_TH.shape[1]}.")
    return value_TH[:, unit - 1]


def _saturation(value_TH: torch.Tensor) -> tuple[float, float, float]:
    """The mean, and the shares of values that are nearly 0 and nearly 1."""
    low, high = (value_TH < CLOSED).float().mean(), (value_TH > OPEN).float().mean()
    return float(value_TH.mean()), float(low), float(high)


def _alt(saturation: dict[str, tuple[float, float, float]]) -> str:
    shares = "; ".join(f"{name}: {low:.0%} and {high:.0%}" for name, (_, low, high) in saturation.items())
    return f"Histogram of each gate's values. Below {CLOSED} and above {OPEN}: {shares}"


def _draw(axes: Any, counts: dict[str, np.ndarray]) -> None:
    middles = (np.arange(BINS) + 0.5) / BINS
    styles = ("-", "--", ":")
    for number, (name, share_N) in enumerate(counts.items()):
        style = styles[number // len(COLORS) % len(styles)]
        axes.plot(middles, share_N, style, color=COLORS[number % len(COLORS)], drawstyle="steps-mid", label=name)
    axes.set(xlabel="value of the gate", ylabel="share of values", xlim=(0, 1), ylim=(0, None))
    light_grid(axes)
    legend_above(axes)
