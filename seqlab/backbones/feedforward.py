"""The feed-forward network over a fixed window of inputs (Bengio et al. 2003)."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from seqlab.backbones.feedforward_settings import FeedforwardSettings
from seqlab.contracts import Backbone, Memory, Recorded, State, Trace, record
from seqlab.linear import Linear
from seqlab.precision import full


@dataclass(frozen=True)
class WindowState(State):
    """The last inputs of each row, the newest last; zeros before the first."""

    inputs_BKD: Tensor


class Feedforward(Backbone):
    """h_t = tanh(W [x_{t-k+1}; ...; x_t] + b), and further layers on top"""

    Settings = FeedforwardSettings
    fast = "matrix products over all positions at once"
    onnx_backbone = "seqlab.exporters.onnx.feedforward:FeedforwardOnnx"
    settings: FeedforwardSettings

    def __init__(self, settings: FeedforwardSettings, inputs: int):
        super().__init__(settings, inputs)
        below = [settings.span * inputs] + [settings.hidden] * (settings.layers - 1)
        self.layers = nn.ModuleList(Linear(width, settings.hidden) for width in below)

    @property
    def records(self) -> dict[str, Recorded]:
        numbers = range(1, self.settings.layers + 1)
        return {f"layer{number}": Recorded("layer", f"the output of layer {number}") for number in numbers}

    def start(self, batch: int, memory: Memory | None = None) -> WindowState:
        assert memory is None, "a fixed window reads no memory"
        inputs_BKD = next(self.parameters()).new_zeros(batch, self.settings.span, self.inputs)
        return WindowState(self.zero_lengths(batch), inputs_BKD)

    def forward(
        self, x_BTD: Tensor, state: State | None = None, mask_BT: Tensor | None = None, trace: Trace | None = None
    ) -> tuple[Tensor, WindowState]:
        B, T, D = x_BTD.shape
        K = self.settings.span
        before = state if state is not None else self.start(B)
        assert isinstance(before, WindowState)
        seen_BPD = torch.cat([before.inputs_BKD, x_BTD], dim=1)
        # position t sees the K inputs up to its own, which has index K + t
        windows_BTKD = seen_BPD[:, 1:].unfold(1, K, 1).transpose(2, 3)
        h_BTH = windows_BTKD.reshape(B, T, K * D)
        for number, layer in enumerate(self.layers, 1):
            h_BTH = record(trace, f"layer{number}", torch.tanh(full(layer(h_BTH))))
        new_B = torch.full_like(before.lengths_B, T) if mask_BT is None else mask_BT.sum(1)
        index_BK = new_B[:, None] + torch.arange(K, device=x_BTD.device)
        last_BKD = seen_BPD.gather(1, index_BK[:, :, None].expand(-1, -1, D))
        return h_BTH, WindowState(before.lengths_B + new_B, last_BKD)
