"""The feed-forward network over a fixed window as ONNX operations."""

from typing import Any

from seqlab.exporters.onnx.backbone import OnnxBackbone, Shapes, States
from seqlab.exporters.onnx.graph import Graph, Value


class FeedforwardOnnx(OnnxBackbone):
    """The state holds the previous inputs, zeros before the first token, the newest last."""

    def __init__(self, backbone: Any):
        super().__init__(backbone)
        self.span = self.settings.span

    def state(self) -> Shapes:
        return {"inputs": ["B", self.span - 1, self.backbone.inputs]} if self.span > 1 else {}

    def step(self, g: Graph, x_BD: Value, state: States) -> tuple[Value, States]:
        window_BKD = x_BD.unsqueeze(1)
        after: States = {}
        if self.span > 1:
            window_BKD = g.join([state["inputs"], window_BKD], 1)
            after["inputs"] = window_BKD.slice(1, 2**62, axis=1)
        return self._layers(g, window_BKD.reshape(0, -1)), after

    def sequence(self, g: Graph, x_BTD: Value, lengths_B: Value | None, start: States | None = None) -> Value:
        padded_BPD = g("Pad", x_BTD, g.integers([0, self.span - 1, 0, 0, 0, 0]))
        ends = [*range(1 - self.span, 0), 2**62]  # each shifted copy has the length of the text
        shifted = [padded_BPD.slice(k, end, axis=1) for k, end in enumerate(ends)]
        return self._layers(g, g.join(shifted, -1))

    def _layers(self, g: Graph, h: Value) -> Value:
        for layer in self.backbone.layers:
            h = g.linear(h, layer).tanh()
        return h
