"""The checks of the lesson on the LSTM."""

import math
from types import ModuleType

import torch
from torch import nn

DRAW = torch.Generator().manual_seed(0)


def check_lstm_step(answer: ModuleType) -> None:
    """One step of an LSTM"""
    lstm_step, cell = answer.lstm_step, nn.LSTMCell(3, 4).double()
    x_D, h_H, c_H = (torch.randn(size, generator=DRAW).double() for size in (3, 4, 4))
    with torch.no_grad():
        expected = cell(x_D, (h_H, c_H))
        found = lstm_step(x_D, h_H, c_H, cell.weight_ih, cell.weight_hh, cell.bias_ih + cell.bias_hh)
    assert isinstance(found, tuple) and len(found) == 2, (
        f"your lstm_step(x, h, c, W, U, b) returned {found!r}; expected a pair: the new h and the new c."
    )
    assert torch.allclose(found[1], expected[1]), (
        f"the new c of your lstm_step is {found[1]}; torch.nn.LSTMCell gives {expected[1]}: f ⊙ c + i ⊙ g, with the "
        "gates in the order i, f, g, o."
    )
    assert torch.allclose(found[0], expected[0]), (
        f"your new c is right, but your new h is {found[0]}; expected {expected[0]}: o ⊙ tanh(c'), with the new c."
    )


def check_lstm_parameters(answer: ModuleType) -> None:
    """The parameters of an LSTM"""
    for inputs, hidden in ((3, 5), (128, 256), (7, 1)):
        expected = sum(weight.numel() for weight in nn.LSTM(inputs, hidden).parameters())
        found = answer.lstm_parameters(inputs, hidden)
        assert found == expected, (
            f"your lstm_parameters({inputs}, {hidden}) returned {found!r}; expected {expected:,}: four times a matrix "
            "on the input, a matrix on the state, and two biases."
        )


def check_forget_bias(answer: ModuleType) -> None:
    """The bias that keeps a slope"""
    for share, steps in ((0.5, 1), (0.5, 100), (0.9, 20), (0.01, 10)):
        bias = float(answer.forget_bias(share, steps))
        kept = (1 / (1 + math.exp(-bias))) ** steps if bias > -500 else 0.0
        assert math.isclose(kept, share, rel_tol=1e-6), (
            f"with your forget_bias({share}, {steps}) = {bias:.4f}, {kept:.4g} of the slope is left; expected {share}: "
            "the gate σ(bias) is applied at every step, so σ(bias) to the power of the steps is the share."
        )
