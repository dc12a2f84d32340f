"""A language model as two graphs: one token with the state before it, and a whole text at once."""

from typing import Any

import onnx
from torch import Tensor

from seqlab.exporters.onnx.backbone import part_of
from seqlab.exporters.onnx.graph import Graph, Value

WHOLE = ("length",)  # states that count


def step_graph(model: Any) -> onnx.ModelProto:
    """token_B and the state; logits_BV and the state after it, each `<name>_next`."""
    g, part = Graph("step"), part_of(model.backbone)
    token_B = g.input("token", ["B"], whole=True)
    shapes = part.state()
    state = {name: g.input(name, shape, whole=name in WHOLE) for name, shape in shapes.items()}
    y_BH, after = part.step(g, embedded(g, model.embedding.weight, token_B), state)
    g.output("logits", projected(g, model, y_BH), ["B", model.vocab_size])
    for name, shape in shapes.items():
        grown = ["S_next" if axis == "S" else axis for axis in shape]
        g.output(f"{name}_next", after[name], grown, whole=name in WHOLE)
    return g.finished()


def sequence_graph(model: Any) -> onnx.ModelProto:
    """tokens_BT to logits_BTV; where the model sees what comes after, `lengths_B` too. Rows are padded on the right."""
    g, part = Graph("sequence"), part_of(model.backbone)
    tokens_BT = g.input("tokens", ["B", "T"], whole=True)
    lengths_B = None if model.backbone.causal else g.input("lengths", ["B"], whole=True)
    y_BTH = part.sequence(g, embedded(g, model.embedding.weight, tokens_BT), lengths_B)
    g.output("logits", projected(g, model, y_BTH), ["B", "T", model.vocab_size])
    return g.finished()


def embedded(g: Graph, table_VD: Tensor, tokens: Value) -> Value:
    return g("Gather", g.constant(table_VD), tokens, axis=0)


def projected(g: Graph, model: Any, y: Value) -> Value:
    if model.narrow is not None:
        y = g.linear(y, model.narrow.weight)
    V = model.vocab_size
    return g.linear(y, model.output.weight[:V], model.output.bias[:V])
