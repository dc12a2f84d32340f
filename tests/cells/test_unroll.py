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
    assert trace.names and set(trace.names) == set(cell.records)
    assert all(trace[name].shape == (2, 5, 3) for name in trace.names)
    assert torch.equal(trace["hidden"], y_BTH)


def test_rows_stop_at_their_padding():
    cell, x_BTD = RnnCell(2, 3), torch.randn(3, 4, 2)
    mask_BT = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]]).bool()
    y_BTH, state = unroll(cell, x_BTD, cell.start(3), mask_BT)
    assert torch.equal(state.h_BH[:2], torch.stack([y_BTH[0, 3], y_BTH[1, 1]]))
    assert not state.h_BH[2].any()
