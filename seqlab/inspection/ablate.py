"""ablate: what the model loses without one of its parts. It is the check on the stories that other views tell.

A part is put out of action by zeros, or by its mean over the text, which takes away what it says about each token but
keeps what the rest of the model is used to.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading
from seqlab.inspection.sheet import Chart, Sheet, TextTable, one
from seqlab.plotting import COLORS, light_grid

WAYS = ("mean", "zero")
DRAWN = 20  # parts in the chart: those with the largest change
PARTS = ("gate", "state", "layer")


def ablate(readings: Sequence[Reading], *, layer: int | None = None, how: str | None = None) -> Sheet:
    """The change in bits per token without each gate, state, layer and head; of one layer, without each unit."""
    reading, way = one(readings, "ablate"), WAYS[0] if how is None else how
    if way not in WAYS:
        raise UsageError(f"there is no way '{way}' to leave out a part: expected {' or '.join(WAYS)}.")
    if not reading.predicts_tokens:
        raise UsageError(f"'{reading.run.path}' predicts no tokens, so a part cannot change their bits.")
    trace = Trace()
    whole = bits_per_token(reading, trace)
    parts = list(_parts(reading, trace, way) if layer is None else _units(reading, trace, way, layer))
    if not parts:
        raise UsageError(f"the architecture '{reading.arch}' records no gate, state, layer or head to leave out.")
    changes = {part: bits_per_token(reading, Trace({name: without})) - whole for part, name, without in parts}
    ranked = sorted(changes.items(), key=lambda item: -item[1])
    rows = [["without", "bits per token", "change"]]
    rows += [[part, f"{whole + change:.3f}", f"{change:+.3f}".replace("-", "−")] for part, change in ranked]
    worst = f"{ranked[0][0]} ({ranked[0][1]:+.3f})"
    return Sheet(
        "ablate",
        f"{reading.arch} needs {whole:.3f} bits per token; of {len(ranked)} parts, it misses {worst} most.",
        {"bits_per_token": whole, "replaced_by": way, "change": dict(ranked)},
        blocks=[TextTable(f"each part replaced by {'its mean over the text' if way == 'mean' else 'zeros'}", rows)],
        charts=[
            Chart(
                lambda axes: _draw(axes, ranked[:DRAWN]),
                f"Change in bits per token without each part: {', '.join(f'{n} {c:+.3f}' for n, c in ranked[:DRAWN])}",
                (4.6, 0.9 + 0.2 * min(DRAWN, len(ranked))),
            )
        ],
    )


def bits_per_token(reading: Reading, trace: Trace | None = None) -> float:
    """Over all tokens that are predicted."""
    nats_T = -reading.logprobs(trace).gather(1, torch.tensor(reading.ids)[:, None])[:, 0]
    if bool(nats_T.isnan().all()):
        raise UsageError("the text has one token: none is predicted.")
    return float(nats_T[~nats_T.isnan()].mean()) / math.log(2)


Without = Callable[[Tensor], Tensor]


def _parts(reading: Reading, trace: Trace, way: str) -> Iterator[tuple[str, str, Without]]:
    """Every gate, state and layer as a whole, and every head."""
    for name, recorded in reading.model.records.items():
        if recorded.kind in PARTS and name != "embedding":
            yield name, name, _replacing(trace[name], way, None, -1)
        elif recorded.kind == "heads" and name.endswith(".heads"):
            heads = trace[name].shape[2]
            for head in range(heads):
                part = f"{name.removesuffix('.heads')} head {head + 1}"
                yield part, name, _replacing(trace[name], way, head, 2)


def _units(reading: Reading, trace: Trace, way: str, layer: int) -> Iterator[tuple[str, str, Without]]:
    """Every unit of the cell vector of a layer, or of what it passes on."""
    names = [name for name in (f"layer{layer}.cell", f"layer{layer}") if name in trace]
    if not names:
        raise UsageError(f"there is no layer {layer}: it records {', '.join(trace.names)}.")
    for unit in range(trace[names[0]].shape[2]):
        yield f"{names[0]} unit {unit + 1}", names[0], _replacing(trace[names[0]], way, unit, 2)


def _replacing(value: Tensor, way: str, index: int | None, axis: int) -> Without:
    """A function that replaces a value, or one index of an axis of it, by zeros or its mean over batch and time."""
    mean = value.mean((0, 1), keepdim=True) if way == "mean" else torch.zeros_like(value[:1, :1])

    def without(piece: Tensor) -> Tensor:
        if index is None:
            return mean.expand_as(piece)
        at = torch.arange(piece.shape[axis]) == index
        return torch.where(at.view(*[-1 if a == axis else 1 for a in range(piece.dim())]), mean, piece)

    return without


def _draw(axes: Any, ranked: Sequence[tuple[str, float]]) -> None:
    names, changes = [name for name, _ in ranked][::-1], [change for _, change in ranked][::-1]
    axes.barh(range(len(names)), changes, color=[COLORS[1] if change > 0 else COLORS[0] for change in changes])
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set_xlabel("change in bits per token")
    light_grid(axes)
