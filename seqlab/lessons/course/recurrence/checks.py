"""The checks of the lesson on recurrence."""

from types import ModuleType

import torch
from torch import Tensor, nn

DRAW = torch.Generator().manual_seed(0)


def check_step(answer: ModuleType) -> None:
    """One step of a recurrent network"""
    step, cell = answer.step, nn.RNNCell(3, 5)
    x_D, h_H = torch.randn(3, generator=DRAW), torch.randn(5, generator=DRAW)
    with torch.no_grad():
        expected_H = cell(x_D, h_H)
        found_H = step(x_D, h_H, cell.weight_ih, cell.weight_hh, cell.bias_ih + cell.bias_hh)
        without_bias_H = torch.tanh(cell.weight_ih @ x_D + cell.weight_hh @ h_H)
    if isinstance(found_H, Tensor) and torch.allclose(found_H, without_bias_H):
        raise AssertionError("your step(x, h, W, U, b) leaves out the bias b.")
    assert isinstance(found_H, Tensor) and found_H.shape == expected_H.shape and torch.allclose(found_H, expected_H), (
        f"your step(x, h, W, U, b) returned {found_H}; torch.nn.RNNCell gives {expected_H}: tanh(W x + U h + b)."
    )


def check_slope(answer: ModuleType) -> None:
    """Backpropagation through time by hand"""
    slope = answer.slope
    for w, u, xs in ((0.5, 0.9, [1.0]), (0.5, 0.9, [1.0, -0.3]), (-0.8, 1.1, [0.2, 0.5, -1.0, 0.7, 0.1])):
        shared = torch.tensor(u, dtype=torch.float64, requires_grad=True)
        h = torch.zeros((), dtype=torch.float64)
        for x in xs:
            h = torch.tanh(w * x + shared * h)
        h.backward()
        expected = float(shared.grad) if shared.grad is not None else 0.0
        found = float(slope(w, u, list(xs)))
        assert abs(found - expected) < 1e-6, (
            f"your slope({w}, {u}, {xs}) returned {found:.6f}; expected {expected:.6f}: u is used at every step, so "
            "add up what it does at each, and remember that the first h is 0."
        )


def check_last_states(answer: ModuleType) -> None:
    """The last state of each sequence"""
    last_states = answer.last_states
    h_BTH = torch.randn(4, 6, 3, generator=DRAW)
    lengths_B = torch.tensor([6, 1, 4, 2])
    expected_BH = torch.stack([h_TH[length - 1] for h_TH, length in zip(h_BTH, lengths_B, strict=True)])
    found_BH = last_states(h_BTH, lengths_B)
    if isinstance(found_BH, Tensor) and torch.equal(found_BH, h_BTH[:, -1]):
        raise AssertionError("your last_states(h, lengths) takes the state after the padding: use the lengths.")
    assert isinstance(found_BH, Tensor) and found_BH.shape == (4, 3) and torch.allclose(found_BH, expected_BH), (
        "your last_states(h, lengths) returned other states than those at position length - 1 of each sequence."
    )
