"""The LSTM with attention over its own states, as ONNX operations."""

from typing import Any

from seqlab.exporters.onnx.attention import attend, cache_mask, causal_mask, project_keys, trim_cache
from seqlab.exporters.onnx.backbone import OnnxBackbone, Shapes, States, padding_mask
from seqlab.exporters.onnx.graph import Graph, Value
from seqlab.exporters.onnx.recurrent import RecurrentOnnx


class LstmAttentionOnnx(OnnxBackbone):
    def __init__(self, backbone: Any):
        super().__init__(backbone)
        self.score = backbone.score
        self.recurrent = RecurrentOnnx(backbone.recurrent)

    def state(self) -> Shapes:
        cache: Shapes = {name: ["B", "S", self.settings.hidden] for name in ("states", "keys")}
        return {"length": ["B"], **self.recurrent.state(), **cache}

    def step(self, g: Graph, x_BD: Value, state: States) -> tuple[Value, States]:
        h_BH, after = self.recurrent.step(g, x_BD, state)
        h_B1H = h_BH.unsqueeze(1)
        visible_B1S = cache_mask(g, state["states"], state["length"]).unsqueeze(1)
        states_BSH = g.join([state["states"], h_B1H], 1)
        keys_BSK = g.join([state["keys"], project_keys(g, self.score, h_B1H)], 1)
        after["length"] = state["length"] + 1
        after["states"] = trim_cache(states_BSH, self.settings.context)
        after["keys"] = trim_cache(keys_BSK, self.settings.context)
        return self._attend(g, h_B1H, keys_BSK, states_BSH, visible_B1S).squeeze(1), after

    def sequence(self, g: Graph, x_BTD: Value, lengths_B: Value | None, start: States | None = None) -> Value:
        h_BTH = self.recurrent.sequence(g, x_BTD, lengths_B, start)
        if self.settings.causal:
            visible = causal_mask(g, h_BTH.size(1), self.settings.context).unsqueeze(0)
        else:
            assert lengths_B is not None, "graphs of models that read in both directions take the lengths of their rows"
            visible = padding_mask(g, h_BTH, lengths_B).unsqueeze(1)
        return self._attend(g, h_BTH, project_keys(g, self.score, h_BTH), h_BTH, visible)

    def summary(self, g: Graph, y_BTH: Value, lengths_B: Value) -> Value:
        """State and context where each direction ends."""
        width = self.recurrent.settings.width
        starts = range(0, self.settings.width, width)
        parts = [y_BTH.slice(start, start + width, axis=2) for start in starts]
        return g.join([self.recurrent.summary(g, part_BTH, lengths_B) for part_BTH in parts], 1)

    def _attend(self, g: Graph, h_BTH: Value, keys_BSK: Value, states_BSH: Value, visible: Value) -> Value:
        context_BTH = attend(g, self.score, h_BTH, keys_BSK, states_BSH, visible)
        if self.settings.combine == "concat":
            return g.join([h_BTH, context_BTH], -1)
        return context_BTH if self.settings.combine == "context" else h_BTH + context_BTH
