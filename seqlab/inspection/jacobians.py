"""The Jacobians of a recurrence along a text: what is left, k tokens later, of a change of its state.

A product of many matrices soon leaves the range of a number, so it is kept as a matrix of norm 1 and a logarithm.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from seqlab.backbones.feedforward import WindowState
from seqlab.contracts import Backbone, State

WORK = 4e10  # multiplications and additions that the products along one text may take: seconds
TARGETS = 8  # positions of the text from which the products go back, at most
MEASURED = 32  # distances at which singular values are computed, at most


class StateProducts(NamedTuple):
    """The largest singular value of d s_t / d s_(t-k), the mean over positions t, as a natural logarithm."""

    distances: list[int]  # k, from 1 up
    log_largest_K: np.ndarray  # -inf where the product is zero
    targets: int
    width: int  # numbers in the state


def recurrence_in(backbone: Backbone) -> Backbone | None:
    """What carries a state of fixed size from token to token: the backbone, or a part of it that reads the same input,
    such as the LSTM below attention. None if there is none; a window of inputs is no recurrence."""
    for part in (backbone, *backbone.children()):
        if isinstance(part, Backbone) and part.inputs == backbone.inputs and _has_fixed_state(part):
            return part
    return None


def _has_fixed_state(backbone: Backbone) -> bool:
    start = backbone.start(1) if backbone.causal else None
    if start is None or isinstance(start, WindowState) or not all(leaf.numel() for leaf in start.tensors()):
        return False  # what is empty at the start grows
    x_1D = next(backbone.parameters()).new_zeros(1, backbone.inputs)
    after = backbone.step(x_1D, start)[1]
    shapes, later = ([leaf.shape for leaf in _numbers(state)] for state in (start, after))
    return bool(shapes) and shapes == later


def state_products(recurrence: Backbone, x_1TD: Tensor, longest: int) -> StateProducts:
    """From positions that have `longest` tokens before them, that far back; less far if it would be too much work."""
    states = _states(recurrence, x_1TD)
    width = _flat(states[0]).shape[1]
    count, reach = _affordable(recurrence, width, longest)
    targets = {int(t) for t in np.linspace(longest, x_1TD.shape[1] - 1, count).round()}
    distances = sorted({int(k) for k in np.linspace(1, reach, min(reach, MEASURED)).round()})
    found = {k: [] for k in distances}
    products: dict[int, tuple[Tensor, float]] = {}
    for s in range(max(targets), min(targets) - reach, -1):
        if s in targets:
            products[s] = (torch.eye(width, dtype=x_1TD.dtype), 0.0)
        step_HH = jacobian(recurrence, x_1TD[:, s], states[s])
        for t, (product_HH, logarithm) in list(products.items()):
            product_HH, logarithm = _normalized(product_HH @ step_HH, logarithm)
            k = t - s + 1
            if k in found:
                found[k].append(logarithm + _log_largest(product_HH))
            products[t] = (product_HH, logarithm)
            if k == reach:
                del products[t]
    log_largest = [np.logaddexp.reduce(found[k]) - np.log(len(found[k])) for k in distances]
    return StateProducts(distances, np.array(log_largest), len(targets), width)


def jacobian(recurrence: Backbone, x_1D: Tensor, before: Any) -> Tensor:
    """d s_t / d s_(t-1), with row i for number i of the state s_t: one row of a batch computes each."""
    width = _flat(before).shape[1]
    with torch.enable_grad():
        s_HH = _flat(before).detach().expand(width, -1).clone().requires_grad_()
        _, after = recurrence.step(x_1D.expand(width, -1), _unflat(before, s_HH))
        (rows_HH,) = torch.autograd.grad(_flat(after).diagonal().sum(), s_HH)
    return rows_HH


@torch.no_grad()
def _states(recurrence: Backbone, x_1TD: Tensor) -> list[Any]:
    """The state before every position."""
    states: list[Any] = [recurrence.start(1)]
    for t in range(x_1TD.shape[1] - 1):
        states.append(recurrence.step(x_1TD[:, t], states[-1])[1])
    return states


def _affordable(recurrence: Backbone, width: int, longest: int) -> tuple[int, int]:
    """Positions to go back from, and how far. Long distances come first: they are what the products are about."""
    weights = sum(parameter.numel() for parameter in recurrence.parameters())
    each = 2 * width**3 + 4 * width * weights  # a product, and a Jacobian forward and backward
    steps = max(1, int(WORK / each))
    return min(TARGETS, max(1, steps // longest)), min(longest, steps)


def _normalized(product_HH: Tensor, logarithm: float) -> tuple[Tensor, float]:
    size = float(product_HH.abs().max())
    return (product_HH / size, logarithm + float(np.log(size))) if size > 0 else (product_HH, -np.inf)


def _log_largest(product_HH: Tensor) -> float:
    """From the largest eigenvalue of P Pᵀ, which costs a fraction of the singular values of P."""
    largest = float(torch.linalg.eigvalsh(product_HH @ product_HH.T)[-1])
    return 0.5 * float(np.log(largest)) if largest > 0 else -np.inf


def _numbers(state: State) -> Sequence[Tensor]:
    return [leaf for leaf in state.tensors() if leaf.is_floating_point()]


def _flat(state: State) -> Tensor:
    """All numbers of the state in one row for each sequence."""
    return torch.cat([leaf.flatten(1) for leaf in _numbers(state)], dim=1)


def _unflat(like: State, flat_BH: Tensor) -> State:
    """A state of this form with other numbers, for as many sequences as there are rows."""
    pieces = iter(flat_BH.split([leaf[0].numel() for leaf in _numbers(like)], dim=1))

    def filled(leaf: Tensor) -> Tensor:
        if not leaf.is_floating_point():
            return leaf.expand(len(flat_BH), *leaf.shape[1:])
        return next(pieces).reshape(-1, *leaf.shape[1:])

    return like.map(filled)
