"""Classifiers and taggers as ONNX graphs: padded rows and their lengths in, logits of labels out."""

from typing import Any

import onnx

from seqlab.exporters.onnx.attention import mask_scores
from seqlab.exporters.onnx.backbone import OnnxBackbone, onnx_backbone_of, padding_mask
from seqlab.exporters.onnx.graph import Graph, Value
from seqlab.exporters.onnx.language import embed
from seqlab.exporters.onnx.recurrent import RecurrentOnnx


def classifier_graph(model: Any) -> onnx.ModelProto:
    """tokens_BT and lengths_B to logits_BK."""
    g = Graph("classifier")
    tokens_BT, lengths_B = g.input("tokens", ["B", "T"], integer=True), g.input("lengths", ["B"], integer=True)
    backbone = onnx_backbone_of(model.backbone)
    y_BTH = backbone.sequence(g, embed(g, model.embedding.weight, tokens_BT), lengths_B)
    pooled_BH = _pooled(g, model, backbone, y_BTH, lengths_B)
    g.output("logits", g.linear(pooled_BH, model.output), ["B", model.output.out_features])
    return g.build()


def tagger_graph(model: Any, pieces: bool) -> onnx.ModelProto:
    """tokens_BT and lengths_B to logits_BTK; a character encoder adds characters_BTC and character_lengths_BT.

    Words of several tokens are tagged at their last token, ends_BW. A CRF adds its transition scores as outputs."""
    g = Graph("tagger")
    tokens_BT, lengths_B = g.input("tokens", ["B", "T"], integer=True), g.input("lengths", ["B"], integer=True)
    x_BTD = embed(g, model.embedding.weight, tokens_BT)
    if model.spelling is not None:
        characters_BTC = g.input("characters", ["B", "T", "C"], integer=True)
        lengths_BT = g.input("character_lengths", ["B", "T"], integer=True)
        flat_NC = g("Reshape", characters_BTC, g.join([g.integers([-1]), characters_BTC.size(2).unsqueeze(0)], 0))
        spelling_NW = _encode_characters(g, model.spelling, flat_NC, lengths_BT.reshape(-1))
        spelling_BTW = g("Reshape", spelling_NW, g.join([g("Shape", tokens_BT), g.integers([-1])], 0))
        x_BTD = g.join([x_BTD, spelling_BTW], -1)
    y_BTH = onnx_backbone_of(model.backbone).sequence(g, x_BTD, lengths_B)
    if pieces:
        ends_BW1 = g.input("ends", ["B", "W"], integer=True).unsqueeze(2)
        y_BTH = g("GatherND", y_BTH, ends_BW1, batch_dims=1)
    K = model.output.out_features
    g.output("logits", g.linear(y_BTH, model.output), ["B", "W" if pieces else "T", K])
    if model.chain is not None:
        g.output("transitions", g.constant(model.chain.transitions_KK), [K, K])
        g.output("start", g.constant(model.chain.start_K), [K])
        g.output("end", g.constant(model.chain.end_K), [K])
    return g.build()


def _pooled(g: Graph, model: Any, backbone: OnnxBackbone, y_BTH: Value, lengths_B: Value) -> Value:
    if model.pooling is not None:
        hidden_BTH = g.linear(y_BTH, model.pooling.project).tanh()
        scores_BT = (hidden_BTH @ g.constant(model.pooling.v_H[:, None])).squeeze(2)
        weights_BT = mask_scores(g, scores_BT, padding_mask(g, y_BTH, lengths_B)).softmax()
        return (weights_BT.unsqueeze(1) @ y_BTH).squeeze(1)
    if model.pooling_kind == "last":
        return backbone.summary(g, y_BTH, lengths_B)
    if model.pooling_kind == "mean":
        return OnnxBackbone.summary(backbone, g, y_BTH, lengths_B)
    shown_BTH = g("Where", padding_mask(g, y_BTH, lengths_B).unsqueeze(2), y_BTH, float("-inf"))
    return g("ReduceMax", shown_BTH, g.integers([1]), keepdims=0)


def _encode_characters(g: Graph, spelling: Any, characters_NC: Value, lengths_N: Value) -> Value:
    x_NCD = embed(g, spelling.embedding.weight, characters_NC)
    kept_NC1 = padding_mask(g, x_NCD, lengths_N).unsqueeze(2)
    x_NCD = g("Where", kept_NC1, x_NCD, 0.0)
    if spelling.lstm is not None:
        lstm = RecurrentOnnx(spelling.lstm)
        return lstm.summary(g, lstm.sequence(g, x_NCD, lengths_N), lengths_N)
    filters = spelling.convolution
    pads = [filters.padding[0]] * 2
    y_NWC = g("Conv", x_NCD.transpose(0, 2, 1), g.constant(filters.weight), g.constant(filters.bias), pads=pads)
    shown_NCW = g("Where", kept_NC1, y_NWC.transpose(0, 2, 1), float("-inf"))
    return g("Relu", g("ReduceMax", shown_NCW, g.integers([1]), keepdims=0))
