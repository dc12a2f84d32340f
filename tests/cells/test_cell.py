import pytest
import torch

from seqlab.cells.cell import RecurrentCell, last_kept
from seqlab.cells.gru import GruCell
from seqlab.cells.lstm import LstmCell
from seqlab.cells.rnn import RnnCell

CELLS: list[type[RecurrentCell]] = [RnnCell, GruCell, LstmCell]


@pytest.mark.parametrize("cell_class", CELLS)
def test_weights_start_within_the_usual_bounds(cell_class: type[RecurrentCell]):
    """Uniform in ±1/√hidden, as torch's modules have them; the LSTM's forget gate apart."""
    cell = cell_class(30, 25)
    for weight in (cell.weight_ih, cell.weight_hh):
        assert weight.abs().max() <= 0.2
        assert weight.abs().max() > 0.19
    assert cell.weight_ih.shape == (cell.gates * 25, 30)
    assert cell.weight_hh.shape == (cell.gates * 25, 25)


@pytest.mark.parametrize("cell_class", CELLS)
def test_the_start_is_zero_and_of_the_weights_type(cell_class: type[RecurrentCell]):
    for leaf in cell_class(3, 4).double().start(2).tensors():
        assert leaf.shape == (2, 4)
        assert leaf.dtype == torch.float64
        assert not leaf.any()


def test_last_kept():
    y_BTH = torch.arange(24.0).view(4, 3, 2)
    mask_BT = torch.tensor([[1, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 0]]).bool()
    start_BH = -torch.ones(4, 2)
    assert last_kept(y_BTH, start_BH, mask_BT).tolist() == [[4, 5], [6, 7], [14, 15], [-1, -1]]
