"""RNN, GRU and LSTM: a step from the equations of the cells, a whole sequence with ONNX's own operators."""

from typing import Any

import numpy as np
import torch

from seqlab.cells.gru import GruCell
from seqlab.cells.lstm import LstmCell
from seqlab.cells.rnn import RnnCell
from seqlab.exporters.onnx.backbone import OnnxBackbone, Shapes, States, last_position
from seqlab.exporters.onnx.graph import Graph, Value

ACTIVATIONS = {"tanh": "Tanh", "relu": "Relu", "sigmoid": "Sigmoid"}


def lstm_step(g: Graph, cell: LstmCell, x_BD: Value, state: list[Value]) -> list[Value]:
    h, c = state
    gates_BG = g.affine(x_BD, cell.weight_ih, cell.bias_ih) + g.affine(h, cell.weight_hh, cell.bias_hh)
    i, f, c_new, o = gates_BG.split(4)
    c = f.sigmoid() * c + i.sigmoid() * c_new.tanh()
    return [o.sigmoid() * c.tanh(), c]


def gru_step(g: Graph, cell: GruCell, x_BD: Value, state: list[Value]) -> list[Value]:
    (h,) = state
    rz = 2 * cell.hidden
    x_r, x_z, x_n = g.affine(x_BD, cell.weight_ih, cell.bias_ih).split(3)
    h_r, h_z = g.affine(h, cell.weight_hh[:rz], cell.bias_hh[:rz]).split(2)
    r, z = (x_r + h_r).sigmoid(), (x_z + h_z).sigmoid()
    U_n, d_n = cell.weight_hh[rz:], cell.bias_hh[rz:]
    candidate = g.affine(r * h, U_n, d_n) if cell.reset == "before" else r * g.affine(h, U_n, d_n)
    new = (x_n + candidate).tanh()
    return [new + z * (h - new)]


def rnn_step(g: Graph, cell: RnnCell, x_BD: Value, state: list[Value]) -> list[Value]:
    z_BH = g.affine(x_BD, cell.weight_ih, cell.bias_ih) + g.affine(state[0], cell.weight_hh, cell.bias_hh)
    return [g(ACTIVATIONS[cell.activation], z_BH)]


STEPS: dict[type, Any] = {LstmCell: lstm_step, GruCell: gru_step, RnnCell: rnn_step}
# operator, and for each gate in ONNX's order its place in ours
OPERATORS: dict[type, tuple[str, list[int]]] = {
    LstmCell: ("LSTM", [0, 3, 1, 2]),
    GruCell: ("GRU", [1, 0, 2]),
    RnnCell: ("RNN", [0]),
}


class RecurrentOnnx(OnnxBackbone):
    """`vectors` names the state vectors of a layer."""

    def __init__(self, backbone: Any):
        super().__init__(backbone)
        self.cells = list(backbone.cells)
        self.vectors = ["h", "c"] if isinstance(self.cells[0], LstmCell) else ["h"]

    def state(self) -> Shapes:
        H = self.settings.hidden
        return {f"{name}_{layer}": ["B", H] for layer in range(self.settings.layers) for name in self.vectors}

    def step(self, g: Graph, x_BD: Value, state: States) -> tuple[Value, States]:
        after: States = {}
        for layer, cell in enumerate(self.cells):
            names = [f"{name}_{layer}" for name in self.vectors]
            new = STEPS[type(cell)](g, cell, x_BD, [state[name] for name in names])
            after |= dict(zip(names, new, strict=True))
            x_BD = new[0] + x_BD if layer and self.settings.residual else new[0]
        return x_BD, after

    def sequence(self, g: Graph, x_BTD: Value, lengths_B: Value | None, start: States | None = None) -> Value:
        directions = self.settings.directions
        short_B = None if lengths_B is None else g("Cast", lengths_B, to=6)  # INT32
        x_TBD = x_BTD.transpose(1, 0, 2)
        for layer in range(self.settings.layers):
            cells = self.cells[layer * directions : (layer + 1) * directions]
            vectors = [] if start is None else [start[f"{name}_{layer}"].unsqueeze(0) for name in self.vectors]
            operator = OPERATORS[type(cells[0])][0]
            y_TNBH = g(operator, x_TBD, *_weights(g, cells), short_B, *vectors, **_attributes(cells))
            y_TBH = y_TNBH.transpose(0, 2, 1, 3).reshape(0, 0, -1)
            x_TBD = y_TBH + x_TBD if layer and self.settings.residual else y_TBH
        return x_TBD.transpose(1, 0, 2)

    def summary(self, g: Graph, y_BTH: Value, lengths_B: Value) -> Value:
        """The final output of each direction."""
        H = self.settings.hidden
        last_BH = last_position(g, y_BTH, lengths_B)
        if self.settings.directions == 1:
            return last_BH
        first_BH = y_BTH.slice(0, 1, axis=1).squeeze(1)
        return g.join([last_BH.slice(0, H, axis=1), first_BH.slice(H, 2 * H, axis=1)], 1)


def _weights(g: Graph, cells: list[Any]) -> tuple[Value, Value, Value]:
    """W, R and B of ONNX, stacked by direction, with the gates in ONNX's order."""
    order, hidden = OPERATORS[type(cells[0])][1], cells[0].hidden

    def ordered(tensor: torch.Tensor) -> np.ndarray:
        gates = tensor.detach().cpu().numpy().reshape(len(order), hidden, *tensor.shape[1:])
        return np.concatenate([gates[which] for which in order])

    w = np.stack([ordered(cell.weight_ih) for cell in cells])
    r = np.stack([ordered(cell.weight_hh) for cell in cells])
    b = np.stack([np.concatenate([ordered(cell.bias_ih), ordered(cell.bias_hh)]) for cell in cells])
    return g.constant(w), g.constant(r), g.constant(b)


def _attributes(cells: list[Any]) -> dict[str, Any]:
    cell = cells[0]
    direction = "bidirectional" if len(cells) == 2 else "forward"
    attributes: dict[str, Any] = {"hidden_size": cell.hidden, "direction": direction}
    if isinstance(cell, GruCell):
        attributes["linear_before_reset"] = int(cell.reset == "after")
    if isinstance(cell, RnnCell):
        attributes["activations"] = [ACTIVATIONS[cell.activation]] * len(cells)
    return attributes
