"""The Transformer, decoder and encoder, as ONNX operations."""

import math
from functools import partial
from typing import Any

from seqlab.exporters.onnx.attention import (
    add_positions,
    cache_mask,
    causal_mask,
    heads,
    mask_scores,
    norm,
    rotate,
    trim_cache,
)
from seqlab.exporters.onnx.backbone import OnnxBackbone, States
from seqlab.exporters.onnx.graph import Graph, Value


class TransformerOnnx(OnnxBackbone):
    def __init__(self, backbone: Any):
        super().__init__(backbone)
        self.stack = backbone.stack
        self.causal = backbone.causal
        self.head = self.settings.hidden // self.settings.heads

    def state(self) -> dict[str, list[str | int]]:
        if not self.causal:
            return {}
        D = self.settings.hidden
        cache = {
            f"{name}_{layer}": ["B", "S", D] for layer in range(self.settings.layers) for name in ("keys", "values")
        }
        return {"length": ["B"], **cache}

    def step(self, g: Graph, x_BD: Value, state: States) -> tuple[Value, States]:
        length_B = state["length"]
        position_B1 = length_B.unsqueeze(1)
        visible_BS = cache_mask(g, state["keys_0"], length_B)
        after = {"length": length_B + 1}

        def attend(layer: int, y_B1D: Value, attention: Any) -> Value:
            q, k_B1D, v_B1D = g.linear(y_B1D, attention.into.weight, attention.into.bias).split(3)
            positions = self.stack.positions
            k_BN1K = rotate(g, positions, heads(k_B1D, self.settings.heads), position_B1, self.head)
            k_B1D = k_BN1K.transpose(0, 2, 1, 3).reshape(0, 0, -1)
            keys_BSD = g.join([state[f"keys_{layer}"], k_B1D], 1)
            values_BSD = g.join([state[f"values_{layer}"], v_B1D], 1)
            after[f"keys_{layer}"] = trim_cache(keys_BSD, self.settings.context)
            after[f"values_{layer}"] = trim_cache(values_BSD, self.settings.context)
            q_BN1K = rotate(g, positions, heads(q, self.settings.heads), position_B1, self.head)
            return self._attend(g, q_BN1K, keys_BSD, values_BSD, visible_BS.unsqueeze(1, 2), attention)

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

        def attend(layer: int, y_BTD: Value, attention: Any) -> Value:
            q, k, v_BTD = g.linear(y_BTD, attention.into.weight, attention.into.bias).split(3)
            positions, N = self.stack.positions, self.settings.heads
            q_BNTK, k_BNTK = (rotate(g, positions, heads(part, N), position_1T, self.head) for part in (q, k))
            keys_BTD = k_BNTK.transpose(0, 2, 1, 3).reshape(0, 0, -1)
            return self._attend(g, q_BNTK, keys_BTD, v_BTD, visible, attention)

        return self._blocks(g, self._enter(g, x_BTD, position_1T), attend, self._cross_attention(g, start or {}))

    def _enter(self, g: Graph, x_BTD: Value, position_BT: Value) -> Value:
        stack, D = self.stack, self.settings.hidden
        if stack.enter is not None:
            x_BTD = g.linear(x_BTD, stack.enter.weight, stack.enter.bias)
        x_BTD = x_BTD * math.sqrt(D) if self.settings.scale_input else x_BTD
        x_BTD = add_positions(g, stack.positions, x_BTD, position_BT, D)
        if getattr(self.backbone, "segments_GD", None) is not None:
            x_BTD = x_BTD + g.constant(self.backbone.segments_GD[0])
        first = getattr(self.backbone, "norm", None)
        return x_BTD if first is None else norm(g, first, x_BTD)

    def _attend(self, g: Graph, q_BNTK: Value, k_BSD: Value, v_BSD: Value, visible: Value, attention: Any) -> Value:
        k_BNSK, v_BNSK = (heads(part, self.settings.heads) for part in (k_BSD, v_BSD))
        scores_BNTS = (q_BNTK @ k_BNSK.transpose(0, 1, 3, 2)) * (1 / math.sqrt(self.head))
        y_BNTK = mask_scores(g, scores_BNTS, visible).softmax() @ v_BNSK
        return g.linear(y_BNTK.transpose(0, 2, 1, 3).reshape(0, 0, -1), attention.out.weight, attention.out.bias)

    def memory(self) -> dict[str, list[str | int]]:
        """Names and shapes of the encoded source: keys and values of each layer."""
        memory: dict[str, list[str | int]] = {"memory_length": ["B"]}
        for layer in range(self.settings.layers):
            memory |= {f"memory_{name}_{layer}": ["B", "M", self.settings.hidden] for name in ("keys", "values")}
        return memory

    def encode_memory(self, g: Graph, values_BMH: Value, lengths_B: Value, summary_BH: Value) -> tuple[States, States]:
        """The start states that are not zero, and the encoded source."""
        memory: States = {"memory_length": lengths_B}
        for layer, block in enumerate(self.stack.blocks):
            keys, values = g.linear(values_BMH, block.cross.into.weight, block.cross.into.bias).split(2)
            memory |= {f"memory_keys_{layer}": keys, f"memory_values_{layer}": values}
        return {}, memory

    def _cross_attention(self, g: Graph, state: States) -> Any:
        """Cross-attention; None if there is no source."""
        if "memory_length" not in state:
            return None
        position_1M = g.arange(state["memory_keys_0"].size(1)).unsqueeze(0)
        visible = (position_1M < state["memory_length"].unsqueeze(1)).unsqueeze(1, 2)

        def read(layer: int, y_BTD: Value, cross: Any) -> Value:
            q_BNTK = heads(g.linear(y_BTD, cross.queries.weight, cross.queries.bias), self.settings.heads)
            keys, values = (state[f"memory_{name}_{layer}"] for name in ("keys", "values"))
            return self._attend(g, q_BNTK, keys, values, visible, cross)

        return read

    def _blocks(self, g: Graph, x_BTD: Value, attend: Any, read: Any) -> Value:
        before = self.settings.norm_position == "before"
        for layer, block in enumerate(self.stack.blocks):
            sublayers = [(block.norms[0], partial(attend, layer, attention=block.attention))]
            if read is not None:
                sublayers.append((block.cross_norm, partial(read, layer, cross=block.cross)))
            sublayers.append((block.norms[1], partial(self._feed_forward, g, block.feedforward)))
            for module, sublayer in sublayers:
                y_BTD = sublayer(norm(g, module, x_BTD) if before else x_BTD)
                x_BTD = x_BTD + y_BTD if before else norm(g, module, x_BTD + y_BTD)
        return x_BTD if self.stack.last is None else norm(g, self.stack.last, x_BTD)

    def _feed_forward(self, g: Graph, module: Any, y_BTD: Value) -> Value:
        up = g.linear(y_BTD, module.up.weight, module.up.bias)
        if module.activation == "swiglu":
            gate, value = up.split(2)
            inner = gate * gate.sigmoid() * value
        else:
            inner = g("Relu", up) if module.activation == "relu" else g("Gelu", up)
        return g.linear(inner, module.down.weight, module.down.bias)
