"""The Transformer, decoder and encoder, as ONNX operations."""

import math
from functools import partial
from typing import Any

from seqlab.attention.multihead import QK_EPSILON, CrossAttention, MultiHead
from seqlab.backbones.transformer import FeedForward
from seqlab.backbones.transformer_encoder import TransformerEncoder
from seqlab.exporters.onnx.attention import (
    add_positions,
    cache_mask,
    causal_mask,
    heads,
    mask_scores,
    norm,
    normalized,
    rotate,
    trim_cache,
)
from seqlab.exporters.onnx.backbone import OnnxBackbone, Shapes, States
from seqlab.exporters.onnx.graph import Graph, Value


class TransformerOnnx(OnnxBackbone):
    def __init__(self, backbone: Any):
        super().__init__(backbone)
        self.stack = backbone.stack
        self.causal = backbone.causal
        self.head = self.settings.hidden // self.settings.heads

    def state(self) -> Shapes:
        if not self.causal:
            return {}
        names = [f"{name}_{layer}" for layer in range(self.settings.layers) for name in ("keys", "values")]
        return {"length": ["B"], **{name: ["B", "S", self.settings.hidden] for name in names}}

    def step(self, g: Graph, x_BD: Value, state: States) -> tuple[Value, States]:
        length_B = state["length"]
        position_B1 = length_B.unsqueeze(1)
        visible_B11S = cache_mask(g, state["keys_0"], length_B).unsqueeze(1, 2)
        after = {"length": length_B + 1}

        def attend(layer: int, y_B1D: Value, attention: MultiHead) -> Value:
            q_BN1K, *new = self._queries_keys_values(g, y_B1D, position_B1, attention)
            names = (f"keys_{layer}", f"values_{layer}")
            keys_BSD, values_BSD = (g.join([state[name], x], 1) for name, x in zip(names, new, strict=True))
            for name, cache_BSD in zip(names, (keys_BSD, values_BSD), strict=True):
                after[name] = trim_cache(cache_BSD, self.settings.context)
            return self._attend(g, q_BN1K, keys_BSD, values_BSD, visible_B11S, attention)

        x_B1D = self._enter(g, x_BD.unsqueeze(1), position_B1)
        return self._blocks(g, x_B1D, attend, self._cross_attention(g, state)).squeeze(1), after

    def sequence(self, g: Graph, x_BTD: Value, lengths_B: Value | None, start: States | None = None) -> Value:
        T = x_BTD.size(1)
        position_1T = g.arange(T).unsqueeze(0)
        if self.causal:
            visible = causal_mask(g, T, self.settings.context).unsqueeze(0, 1)
        else:
            assert lengths_B is not None
            visible = (position_1T < lengths_B.unsqueeze(1)).unsqueeze(1, 2)

        def attend(layer: int, y_BTD: Value, attention: MultiHead) -> Value:
            return self._attend(g, *self._queries_keys_values(g, y_BTD, position_1T, attention), visible, attention)

        return self._blocks(g, self._enter(g, x_BTD, position_1T), attend, self._cross_attention(g, start or {}))

    def _queries_keys_values(
        self, g: Graph, y_BTD: Value, position_BT: Value, attention: MultiHead
    ) -> tuple[Value, Value, Value]:
        """q_BNTK, k_BTD and v_BTD, with rotary positions applied."""
        q_BTD, k_BTD, v_BTD = g.linear(y_BTD, attention.into).split(3)
        q_BNTK, k_BNTK = (
            rotate(g, self.stack.positions, self._heads(x, attention), position_BT, self.head) for x in (q_BTD, k_BTD)
        )
        return q_BNTK, k_BNTK.transpose(0, 2, 1, 3).reshape(0, 0, -1), v_BTD

    def _heads(self, x_BTD: Value, attention: MultiHead | CrossAttention) -> Value:
        """Queries or keys of each head, normalized if they are to be."""
        x_BNTK = heads(x_BTD, self.settings.heads)
        return normalized(x_BNTK, QK_EPSILON) if attention.qk_norm else x_BNTK

    def _enter(self, g: Graph, x_BTD: Value, position_BT: Value) -> Value:
        stack, D = self.stack, self.settings.hidden
        if stack.enter is not None:
            x_BTD = g.linear(x_BTD, stack.enter)
        x_BTD = x_BTD * math.sqrt(D) if self.settings.scale_input else x_BTD
        x_BTD = add_positions(g, stack.positions, x_BTD, position_BT, D)
        if not isinstance(self.backbone, TransformerEncoder):
            return x_BTD
        if self.backbone.segments_GD is not None:
            x_BTD = x_BTD + g.constant(self.backbone.segments_GD[0])
        return x_BTD if self.backbone.norm is None else norm(g, self.backbone.norm, x_BTD)

    def _attend(
        self, g: Graph, q_BNTK: Value, k_BSD: Value, v_BSD: Value, visible: Value, attention: MultiHead | CrossAttention
    ) -> Value:
        k_BNSK, v_BNSK = (heads(part, self.settings.heads) for part in (k_BSD, v_BSD))
        scores_BNTS = (q_BNTK @ k_BNSK.transpose(0, 1, 3, 2)) * (1 / math.sqrt(self.head))
        y_BNTK = mask_scores(g, scores_BNTS, visible).softmax() @ v_BNSK
        return g.linear(y_BNTK.transpose(0, 2, 1, 3).reshape(0, 0, -1), attention.out)

    def memory(self) -> Shapes:
        """Names and shapes of the encoded source: keys and values of each layer."""
        memory: Shapes = {"memory_length": ["B"]}
        for layer in range(self.settings.layers):
            memory |= {f"memory_{name}_{layer}": ["B", "M", self.settings.hidden] for name in ("keys", "values")}
        return memory

    def encode_memory(self, g: Graph, values_BMH: Value, lengths_B: Value, summary_BH: Value) -> tuple[States, States]:
        """The start states that are not zero, and the encoded source."""
        memory: States = {"memory_length": lengths_B}
        for layer, block in enumerate(self.stack.blocks):
            keys, values = g.linear(values_BMH, block.cross.into).split(2)
            if block.cross.qk_norm:
                keys = self._heads(keys, block.cross).transpose(0, 2, 1, 3).reshape(0, 0, -1)
            memory |= {f"memory_keys_{layer}": keys, f"memory_values_{layer}": values}
        return {}, memory

    def _cross_attention(self, g: Graph, state: States) -> Any:
        """Cross-attention; None if there is no source."""
        if "memory_length" not in state:
            return None
        position_1M = g.arange(state["memory_keys_0"].size(1)).unsqueeze(0)
        visible = (position_1M < state["memory_length"].unsqueeze(1)).unsqueeze(1, 2)

        def cross_attend(layer: int, y_BTD: Value, cross: CrossAttention) -> Value:
            q_BNTK = self._heads(g.linear(y_BTD, cross.queries), cross)
            keys, values = (state[f"memory_{name}_{layer}"] for name in ("keys", "values"))
            return self._attend(g, q_BNTK, keys, values, visible, cross)

        return cross_attend

    def _blocks(self, g: Graph, x_BTD: Value, attend: Any, cross_attend: Any) -> Value:
        before = self.settings.norm_position == "before"
        for layer, block in enumerate(self.stack.blocks):
            sublayers = [(block.norms[0], partial(attend, layer, attention=block.attention))]
            if cross_attend is not None:
                sublayers.append((block.cross_norm, partial(cross_attend, layer, cross=block.cross)))
            sublayers.append((block.norms[1], partial(self._feed_forward, g, block.feedforward)))
            for module, sublayer in sublayers:
                y_BTD = sublayer(norm(g, module, x_BTD) if before else x_BTD)
                x_BTD = x_BTD + y_BTD if before else norm(g, module, x_BTD + y_BTD)
        return x_BTD if self.stack.last is None else norm(g, self.stack.last, x_BTD)

    def _feed_forward(self, g: Graph, module: FeedForward, y_BTD: Value) -> Value:
        up = g.linear(y_BTD, module.up)
        if module.activation == "swiglu":
            gate, value = up.split(2)
            inner = gate * gate.sigmoid() * value
        elif module.activation == "relu2":
            rectified = g("Relu", up)
            inner = rectified * rectified
        else:
            inner = g("Relu", up) if module.activation == "relu" else g("Gelu", up)
        return g.linear(inner, module.down)
