"""How far back every entrant looks, as charts and in words."""

from typing import Any

import numpy as np

from seqlab.comparison.report.figures import short_name
from seqlab.comparison.results import Distances, Results
from seqlab.inspection.distances import Curve, draw_curves
from seqlab.inspection.memory import NOTICED, reach_of
from seqlab.pages import Picture, picture
from seqlab.plotting import new_figure
from seqlab.wording import counted

LABELS = {"memory": "change of the prediction (bits)", "gradients": "norm of d loss / d input"}
CHART = (3.4, 2.7)  # inches


def look_back_sentence(results: Results) -> str:
    """From the one that uses the most text to the one that uses the least."""
    amounts = {each.name: _used(each) for each in sorted(results.distances, key=lambda each: -_used(each))}
    longest = {each.name: len(each.memory) for each in results.distances}
    words = []
    for name, used in amounts.items():
        least = "at least " * (used == longest[name])
        words.append(f"{name} {least}{used}" if words else f"{name} uses {least}the last {counted(used, 'token')}")
    return f"{', '.join(words)}; what lies further back changes the prediction by less than {NOTICED} bits."


def look_back_pictures(results: Results) -> list[Picture]:
    """Memory, and gradients; none if nothing was measured."""
    pictures = []
    for of, label in LABELS.items() if results.distances else ():
        figure = new_figure(*CHART)
        draw_curves(figure.subplots(), _curves(results, of), label, legend=False)
        ends = ", ".join(f"{each.name} ends at {getattr(each, of)[-1]:.3g}" for each in results.distances)
        pictures.append(picture(figure, f"{label.capitalize()} by distance, on a logarithmic scale: {ends}"))
    return pictures


def look_back_figure(results: Results) -> Any:
    """Both charts side by side, for papers."""
    figure = new_figure(2 * CHART[0], CHART[1], dpi=200)
    for axes, (of, label) in zip(figure.subplots(1, 2), LABELS.items(), strict=True):
        draw_curves(axes, _curves(results, of), label)
    return figure


def _curves(results: Results, of: str) -> list[Curve]:
    """In the colors of the entrants."""
    index = {entrant.name: place for place, entrant in enumerate(results.entrants)}
    return [
        Curve(short_name(each.name), range(len(values_K)), values_K, index.get(each.name, 0))
        for each in results.distances
        for values_K in [np.array(getattr(each, of))]
    ]


def _used(distances: Distances) -> int:
    """Tokens: the nearest one, at distance 0, counts as one."""
    reach = reach_of(np.array(distances.memory))
    return 0 if reach is None else reach + 1
