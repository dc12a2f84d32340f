"""What views by distance share: several runs as curves over the number of tokens that lie between cause and effect."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading, counted
from seqlab.models.masked_language_model import MaskedLanguageModel
from seqlab.models.model import Model
from seqlab.plotting import COLORS, light_grid

SAMPLED = 32  # positions of the text that are tried, evenly spread
MARKED = 24  # points of a curve that get a marker, at most
MARKERS = ("o", "s")  # the second when the colors are used up
SMALLEST = 1e-300  # what is smaller is too near to the end of float64 to be right, and counts as zero


class Curve(NamedTuple):
    """`values_K` at the distances `at`; `number` decides the color, and dashes stand for a model before training."""

    label: str
    at: Sequence[int]
    values_K: np.ndarray
    number: int
    dashed: bool = False


def require_looking_back(readings: Sequence[Reading], name: str) -> None:
    """UsageError unless all predict from what comes before, or at the end, in a text that is long enough."""
    most = len(COLORS) * len(MARKERS)
    if len(readings) > most:
        raise UsageError(f"the view {name} shows at most {most} runs together: {len(readings)} were given.")
    for reading in readings:
        if isinstance(reading.model, MaskedLanguageModel):
            raise UsageError(f"'{reading.run.path}' fills gaps from both sides: {name} looks back from a prediction.")
        if len(reading.ids) < 4:
            has = counted(len(reading.ids), "token")
            raise UsageError(f"the {reading.side.name} has {has}: {name} needs at least 4 to look back.")
        if len(readings) > 1 and len(reading.sides) > 1 and reading.own_answers:
            raise UsageError(f"each run would read its own target: give {reading.target_means} with --target.")
    if len({reading.kind for reading in readings}) > 1:
        raise UsageError(f"the runs predict different things: {name} compares models of one task.")


def exact(model: Model) -> Model:
    """A copy that computes in float64: small numbers are the point, and those of float32 end at 1e-38."""
    return deepcopy(model).double().requires_grad_(False).eval()


def spread(first: int, last: int, most: int = SAMPLED) -> list[int]:
    """At most `most` positions from `first` to `last`, both included."""
    return sorted({int(place) for place in np.linspace(first, last, most).round()})


def shown_distances(longest: int) -> list[int]:
    """0, 1, 2, 4, 8, ... up to the longest."""
    return [0, *(2**power for power in range(longest.bit_length()) if 2**power <= longest)]


def amount(value: float) -> str:
    return f"{value:.3g}" if value > SMALLEST else "0"


def draw_curves(axes: Any, curves: Sequence[Curve], y_label: str, legend: bool = True) -> None:
    """On a logarithmic scale, where what falls by the same factor at every step is a straight line. Zero has no place
    on it: triangles at the bottom show where it is."""
    from matplotlib.ticker import FuncFormatter

    with_zeros = 0
    for curve in curves:
        at_K = np.array(curve.at)
        positive_K = curve.values_K > SMALLEST
        color, marker = COLORS[curve.number % len(COLORS)], MARKERS[curve.number // len(COLORS) % len(MARKERS)]
        every = -(-len(at_K) // MARKED)
        style: dict[str, Any] = {"color": color, "linewidth": 1.2, "label": curve.label, "markevery": every}
        style |= {"linestyle": "--"} if curve.dashed else {"marker": marker, "markersize": 2.5}
        axes.plot(at_K[positive_K], curve.values_K[positive_K], **style)
        zeros_N = at_K[curve.values_K <= SMALLEST]
        if len(zeros_N):
            bottom = {"transform": axes.get_xaxis_transform(), "linestyle": "none", "markevery": every}
            hollow = {"marker": "v", "markersize": 4, "markerfacecolor": "none", "markeredgewidth": 0.8}
            height_N = np.full(len(zeros_N), 0.02 + 0.03 * with_zeros)
            axes.plot(zeros_N, height_N, color=color, **bottom, **hollow)
            with_zeros += 1
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.minorticks_off()
    if with_zeros:
        low, high = np.log(axes.get_ylim())
        axes.set_ylim(bottom=np.exp(low - (high - low) * (0.05 + 0.04 * with_zeros)))  # room for them
        axes.plot([], [], "v", color="#5a6169", markersize=4, markerfacecolor="none", label="zero")
    axes.set(xlabel="distance (tokens back)", ylabel=y_label)
    light_grid(axes)
    for text in axes.legend(frameon=False, fontsize=8).get_texts() if legend else ():
        text.set_parse_math(False)  # names may contain dollar signs
