"""What views by distance share: several runs as curves over the number of tokens that lie between cause and effect."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading
from seqlab.models.language_model import LanguageModel
from seqlab.plotting import COLORS, light_grid

SAMPLED = 32  # positions of the text that are tried, evenly spread


def require_language_models(readings: Sequence[Reading], name: str) -> None:
    """UsageError unless all predict the next token, of a text that is long enough."""
    if len(readings) > len(COLORS):
        raise UsageError(f"the view {name} shows at most {len(COLORS)} runs together: {len(readings)} were given.")
    for reading in readings:
        if not isinstance(reading.model, LanguageModel):
            raise UsageError(f"'{reading.run.path}' is no language model: {name} looks back from a predicted token.")
        if len(reading.ids) < 4:
            raise UsageError(f"the text has {len(reading.ids)} tokens: {name} needs at least 4 to look back.")


def spread(first: int, last: int) -> list[int]:
    """At most SAMPLED positions from `first` to `last`, both included."""
    return sorted({int(place) for place in np.linspace(first, last, SAMPLED).round()})


def shown_distances(longest: int) -> list[int]:
    """0, 1, 2, 4, 8, ... up to the longest."""
    return [0, *(2**power for power in range(longest.bit_length()) if 2**power <= longest)]


def draw_curves(axes: Any, curves: dict[str, np.ndarray], y_label: str) -> None:
    """On a logarithmic scale, where what falls by the same factor at every step is a straight line."""
    for number, (label, values_K) in enumerate(curves.items()):
        positive_K = np.where(values_K > 0, values_K, np.nan)
        axes.plot(positive_K, color=COLORS[number], marker="o", markersize=2.5, linewidth=1.2, label=label)
    axes.set_yscale("log")
    axes.set(xlabel="distance (tokens back)", ylabel=y_label)
    light_grid(axes)
    axes.legend(frameon=False, fontsize=8)
