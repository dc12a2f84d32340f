"""cells: which units follow a property of the text, such as being inside quotation marks (Karpathy et al. 2015).

The best of many units follows anything a little. So units are chosen on the first half of the text and judged on the
second, beside what the same search finds for properties that are shifted against the text and so have no meaning. A
unit that follows a property may still be idle: so the model is also run without it, and without other units.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from seqlab.errors import UsageError
from seqlab.inspection.ablate import bits_of_units
from seqlab.inspection.properties import PROPERTIES, read_property
from seqlab.inspection.reading import Reading, counted
from seqlab.inspection.shades import level, signed_level
from seqlab.inspection.sheet import Chart, Detail, Sheet, TextTable, TokenColumn, number, one
from seqlab.plotting import COLORS, legend_above, light_grid

SHIFTS = 200  # shifted properties
OTHERS = 20  # units that are left out as well, drawn at random
RANKED = 10  # units in the table
DRAWN = 300  # tokens in the chart


class Units(NamedTuple):
    """The values of all units (T, U), and the recorded value and index of each."""

    values_TU: np.ndarray
    places: list[tuple[str, int]]

    @property
    def names(self) -> list[str]:
        return [f"{name} unit {unit + 1}" for name, unit in self.places]


def cells(readings: Sequence[Reading], *, follow: str | None = None) -> Sheet:
    """The units that follow a property best: quotes (if not given), line, indentation, capitals, or a file."""
    reading, name = one(readings, "cells"), next(iter(PROPERTIES)) if follow is None else follow
    units = _units(reading)
    wanted_T = np.array(read_property(name, reading.text))[reading.last_characters]
    first, second = _halves(len(wanted_T))
    for half, words in ((first, "first"), (second, "second")):
        if np.ptp(wanted_T[half]) == 0:
            raise UsageError(f"'{name}' never changes in the {words} half of the text: give a longer or another text.")
    found_U, held_U = (correlations(units.values_TU[half], wanted_T[half][None])[0] for half in (first, second))
    chance_P = chance(units.values_TU, wanted_T)
    order = np.argsort(-np.abs(found_U))[:RANKED]
    best = int(order[0])
    rows = [["unit", "first half", "second half"]]
    rows += [[units.names[u], number(found_U[u]), number(held_U[u])] for u in order]
    rows.append(["by chance: largest", "", number(chance_P.max())])
    rows.append(["by chance: 95 of 100 below", "", number(float(np.quantile(chance_P, 0.95)))])
    others = np.random.default_rng(0).permutation([u for u in range(len(units.names)) if u != best])[:OTHERS]
    missed, *by_others = bits_of_units(reading, [units.places[u] for u in (best, *others)])
    verdict = "more than" if abs(held_U[best]) > chance_P.max() else "no more than"
    signed_T = _scaled(units.values_TU[:, best] * np.sign(found_U[best]))
    shown = (
        f"{'−' if found_U[best] < 0 else ''}{units.names[best]}"  # turned around where it falls as the property rises
    )
    return Sheet(
        "cells",
        f"Of {len(units.names):,} units, {units.names[best]} follows '{name}' best: correlation "
        f"{number(held_U[best])} on the second half, {verdict} the {chance_P.max():.3f} that {SHIFTS} shifted "
        f"properties reach. Without it, the model needs {number(missed)} more bits per {reading.answer}; without "
        f"one of {len(by_others)} other units, at most {number(max(by_others))}.",
        {
            "property": name,
            "units": {units.names[u]: {"first": float(found_U[u]), "second": float(held_U[u])} for u in order},
            "without": {"best": missed, "others": by_others},
            "chance": {"largest": float(chance_P.max()), "quantile_95": float(np.quantile(chance_P, 0.95))},
        },
        f"the text by {shown}: orange above its mean, blue below; under it, '{name}'",
        [name],
        _columns(reading, signed_T, wanted_T, name, shown),
        [TextTable(f"correlation with '{name}'", rows)],
        [
            Chart(
                lambda axes: _draw(axes, signed_T, wanted_T, name, shown),
                f"{shown} and '{name}'",
            )
        ],
    )


def correlations(values_TU: np.ndarray, wanted_PT: np.ndarray) -> np.ndarray:
    """Of every property with every unit (P, U); 0 for what never changes."""
    values_TU, wanted_PT = _standardized(values_TU, 0), _standardized(wanted_PT, 1)
    return wanted_PT @ values_TU / len(values_TU)


def chance(values_TU: np.ndarray, wanted_T: np.ndarray) -> np.ndarray:
    """What the search finds where there is nothing: for each shifted property, how well the unit that follows it best
    on the first half does on the second. Shifting keeps how long the property stays as it is."""
    first, second = _halves(len(wanted_T))
    draw = np.random.default_rng(0)
    shifts_P = draw.integers(len(wanted_T) // 8, len(wanted_T) - len(wanted_T) // 8, SHIFTS)
    shifted_PT = np.stack([np.roll(wanted_T, shift) for shift in shifts_P])
    best_P = np.abs(correlations(values_TU[first], shifted_PT[:, first])).argmax(1)
    return np.abs(correlations(values_TU[second], shifted_PT[:, second])[np.arange(SHIFTS), best_P])


def _units(reading: Reading) -> Units:
    """Cell vectors, and what each layer passes on, as the text is read."""
    records = reading.model.records
    names = [
        name
        for name, recorded in records.items()
        if (recorded.kind == "layer" or name.endswith(".cell")) and reading.side_of(name) == reading.sides[0]
    ]
    if not names:
        raise UsageError(
            f"the architecture '{reading.arch}' records no layer or cell vector whose units could be shown."
        )
    values = [reading.trace[name][0].double().numpy() for name in names]
    places = [(name, unit) for name, value in zip(names, values, strict=True) for unit in range(value.shape[1])]
    return Units(np.concatenate(values, axis=1), places)


def _halves(length: int) -> tuple[slice, slice]:
    if length < 8:
        raise UsageError(
            f"the text has {counted(length, 'token')}: cells needs at least 8, half to choose and half to judge."
        )
    return slice(0, length // 2), slice(length // 2, length)


def _standardized(values: np.ndarray, axis: int) -> np.ndarray:
    centered = values - values.mean(axis, keepdims=True)
    deviation = centered.std(axis, keepdims=True)
    return np.divide(centered, deviation, out=np.zeros_like(centered), where=deviation > 1e-9)


def _scaled(values_T: np.ndarray) -> np.ndarray:
    """From -1 to 1, with the mean at 0."""
    centered_T = values_T - values_T.mean()
    return centered_T / max(1e-9, float(np.abs(centered_T).max()))


def _columns(reading: Reading, signed_T: np.ndarray, wanted_T: np.ndarray, name: str, unit: str) -> list[TokenColumn]:
    share_T = (wanted_T - wanted_T.min()) / np.ptp(wanted_T)
    return [
        TokenColumn(
            token,
            signed_level(float(signed_T[t])),
            [(level(float(share_T[t])), "")],
            f"token {t + 1}",
            [
                Detail(f"{unit}, from its mean", abs(float(signed_T[t])), number(float(signed_T[t]))),
                Detail(name, float(share_T[t]), f"{wanted_T[t]:g}"),
            ],
        )
        for t, token in enumerate(reading.sides[0].tokens)
    ]


def _draw(axes: Any, signed_T: np.ndarray, wanted_T: np.ndarray, name: str, unit: str) -> None:
    scaled_T = 2 * (wanted_T - wanted_T.min()) / np.ptp(wanted_T) - 1
    axes.step(range(len(wanted_T))[:DRAWN], scaled_T[:DRAWN], color=COLORS[1], label=name, linewidth=1)
    axes.plot(signed_T[:DRAWN], color=COLORS[0], label=unit, linewidth=1)
    axes.set(xlabel=f"token (the first {DRAWN})" if len(wanted_T) > DRAWN else "token", ylabel="scaled to -1 ... 1")
    light_grid(axes)
    legend_above(axes)
