"""The LSTM that looks back, and the network over a fixed window."""

from typing import Any

from seqlab.exporters.onnx.attention import before_or_at, hidden_from, kept_and_new, last, projected, scored
from seqlab.exporters.onnx.backbone import Part, States
from seqlab.exporters.onnx.graph import Graph, Value
from seqlab.exporters.onnx.recurrent import RecurrentPart


class AttentivePart(Part):
    def __init__(self, backbone: Any):
        self.settings, self.score = backbone.settings, backbone.score
        self.recurrent = RecurrentPart(backbone.recurrent)

    def state(self) -> dict[str, list[str | int]]:
        kept: dict[str, list[str | int]] = {name: ["B", "S", self.settings.hidden] for name in ("states", "keys")}
        return {"length": ["B"], **self.recurrent.state(), **kept}

    def step(self, g: Graph, x_BD: Value, state: States) -> tuple[Value, States]:
        h_BH, after = self.recurrent.step(g, x_BD, state)
        h_B1H = h_BH.unsqueeze(1)
        visible_B1S = kept_and_new(g, state["states"], state["length"]).unsqueeze(1)
        states_BSH = g.join([state["states"], h_B1H], 1)
        keys_BSH = g.join([state["keys"], projected(g, self.score, h_B1H, keys=True)], 1)
        after |= {"length": state["length"] + 1}
        after |= {"states": last(states_BSH, self.settings.context), "keys": last(keys_BSH, self.settings.context)}
        return self._look(g, h_B1H, keys_BSH, states_BSH, visible_B1S).squeeze(1), after

    def sequence(self, g: Graph, x_BTD: Value, lengths_B: Value | None, start: States | None = None) -> Value:
        h_BTH = self.recurrent.sequence(g, x_BTD, lengths_B, start)
        visible_1TS = before_or_at(g, h_BTH.size(1), self.settings.context).unsqueeze(0)
        return self._look(g, h_BTH, projected(g, self.score, h_BTH, keys=True), h_BTH, visible_1TS)

    def _look(self, g: Graph, h_BTH: Value, keys_BSH: Value, states_BSH: Value, visible: Value) -> Value:
        scores_BTS = scored(g, self.score, projected(g, self.score, h_BTH, keys=False), keys_BSH)
        context_BTH = hidden_from(g, scores_BTS, visible).softmax() @ states_BSH
        if self.settings.combine == "concat":
            return g.join([h_BTH, context_BTH], -1)
        return context_BTH if self.settings.combine == "context" else h_BTH + context_BTH


class WindowPart(Part):
    """The last inputs, zeros where there were none yet; the newest stands last."""

    def __init__(self, backbone: Any):
        self.backbone, self.span = backbone, backbone.settings.span

    def state(self) -> dict[str, list[str | int]]:
        return {"inputs": ["B", self.span - 1, self.backbone.inputs]} if self.span > 1 else {}

    def step(self, g: Graph, x_BD: Value, state: States) -> tuple[Value, States]:
        window_BKD = x_BD.unsqueeze(1)
        after: States = {}
        if self.span > 1:
            window_BKD = g.join([state["inputs"], window_BKD], 1)
            after["inputs"] = window_BKD.part(1, 2**62, axis=1)
        return self._layers(g, window_BKD.reshape(0, -1)), after

    def sequence(self, g: Graph, x_BTD: Value, lengths_B: Value | None, start: States | None = None) -> Value:
        pads = g.whole([0, self.span - 1, 0, 0, 0, 0])
        padded_BPD = g("Pad", x_BTD, pads)
        ends = [*range(1 - self.span, 0), 2**62]  # so that all are as long as the text
        shifted = [padded_BPD.part(k, end, axis=1) for k, end in enumerate(ends)]
        return self._layers(g, g.join(shifted, -1))

    def _layers(self, g: Graph, h: Value) -> Value:
        for layer in self.backbone.layers:
            h = g.linear(h, layer.weight, layer.bias).tanh()
        return h
