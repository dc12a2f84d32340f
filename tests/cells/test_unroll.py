import pytest
import torch

from seqlab.cells.cell import RecurrentCell, unroll
from seqlab.cells.gru import GruCell
from seqlab.cells.lstm import LstmCell
from seqlab.cells.rnn import RnnCell
from seqlab.contracts import Trace


@pytest.mark.parametrize("cell", [RnnCell(2, 3), GruCell(2, 3), GruCell(2, 3, "before"), LstmCell(2, 3)], ids=repr)
def test_a_trace_has_every_value_at_every_step(cell: RecurrentCell):
    trace, x_BTD = Trace(), torch.randn(2, 5, 2)
    y_BTH, _ = unroll(cell, x_BTD, cell.start(2), trace=trace)
    for values in trace.values.values():
        assert [value.shape for value in values] == [(2, 3)] * 5
    assert torch.equal(torch.stack(trace.values["hidden"], dim=1), y_BTH)


def test_rows_stop_at_their_padding():
    cell, x_BTD = RnnCell(2, 3), torch.randn(3, 4, 2)
    mask_BT = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]]).bool()
    y_BTH, state = unroll(cell, x_BTD, cell.start(3), mask_BT)
    assert torch.equal(state.h_BH[:2], torch.stack([y_BTH[0, 3], y_BTH[1, 1]]))
    assert not state.h_BH[2].any()


def test_scopes_of_a_trace():
    trace = Trace()
    trace.within("a").within("b").record(x=torch.ones(1))
    trace.record(y=torch.zeros(1))
    assert list(trace.values) == ["a.b.x", "y"]
