"""A language model as two ONNX graphs: one token with its state, and a whole text."""

from typing import Any

import onnx
from torch import Tensor

from seqlab.exporters.onnx.backbone import onnx_backbone_of
from seqlab.exporters.onnx.graph import Graph, Value

INTEGER_STATES = ("length",)  # state tensors of integers


def step_graph(model: Any) -> onnx.ModelProto:
    """token_B and the state to logits_BV and the next state, each tensor as `<name>_next`."""
    g, part = Graph("step"), onnx_backbone_of(model.backbone)
    token_B = g.input("token", ["B"], integer=True)
    shapes = part.state()
    state = {name: g.input(name, shape, integer=name in INTEGER_STATES) for name, shape in shapes.items()}
    y_BH, after = part.step(g, embed(g, model.embedding.weight, token_B), state)
    g.output("logits", output_logits(g, model, y_BH), ["B", model.vocab_size])
    for name, shape in shapes.items():
        grown = ["S_next" if axis == "S" else axis for axis in shape]
        g.output(f"{name}_next", after[name], grown, integer=name in INTEGER_STATES)
    return g.build()


def sequence_graph(model: Any) -> onnx.ModelProto:
    """tokens_BT to logits_BTV; a bidirectional model also takes `lengths_B`. Rows are padded on the right."""
    g, part = Graph("sequence"), onnx_backbone_of(model.backbone)
    tokens_BT = g.input("tokens", ["B", "T"], integer=True)
    lengths_B = None if model.backbone.causal else g.input("lengths", ["B"], integer=True)
    y_BTH = part.sequence(g, embed(g, model.embedding.weight, tokens_BT), lengths_B)
    g.output("logits", output_logits(g, model, y_BTH), ["B", "T", model.vocab_size])
    return g.build()


def embed(g: Graph, table_VD: Tensor, tokens: Value) -> Value:
    return g("Gather", g.constant(table_VD), tokens, axis=0)


def output_logits(g: Graph, model: Any, y: Value) -> Value:
    if model.narrow is not None:
        y = g.linear(y, model.narrow.weight)
    V = model.vocab_size
    return g.linear(y, model.output.weight[:V], model.output.bias[:V])
