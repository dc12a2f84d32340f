"""A language model as two ONNX graphs: one token with its state, and a whole text."""

from typing import Any

import onnx
from torch import Tensor

from seqlab.exporters.onnx.backbone import OnnxBackbone, Shapes, onnx_backbone_of
from seqlab.exporters.onnx.graph import Graph, Value
from seqlab.models.token_model import VocabularyModel

INTEGER_TENSORS = ("length", "memory_length")  # of a state and of an encoded source


def step_graph(model: Any) -> onnx.ModelProto:
    """token_B and the state to logits_BV and the next state, each tensor as `<name>_next`."""
    return build_step_graph(model, onnx_backbone_of(model.backbone), {})


def build_step_graph(model: Any, backbone: OnnxBackbone, memory: Shapes) -> onnx.ModelProto:
    """A decoder also takes the tensors of the encoded source, `memory`."""
    g = Graph("step")
    token_B = g.input("token", ["B"], integer=True)
    shapes = backbone.state()
    inputs = {
        name: g.input(name, shape, integer=name in INTEGER_TENSORS) for name, shape in {**shapes, **memory}.items()
    }
    y_BH, after = backbone.step(g, embed_tokens(g, model, token_B), inputs)
    g.output("logits", output_logits(g, model, y_BH), ["B", model.vocab_size])
    for name, shape in shapes.items():
        grown = ["S_next" if axis == "S" else axis for axis in shape]
        g.output(f"{name}_next", after[name], grown, integer=name in INTEGER_TENSORS)
    return g.build()


def sequence_graph(model: Any) -> onnx.ModelProto:
    """tokens_BT to logits_BTV; a bidirectional model also takes `lengths_B`. Rows are padded on the right."""
    g, backbone = Graph("sequence"), onnx_backbone_of(model.backbone)
    tokens_BT = g.input("tokens", ["B", "T"], integer=True)
    lengths_B = None if model.backbone.causal else g.input("lengths", ["B"], integer=True)
    y_BTH = backbone.sequence(g, embed_tokens(g, model, tokens_BT), lengths_B)
    g.output("logits", output_logits(g, model, y_BTH), ["B", "T", model.vocab_size])
    return g.build()


def embed(g: Graph, table_VD: Tensor, tokens: Value) -> Value:
    return g("Gather", g.constant(table_VD), tokens, axis=0)


def embed_tokens(g: Graph, model: VocabularyModel, tokens: Value) -> Value:
    x = embed(g, model.embedding.weight, tokens)
    return x if model.embedding_scale == 1 else x * model.embedding_scale


def output_logits(g: Graph, model: VocabularyModel, y: Value) -> Value:
    if model.narrow is not None:
        y = g.linear(y, model.narrow)
    V = model.vocab_size
    logits, cap = g.affine(y, model.output.weight[:V], model.output.bias[:V]), model.settings.logit_cap
    return logits if cap is None else g("Tanh", logits * (1 / cap)) * cap
