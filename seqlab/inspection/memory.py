"""memory: how far back a changed token still changes what the model predicts.

One token is replaced by another of the text, and the predictions after it are compared: the divergence in bits.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from seqlab.inspection.distances import (
    Curve,
    amount,
    draw_curves,
    exact,
    require_looking_back,
    shown_distances,
    spread,
)
from seqlab.inspection.looking_back import reading_divergences
from seqlab.inspection.reading import Reading, run_labels
from seqlab.inspection.sheet import Chart, Sheet, TextTable
from seqlab.models.language_model import LanguageModel
from seqlab.models.model import Model
from seqlab.threads import compute_threads

NOTICED = 0.01  # bits: a change that is smaller is hardly one


def memory(readings: Sequence[Reading]) -> Sheet:
    """The mean divergence of the prediction k tokens after a changed one, against k, of every run."""
    require_looking_back(readings, "memory")
    labels = run_labels(readings)
    curves = {label: _curve(reading) for label, reading in zip(labels, readings, strict=True)}
    rows = [["tokens back", *labels]]
    for k in shown_distances(min(map(len, curves.values())) - 1):
        rows.append([str(k), *(amount(bits_K[k]) for bits_K in curves.values())])
    reach = {label: reach_of(bits_K) for label, bits_K in curves.items()}
    rows.append([f"last above {NOTICED} bits", *("none" if far is None else str(far) for far in reach.values())])
    drawn = [Curve(label, range(len(bits_K)), bits_K, at) for at, (label, bits_K) in enumerate(curves.items())]
    words = [f"{label} {_in_words(reach[label], len(bits_K) - 1)}" for label, bits_K in curves.items()]
    return Sheet(
        "memory",
        f"A changed token changes the prediction by more than {NOTICED} bits: {'; '.join(words)}.",
        {"bits": {label: bits_K.tolist() for label, bits_K in curves.items()}, "reach": reach},
        blocks=[TextTable("divergence of the prediction from what it would have been (bits)", rows)],
        charts=[
            Chart(
                lambda axes: draw_curves(axes, drawn, "divergence (bits)"),
                f"Divergence by distance, on a logarithmic scale. Above {NOTICED} bits: {'; '.join(words)}",
            )
        ],
    )


def _curve(reading: Reading) -> np.ndarray:
    if isinstance(reading.model, LanguageModel):
        return divergences(reading.model, reading.ids)
    return reading_divergences(reading)


@torch.no_grad()
def divergences(model: Model, ids: Sequence[int]) -> np.ndarray:
    """The mean over changed tokens of the first half of the text, by distance: 0 is the prediction right after it."""
    model, ids_T = exact(model), torch.tensor(ids)
    half, found = len(ids_T) // 2, []
    with compute_threads(1):
        before_TV = _predictions(model, ids_T)
        for s in spread(0, half - 1):
            after_TV = _predictions(model, changed(ids_T, s))
            kept = slice(s, s + len(ids_T) - half)
            found.append((before_TV[kept].exp() * (before_TV[kept] - after_TV[kept])).sum(1) / math.log(2))
    return torch.stack(found).mean(0).numpy().clip(min=0)


def changed(ids_T: Tensor, s: int) -> Tensor:
    """The text with another of its tokens at position `s`: the next one in it that differs, from its middle on."""
    candidates_T = ids_T.roll(-(len(ids_T) // 2 + s))
    others_N = candidates_T[candidates_T != ids_T[s]]
    other = others_N[0] if len(others_N) else torch.where(ids_T[s] > 0, 0, 1)
    return torch.cat([ids_T[:s], other.view(1), ids_T[s + 1 :]])


def reach_of(bits_K: np.ndarray) -> int | None:
    """The largest distance at which the change is noticed."""
    (noticed_N,) = np.nonzero(bits_K > NOTICED)
    return int(noticed_N[-1]) if len(noticed_N) else None


def _in_words(reach: int | None, longest: int) -> str:
    if reach is None:
        return "at no distance"
    return f"as far as {reach} tokens back" + (", the longest distance here" if reach == longest else "")


def _predictions(model: Model, ids_T: Tensor) -> Tensor:
    return model(ids_T[None])[0][0].log_softmax(1)
