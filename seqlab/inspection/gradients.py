"""gradients: how strongly the loss at one token depends on the tokens before it, by their distance.

Where the norm falls by the same factor at every step, the gradient vanishes: nothing is learned over long distances.
In a recurrence it passes the Jacobians of the state on its way back, and falls as their product does.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from seqlab.cells.cell import RecurrentCell
from seqlab.contracts import Backbone
from seqlab.inspection.backward import Backward, backward
from seqlab.inspection.distances import Curve, amount, draw_curves, require_looking_back, shown_distances
from seqlab.inspection.looking_back import reading_norms
from seqlab.inspection.reading import Reading, run_labels
from seqlab.inspection.sheet import Chart, Sheet, TextTable, number
from seqlab.models.language_model import LanguageModel

LETTERS = {1: ("",), 3: ("_r", "_z", "_n"), 4: ("_i", "_f", "_g", "_o")}  # by the number of blocks
BEFORE = ", before training"


def gradients(readings: Sequence[Reading], *, before: bool | None = None) -> Sheet:
    """The norm of d loss_t / d input_(t-k) against k, of every run, and the singular values of the recurrent matrices
    and of the product of the state's Jacobians; `before`: also of the untrained models, if not given for a single run.
    """
    require_looking_back(readings, "gradients")
    labels = run_labels(readings)
    trained = dict(zip(labels, readings, strict=True))
    found = {label: _backward(reading) for label, reading in trained.items()}
    untrained: dict[str, Reading] = {}
    if before or (before is None and len(readings) == 1 and readings[0].run.starts_untrained):
        untrained = {label: reading.with_model(reading.run.untrained()) for label, reading in trained.items()}
        found |= {f"{label}{BEFORE}": _backward(reading) for label, reading in untrained.items()}
    falls = ", ".join(f"{label} {_fall(found[label])}" for label in labels)
    return Sheet(
        "gradients",
        f"With every token further back the gradient is multiplied: in {falls}.",
        _data(found),
        blocks=[_slopes(found), _norms(found), *_singular_values(trained, untrained)],
        charts=list(_charts(found, labels, falls)),
    )


def _backward(reading: Reading) -> Backward:
    if isinstance(reading.model, LanguageModel):
        return backward(reading.model, reading.ids)
    return Backward(reading_norms(reading), None)


def _fall(each: Backward) -> str:
    fitted = f"{each.distances[0]} to {each.distances[-1]} tokens back"
    if not each.straight:
        return f"by no single factor (no straight line, {fitted})"
    return f"by {math.exp(each.slope):.3f} on average ({fitted})"


def _data(found: Mapping[str, Backward]) -> dict[str, Any]:
    return {
        "norms": {label: each.norms_K.tolist() for label, each in found.items()},
        "slopes": {label: {"gradient": each.slope, "jacobians": each.product_slope} for label, each in found.items()},
        "straight": {label: each.straight for label, each in found.items()},
        "factor_per_token": {label: math.exp(each.slope) for label, each in found.items()},
        "jacobians": {
            label: {
                "distances": each.products.distances,
                "log_largest_singular_value": each.products.log_largest_K.tolist(),
                "positions": each.products.targets,
            }
            for label, each in found.items()
            if each.products is not None
        },
    }


def _slopes(found: Mapping[str, Backward]) -> TextTable:
    rows = [["", "gradient", "Jacobians", "factor per token", "fitted from", "to", "numbers in the state"]]
    for label, each in found.items():
        product = "–" if each.product_slope is None else number(each.product_slope)
        width = "–" if each.products is None else f"{each.products.width:,}"
        ends = [str(each.distances[0]), str(each.distances[-1])]
        rows.append([label, number(each.slope), product, f"{math.exp(each.slope):.3f}", *ends, width])
    return TextTable("slope of the logarithm of the gradient, and of the product of Jacobians (nats per token)", rows)


def _norms(found: Mapping[str, Backward]) -> TextTable:
    distances = shown_distances(min(len(each.norms_K) for each in found.values()) - 1)
    rows = [["tokens back", *map(str, distances)]]
    rows += [[label, *(amount(each.norms_K[k]) for k in distances)] for label, each in found.items()]
    return TextTable("norm of the gradient of the loss at a token with respect to an earlier input", rows)


def _charts(found: Mapping[str, Backward], labels: Sequence[str], falls: str) -> Iterator[Chart]:
    def curves(of_products: bool) -> list[Curve]:
        drawn = []
        for label, each in found.items():
            place, dashed = labels.index(label.removesuffix(BEFORE)), label not in labels
            if not of_products:
                drawn.append(Curve(label, range(len(each.norms_K)), each.norms_K, place, dashed))
            elif each.products is not None:
                largest_K = torch.from_numpy(each.products.log_largest_K).exp().numpy()
                drawn.append(Curve(label, each.products.distances, largest_K, place, dashed))
        return drawn

    norms, products = curves(of_products=False), curves(of_products=True)
    slopes = "; ".join(f"{curve.label} {found[curve.label].product_slope:.3f}" for curve in products)
    yield Chart(
        lambda axes: draw_curves(axes, norms, "norm of d loss / d input"),
        f"Norm of the gradient by distance, on a logarithmic scale. Factor per token: {falls}",
    )
    if products:
        yield Chart(
            lambda axes: draw_curves(axes, products, "largest singular value of\nd state / d earlier state"),
            f"Largest singular value of the product of Jacobians, on a logarithmic scale. Nats per token: {slopes}",
        )


def _singular_values(trained: Mapping[str, Reading], untrained: Mapping[str, Reading]) -> list[TextTable]:
    """Of the matrices that act on the state, for the runs that have them."""
    rows = [["matrix", "largest", "median", "smallest", "largest |eigenvalue|"]]
    rows[0] += ["largest before training"] if untrained else []
    for label, reading in trained.items():
        first = dict(_state_matrices(untrained[label].backbone)) if untrained else {}
        for name, U_HH in _state_matrices(reading.backbone):
            values = torch.linalg.svdvals(U_HH)
            numbers = [values[0], values.median(), values[-1], torch.linalg.eigvals(U_HH).abs().max()]
            numbers += [torch.linalg.svdvals(first[name])[0]] if first else []
            rows.append([f"{label}, {name}", *(f"{float(value):.3f}" for value in numbers)])
    return [TextTable("singular values of the matrices on the state", rows)] if len(rows) > 1 else []


def _state_matrices(backbone: Backbone) -> list[tuple[str, torch.Tensor]]:
    cells = [module for module in backbone.modules() if isinstance(module, RecurrentCell)]
    return [
        (f"cell {place}: U{letter}", U_HH)
        for place, cell in enumerate(cells, 1)
        for letter, U_HH in zip(LETTERS[cell.gates], cell.weight_hh.detach().double().split(cell.hidden), strict=True)
    ]
