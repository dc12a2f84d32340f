import math

import pytest
import torch

from seqlab.cells.lstm import LstmCell, LstmState
from seqlab.contracts import Trace


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_a_step_worked_by_hand():
    """Width one, a different weight in every place, so that no two gates can be taken for each other."""
    cell = LstmCell(1, 1).double()
    with torch.no_grad():
        cell.weight_ih[:] = torch.tensor([[0.1], [0.2], [0.3], [0.4]])
        cell.weight_hh[:] = torch.tensor([[0.5], [-0.6], [0.7], [-0.8]])
        cell.bias_ih[:] = torch.tensor([0.9, 1.0, -1.1, 1.2])
        cell.bias_hh[:] = torch.tensor([-0.2, 0.3, 0.4, -0.5])
    x, h, c = 2.0, 0.5, -1.5
    i, f = sigmoid(0.2 + 0.25 + 0.7), sigmoid(0.4 - 0.3 + 1.3)
    g, o = math.tanh(0.6 + 0.35 - 0.7), sigmoid(0.8 - 0.4 + 0.7)
    trace = Trace()  # of one step: its values have no axis of time
    state = LstmState(torch.tensor([[h]]).double(), torch.tensor([[c]]).double())
    y_BH, after = cell.step(torch.tensor([[x]]).double(), state, trace.step(0))
    expected_c = f * c + i * g
    expected_h = o * math.tanh(expected_c)
    assert after.c_BH.item() == pytest.approx(expected_c, rel=1e-6)
    assert after.h_BH.item() == y_BH.item() == pytest.approx(expected_h, rel=1e-6)
    seen = {name: trace[name].item() for name in trace.names}
    expected = {"input": i, "forget": f, "candidate": g, "output": o, "cell": expected_c, "hidden": expected_h}
    assert seen == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("given, expected", [({}, 1.0), ({"forget_bias": 0.0}, 0.0), ({"forget_bias": 2.5}, 2.5)])
def test_the_forget_gates_biases_in_sum(given: dict[str, float], expected: float):
    cell = LstmCell(3, 5, **given)
    sums_GH = (cell.bias_ih + cell.bias_hh).view(4, 5)
    assert (sums_GH[1] == expected).all()
    assert (sums_GH[[0, 2, 3]].abs() <= 2 / math.sqrt(5)).all()
    assert (sums_GH[[0, 2, 3]] != 0).all()
