"""The checks of the lesson on the GRU."""

from types import ModuleType

import torch
from torch import Tensor, nn

DRAW = torch.Generator().manual_seed(0)


def check_gru_step(answer: ModuleType) -> None:
    """One step of a GRU"""
    gru_step, cell = answer.gru_step, nn.GRUCell(3, 4).double()
    x_D, h_H = torch.randn(3, generator=DRAW).double(), torch.randn(4, generator=DRAW).double()
    with torch.no_grad():
        expected_H = cell(x_D, h_H)
        found_H = gru_step(x_D, h_H, cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)
    assert isinstance(found_H, Tensor) and found_H.shape == (4,) and torch.allclose(found_H, expected_H), (
        f"your gru_step(x, h, W, U, b, d) returned {found_H}; torch.nn.GRUCell gives {expected_H}: the order is r, z, "
        "n; the reset gate multiplies U_n h + d as a whole, and z keeps the old state."
    )


def count(kind: type[nn.Module], inputs: int, hidden: int) -> int:
    return sum(weights.numel() for weights in kind(inputs, hidden).parameters())


def check_equal_width(answer: ModuleType) -> None:
    """The width of a GRU of equal size"""
    for inputs, hidden in ((32, 64), (128, 128), (5, 3)):
        most, width = count(nn.LSTM, inputs, hidden), 1
        while count(nn.GRU, inputs, width + 1) <= most:
            width += 1
        found = answer.equal_width(inputs, hidden)
        assert found == width, (
            f"your equal_width({inputs}, {hidden}) returned {found!r}; expected {width}: the LSTM has {most:,} "
            f"parameters, a GRU of width {width} has {count(nn.GRU, inputs, width):,} and one of {width + 1} has more."
        )


def check_paper_gate(answer: ModuleType) -> None:
    """The update gate of the paper"""
    given = [torch.randn(*shape, generator=DRAW).double() for shape in ((4, 3), (4, 4), (4,))]
    found = answer.paper_gate(*[weights.clone() for weights in given])
    assert isinstance(found, tuple | list) and len(found) == 3, (
        f"your paper_gate(W, U, b) returned {found!r}; expected three tensors."
    )
    x_D, h_H = torch.randn(3, generator=DRAW).double(), torch.randn(4, generator=DRAW).double()
    torchs_H, papers_H = (torch.sigmoid(W @ x_D + U @ h_H + b) for W, U, b in (given, found))
    assert torch.allclose(torchs_H + papers_H, torch.ones(4).double()), (
        f"with your weights the two gates add up to {torchs_H + papers_H}; expected ones: use that 1 - σ(a) = σ(-a)."
    )
