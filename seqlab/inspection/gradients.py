"""gradients: how strongly the loss at one token depends on the tokens before it, by their distance.

Where the norm falls by the same factor at every step, the gradient vanishes: nothing is learned over long distances.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from seqlab.cells.cell import RecurrentCell
from seqlab.inspection.distances import draw_curves, require_language_models, shown_distances, spread
from seqlab.inspection.reading import Reading, run_labels
from seqlab.inspection.sheet import Chart, Sheet, TextTable

LETTERS = {1: ("",), 3: ("_r", "_z", "_n"), 4: ("_i", "_f", "_g", "_o")}  # by the number of blocks


def gradients(readings: Sequence[Reading]) -> Sheet:
    """The norm of d loss_t / d input_(t-k) against k, of every run, and the singular values of recurrent matrices."""
    require_language_models(readings, "gradients")
    labels = run_labels(readings)
    curves = {label: gradient_norms(reading) for label, reading in zip(labels, readings, strict=True)}
    distances = shown_distances(min(len(norms_K) for norms_K in curves.values()) - 1)
    rows = [["tokens back", *labels]]
    rows += [[str(k), *(f"{norms_K[k]:.3g}" for norms_K in curves.values())] for k in distances]
    factors = {label: factor_per_step(norms_K) for label, norms_K in curves.items()}
    rows.append(["factor per token", *(f"{factor:.3f}" for factor in factors.values())])
    falls = " and ".join(f"{label} by {factor:.3f}" for label, factor in factors.items())
    return Sheet(
        "gradients",
        f"With every token further back the gradient is multiplied, on average: in {falls}.",
        {"norms": {label: norms_K.tolist() for label, norms_K in curves.items()}, "factor_per_token": factors},
        blocks=[
            TextTable("norm of the gradient of the loss at a token with respect to an earlier input", rows),
            *_singular_values(labels, readings),
        ],
        charts=[
            Chart(
                lambda axes: draw_curves(axes, curves, "norm of d loss / d input"),
                f"Norm of the gradient by distance, on a logarithmic scale. Factor per token: {falls}",
            )
        ],
    )


def gradient_norms(reading: Reading) -> np.ndarray:
    """The mean norm by distance k, over predicted tokens in the second half of the text, which see all distances."""
    ids_T = torch.tensor(reading.ids)
    half = len(ids_T) // 2
    with torch.enable_grad():
        x_1TD = reading.model.embed(ids_T[None, :-1]).detach().requires_grad_()  # pyright: ignore[reportCallIssue]
        loss_T = token_losses(reading, x_1TD, ids_T[1:])
        norms = []
        for t in spread(half - 1, len(loss_T) - 1):
            (slope_1TD,) = torch.autograd.grad(loss_T[t], x_1TD, retain_graph=True)
            norms.append(slope_1TD[0, t - half + 1 : t + 1].norm(dim=1).flip(0).double())
    return torch.stack(norms).mean(0).numpy()


def token_losses(reading: Reading, x_1TD: Tensor, targets_T: Tensor) -> Tensor:
    """The loss of every target, from vectors in the place of the embedded tokens."""
    model = reading.model
    y_1TH, _ = model.backbone(x_1TD)
    logprobs_TV = model.project(y_1TH)[0].log_softmax(1)  # pyright: ignore[reportCallIssue]
    return -logprobs_TV.gather(1, targets_T[:, None])[:, 0]


def factor_per_step(norms_K: np.ndarray) -> float:
    """The factor of the exponential that fits the norms best; NaN if too few are above zero."""
    (known_N,) = np.nonzero(norms_K > 0)
    if len(known_N) < 2:
        return math.nan
    slope, _ = np.polyfit(known_N, np.log(norms_K[known_N]), 1)
    return float(np.exp(slope))


def _singular_values(labels: Sequence[str], readings: Sequence[Reading]) -> list[TextTable]:
    """Of the matrices that act on the state, for the runs that have them."""
    rows = [["matrix", "largest", "median", "smallest", "largest |eigenvalue|"]]
    for label, reading in zip(labels, readings, strict=True):
        cells = [module for module in reading.model.backbone.modules() if isinstance(module, RecurrentCell)]
        for number, cell in enumerate(cells, 1):
            blocks = cell.weight_hh.detach().double().split(cell.hidden)
            for letter, U_HH in zip(LETTERS[cell.gates], blocks, strict=True):
                values = torch.linalg.svdvals(U_HH)
                radius = torch.linalg.eigvals(U_HH).abs().max()
                numbers = (values[0], values.median(), values[-1], radius)
                rows.append([f"{label}, cell {number}: U{letter}", *(f"{float(value):.3f}" for value in numbers)])
    return [TextTable("singular values of the matrices on the state", rows)] if len(rows) > 1 else []
