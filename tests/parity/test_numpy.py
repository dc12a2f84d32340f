"""What torch has no module for, against equations in numpy: the GRU with reset before, the sigmoid RNN."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from parity_cases import BATCH, HIDDEN, INPUTS, assert_parity, random, spread

from seqlab.cells.cell import RecurrentCell, unroll
from seqlab.cells.gru import GruCell
from seqlab.cells.rnn import RnnCell

Weights = list[np.ndarray]
LENGTH = 7


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def gru_reset_before(x: np.ndarray, h: np.ndarray, weights: Weights) -> np.ndarray:
    """Cho et al. (2014), equations 5 to 8, with z as the share that is kept."""
    (W_r, W_z, W_n), (U_r, U_z, U_n), (b_r, b_z, b_n), (d_r, d_z, d_n) = (np.split(part, 3) for part in weights)
    r = sigmoid(x @ W_r.T + b_r + h @ U_r.T + d_r)
    z = sigmoid(x @ W_z.T + b_z + h @ U_z.T + d_z)
    n = np.tanh(x @ W_n.T + b_n + (r * h) @ U_n.T + d_n)
    return (1 - z) * n + z * h


def rnn_sigmoid(x: np.ndarray, h: np.ndarray, weights: Weights) -> np.ndarray:
    W, U, b, d = weights
    return sigmoid(x @ W.T + b + h @ U.T + d)


def over_time(step: Callable[..., np.ndarray], x_BTD: np.ndarray, h: np.ndarray, weights: Weights) -> np.ndarray:
    outputs = []
    for t in range(x_BTD.shape[1]):
        h = step(x_BTD[:, t], h, weights)
        outputs.append(h)
    return np.stack(outputs, axis=1)


CASES: dict[str, tuple[Callable[[], RecurrentCell], Callable[..., np.ndarray]]] = {
    "gru-before": (lambda: GruCell(INPUTS, HIDDEN, "before"), gru_reset_before),
    "rnn-sigmoid": (lambda: RnnCell(INPUTS, HIDDEN, "sigmoid"), rnn_sigmoid),
}


@pytest.mark.parametrize("name", CASES)
def test_outputs_states_and_gradients(name: str):
    make, step = CASES[name]
    cell = make().double()
    spread(cell)
    x_BTD = random(BATCH, LENGTH, INPUTS, seed=0, dtype=torch.float64).requires_grad_()
    h_BH = random(BATCH, HIDDEN, seed=1, dtype=torch.float64).requires_grad_()
    weighing_BTH = random(BATCH, LENGTH, HIDDEN, seed=2, dtype=torch.float64)
    leaves = [x_BTD, h_BH, *cell.weights]
    arrays = [leaf.detach().numpy() for leaf in leaves]

    y_BTH, after = unroll(cell, x_BTD, cell.start(BATCH).map(lambda _: h_BH))
    expected_BTH = torch.from_numpy(over_time(step, arrays[0], arrays[1], arrays[2:]))
    assert_parity(
        {"output": y_BTH, "state": after.h_BH}, {"output": expected_BTH, "state": expected_BTH[:, -1].contiguous()}
    )

    def weighed(at: list[np.ndarray]) -> float:
        return float((over_time(step, at[0], at[1], at[2:]) * weighing_BTH.numpy()).sum())

    gradients = torch.autograd.grad((y_BTH * weighing_BTH).sum(), leaves)
    for index, gradient in enumerate(gradients):
        direction = random(*gradient.shape, seed=30 + index, dtype=torch.float64).numpy()
        ends = [weighed([a + h * direction if i == index else a for i, a in enumerate(arrays)]) for h in (1e-5, -1e-5)]
        assert float((gradient.numpy() * direction).sum()) == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)


def test_reset_before_and_after_are_different_equations():
    before, after = GruCell(INPUTS, HIDDEN, "before"), GruCell(INPUTS, HIDDEN, "after")
    after.load_state_dict(before.state_dict())
    x_BTD, start = torch.randn(BATCH, 3, INPUTS), before.start(BATCH)
    assert not before.has_fused
    assert not torch.allclose(unroll(before, x_BTD, start)[0], unroll(after, x_BTD, start)[0], atol=1e-4)
