"""ablate: what the model loses without one of its parts. It is the check on the stories that other views tell.

A part is put out of action by zeros, or by its mean over the text, which takes away what it says about each token but
keeps what the rest of the model is used to; or another run's value is put in its place.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading, counted, require_predictions, run_labels
from seqlab.inspection.sheet import Chart, Sheet, TextTable, one
from seqlab.plotting import COLORS, light_grid

WAYS = {"mean": "its mean over the text", "zero": "zeros", "run": "what {other} computes there"}
DRAWN = 20  # parts in the chart: those with the largest change
PARTS = ("gate", "state", "layer")


def ablate(readings: Sequence[Reading], *, layer: int | None = None, how: str | None = None) -> Sheet:
    """The change in bits per token without each gate, state, layer and head; of one layer, without each unit."""
    way = next(iter(WAYS)) if how is None else how
    if way not in WAYS:
        raise UsageError(f"there is no way '{way}' to replace a part: expected {', '.join(WAYS)}.")
    reading, other = _two(readings, layer) if way == "run" else (one(readings, "ablate"), None)
    trace = Trace()
    whole = bits_per_answer(reading, trace)
    if other is not None:
        bits_per_answer(other, trace := Trace())
    parts = list(_parts(reading, trace, way) if layer is None else _units(reading, trace, way, layer))
    if not parts:
        raise UsageError(f"the architecture '{reading.arch}' records no gate, state, layer or head to leave out.")
    changes = {part: bits_per_answer(reading, Trace({name: new})) - whole for part, name, new in parts}
    ranked = sorted(changes.items(), key=lambda item: -item[1])
    unit = f"bits per {reading.answer}"
    rows = [["without" if other is None else "with", unit, "change"]]
    rows += [[part, f"{whole + change:.3f}", f"{change:+.3f}".replace("-", "−")] for part, change in ranked]
    (label, *others), instead = run_labels(readings), WAYS[way]
    instead = instead.format(other=" ".join(others))
    return Sheet(
        "ablate",
        f"{label} needs {whole:.3f} {unit}{reading.whose}; {_missed(ranked, instead)}.",
        {f"bits_per_{reading.answer}": whole, "replaced_by": way, "change": dict(ranked)},
        blocks=[TextTable(f"each part replaced by {instead}", rows)],
        charts=[
            Chart(
                lambda axes: _draw(axes, ranked[:DRAWN], unit),
                f"Change in {unit}, each part replaced by {instead}: "
                + ", ".join(f"{part} {change:+.3f}" for part, change in ranked[:DRAWN]),
                (4.6, 0.9 + 0.2 * min(DRAWN, len(ranked))),
            )
        ],
    )


def _missed(ranked: Sequence[tuple[str, float]], instead: str) -> str:
    """The part without which most is lost, if something is lost at the precision that is shown."""
    (part, change), parts = ranked[0], counted(len(ranked), "part")
    if round(change, 3) <= 0:
        return f"of {parts}, none is missed: none raises that if it is replaced by {instead}"
    return f"of {parts}, {part} raises that most if it is replaced by {instead} ({change:+.3f})"


def _two(readings: Sequence[Reading], layer: int | None) -> tuple[Reading, Reading]:
    """The run that is changed and the run whose values it gets; UsageError unless the values fit."""
    if len(readings) != 2:
        raise UsageError(f"--how run puts the values of a second run into the first: {len(readings)} given, not 2.")
    if layer is not None:
        raise UsageError("--how run replaces whole parts, not the units of a layer: leave out --layer.")
    reading, other = readings
    if [side.ids for side in reading.sides] != [side.ids for side in other.sides]:
        given = " and --target" if reading.target_means and len(reading.sides) > 1 else ""
        raise UsageError(f"the runs read different tokens: --how run needs two with the same tokenizer{given}.")
    shapes = [{name: value.shape for name, value in _values(each)} for each in readings]
    if shapes[0] != shapes[1]:
        unlike = sorted(name for name in {*shapes[0], *shapes[1]} if shapes[0].get(name) != shapes[1].get(name))
        raise UsageError(f"the runs have different shapes, first in {unlike[0]}: --how run needs two of one shape.")
    return reading, other


def _values(reading: Reading) -> Iterator[tuple[str, Tensor]]:
    return ((name, reading.trace[name]) for name in reading.model.records)


def bits_per_answer(reading: Reading, trace: Trace | None = None) -> float:
    """Over everything that is predicted."""
    require_predictions(reading)
    nats_P = -reading.logprobs(trace).gather(1, torch.tensor(reading.answers)[:, None])[:, 0]
    return float(nats_P[~nats_P.isnan()].mean()) / math.log(2)


New = Tensor | Callable[[Tensor], Tensor]


def _parts(reading: Reading, trace: Trace, way: str) -> Iterator[tuple[str, str, New]]:
    """Every gate, state and layer as a whole, and every head."""
    for name, recorded in reading.model.records.items():
        if recorded.kind in PARTS and not name.endswith("embedding"):
            yield name, name, _replacing(trace[name], way, None, -1)
        elif recorded.kind == "heads" and name.endswith(".heads"):
            heads = trace[name].shape[2]
            for head in range(heads):
                part = f"{name.removesuffix('.heads')} head {head + 1}"
                yield part, name, _replacing(trace[name], way, head, 2)


def _units(reading: Reading, trace: Trace, way: str, layer: int) -> Iterator[tuple[str, str, New]]:
    """Every unit of the cell vector of a layer, or of what it passes on."""
    names = [name for name in (f"layer{layer}.cell", f"layer{layer}") if name in trace]
    if not names:
        raise UsageError(f"there is no layer {layer}: it records {', '.join(trace.names)}.")
    for unit in range(trace[names[0]].shape[2]):
        yield f"{names[0]} unit {unit + 1}", names[0], _replacing(trace[names[0]], way, unit, 2)


def bits_of_units(reading: Reading, units: Sequence[tuple[str, int]]) -> list[float]:
    """The change in bits per answer if one unit of a recorded value is replaced by its mean, for each of these."""
    whole = bits_per_answer(reading, trace := Trace())
    without = (Trace({name: _replacing(trace[name], "mean", unit, 2)}) for name, unit in units)
    return [bits_per_answer(reading, new) - whole for new in without]


def _replacing(value: Tensor, way: str, index: int | None, axis: int) -> New:
    """What replaces a value, or one index of an axis of it: zeros, its mean over batch and time, or the value itself,
    which is another run's."""
    if way == "run" and index is None:
        return value
    new = {"run": value, "zero": torch.zeros_like(value[:1, :1])}.get(way, value.mean((0, 1), keepdim=True))

    def replaced(piece: Tensor) -> Tensor:
        if index is None:
            return new.expand_as(piece)
        at = torch.arange(piece.shape[axis]) == index
        return torch.where(at.view(*[-1 if a == axis else 1 for a in range(piece.dim())]), new, piece)

    return replaced


def _draw(axes: Any, ranked: Sequence[tuple[str, float]], unit: str) -> None:
    names, changes = [name for name, _ in ranked][::-1], [change for _, change in ranked][::-1]
    axes.barh(range(len(names)), changes, color=[COLORS[1] if change > 0 else COLORS[0] for change in changes])
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set_xlabel(f"change in {unit}")
    light_grid(axes)
