"""RNN, GRU and LSTM: stacked, optionally residual, optionally in both directions.

The cells compute one step; this module runs them over time and stacks them.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from seqlab.backbones.recurrent_settings import GruSettings, LstmSettings, RecurrentSettings, RnnSettings
from seqlab.cells.cell import RecurrentCell, last_kept, unroll
from seqlab.cells.gru import GruCell
from seqlab.cells.lstm import LstmCell
from seqlab.cells.rnn import RnnCell
from seqlab.contracts import Backbone, Memory, Recorded, State, Trace, record
from seqlab.dropout import drop
from seqlab.recomputation import call_layer
from seqlab.tracing import prefixed


@dataclass(frozen=True)
class RecurrentState(State):
    """One cell state per layer and direction: layer 0 forward, layer 0 backward, layer 1 forward, ..."""

    cells: tuple[Any, ...]


class Recurrent(Backbone):
    """The stack that all three share."""

    fast = "torch's recurrent loop"
    recomputes = True

    def __init__(self, settings: RecurrentSettings, inputs: int):
        super().__init__(settings, inputs)
        self.settings = settings
        below = [inputs] + [settings.width] * (settings.layers - 1)
        self.cells = nn.ModuleList(self.make_cell(width) for width in below for _ in range(settings.directions))

    @property
    def records(self) -> dict[str, Recorded]:
        records: dict[str, Recorded] = {}
        for index, cell in enumerate(self._cells()):
            records |= prefixed(self._scope(index), cell.records)
            layer, direction = divmod(index, self.settings.directions)
            if direction == self.settings.directions - 1:
                records[f"layer{layer + 1}"] = Recorded("layer", f"the output of layer {layer + 1}")
        return records

    @abstractmethod
    def make_cell(self, inputs: int) -> RecurrentCell: ...

    def start(self, batch: int, memory: Memory | None = None) -> RecurrentState:
        assert memory is None, "recurrent backbones read no memory"
        return RecurrentState(self.zero_lengths(batch), tuple(cell.start(batch) for cell in self._cells()))

    def forward(
        self, x_BTD: Tensor, state: State | None = None, mask_BT: Tensor | None = None, trace: Trace | None = None
    ) -> tuple[Tensor, RecurrentState]:
        before = state if state is not None else self.start(len(x_BTD))
        assert isinstance(before, RecurrentState)
        after: list[Any] = []
        for layer in range(self.settings.layers):
            below_BTD = self._drop(x_BTD) if layer else x_BTD
            outputs: list[Tensor] = []
            for direction in range(self.settings.directions):
                index = layer * self.settings.directions + direction
                y_BTH, last = call_layer(self._run_cell, index, below_BTD, before.cells[index], mask_BT, trace)
                outputs.append(y_BTH)
                after.append(last)
            y_BTH = outputs[0] if len(outputs) == 1 else torch.cat(outputs, dim=2)
            x_BTD = y_BTH + x_BTD if layer and self.settings.residual else y_BTH
            x_BTD = record(trace, f"layer{layer + 1}", x_BTD)
        seen = x_BTD.shape[1] if mask_BT is None else mask_BT.sum(1)
        return x_BTD, RecurrentState(before.lengths_B + seen, tuple(after))

    def step(self, x_BD: Tensor, state: RecurrentState, trace: Trace | None = None) -> tuple[Tensor, RecurrentState]:
        self.require_causal()
        after: list[Any] = []
        for layer, cell in enumerate(self._cells()):
            within = trace.within(f"layer{layer + 1}").step(0) if trace else None
            y_BH, new = cell.step(self._drop(x_BD) if layer else x_BD, state.cells[layer], within)
            x_BD = y_BH + x_BD if layer and self.settings.residual else y_BH
            x_BD = record(trace and trace.step(0), f"layer{layer + 1}", x_BD)
            after.append(new)
        return x_BD, RecurrentState(state.lengths_B + 1, tuple(after))

    def query(self, state: RecurrentState) -> Tensor:
        """The top layer's hidden vector."""
        return state.cells[-1].h_BH

    def summarize(self, y_BTH: Tensor, mask_BT: Tensor) -> Tensor:
        """The final output of each direction: at the last kept position forward, at the first one backward."""
        empty_BH = torch.zeros_like(y_BTH[:, 0])
        last_BH = last_kept(y_BTH, empty_BH, mask_BT)
        first_BH = torch.where(mask_BT[:, :1], y_BTH[:, 0], empty_BH)
        hidden = self.settings.hidden
        return torch.cat([last_BH[:, :hidden], first_BH[:, hidden:]], dim=1)

    def _cells(self) -> list[RecurrentCell]:
        return list(self.cells)  # pyright: ignore[reportReturnType]

    def _drop(self, x: Tensor) -> Tensor:
        return drop(x, self.settings.dropout_rate, self.training)

    def _run_cell(
        self, index: int, x_BTD: Tensor, state: Any, mask_BT: Tensor | None, trace: Trace | None
    ) -> tuple[Tensor, Any]:
        """One cell over the whole sequence, from the left or from each row's own right end."""
        cell = self._cells()[index]
        backward = index % self.settings.directions == 1
        if trace or self.settings.plain or not cell.has_fused:
            return unroll(cell, x_BTD, state, mask_BT, trace and trace.within(self._scope(index)), backward)
        y_BTH, last = cell.fused(reverse(x_BTD, mask_BT) if backward else x_BTD, state, mask_BT)
        return (reverse(y_BTH, mask_BT) if backward else y_BTH), last

    def _scope(self, index: int) -> str:
        """What a cell's values are recorded under."""
        layer, direction = divmod(index, self.settings.directions)
        return f"layer{layer + 1}" + ((".forward", ".backward")[direction] if self.settings.directions == 2 else "")


def reverse(x_BTD: Tensor, mask_BT: Tensor | None) -> Tensor:
    """Each row's kept positions in reverse order; padding stays in place."""
    if mask_BT is None:
        return x_BTD.flip(1)
    position_T = torch.arange(x_BTD.shape[1], device=x_BTD.device)
    mirrored_BT = mask_BT.sum(1, keepdim=True) - 1 - position_T
    index_BT = torch.where(mask_BT, mirrored_BT, position_T)
    return x_BTD.gather(1, index_BT[:, :, None].expand_as(x_BTD))


class Rnn(Recurrent):
    Settings = RnnSettings
    compiled_engine = "seqlab.decode.engines.recurrent:RnnEngine"
    onnx_backbone = "seqlab.exporters.onnx.recurrent:RecurrentOnnx"
    settings: RnnSettings

    def make_cell(self, inputs: int) -> RnnCell:
        return RnnCell(inputs, self.settings.hidden, self.settings.activation)


class Gru(Recurrent):
    Settings = GruSettings
    compiled_engine = "seqlab.decode.engines.recurrent:GruEngine"
    onnx_backbone = "seqlab.exporters.onnx.recurrent:RecurrentOnnx"
    settings: GruSettings

    def make_cell(self, inputs: int) -> GruCell:
        return GruCell(inputs, self.settings.hidden, self.settings.reset)


class Lstm(Recurrent):
    Settings = LstmSettings
    fast = "torch's LSTM kernel (oneDNN on a CPU)"
    compiled_engine = "seqlab.decode.engines.recurrent:LstmEngine"
    onnx_backbone = "seqlab.exporters.onnx.recurrent:RecurrentOnnx"
    settings: LstmSettings

    def make_cell(self, inputs: int) -> LstmCell:
        return LstmCell(inputs, self.settings.hidden, self.settings.forget_bias)
