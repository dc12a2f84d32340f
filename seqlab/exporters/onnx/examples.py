"""Classifiers and taggers as graphs: padded rows and their lengths in, scores of labels out."""

from typing import Any

import onnx

from seqlab.backbones.lstm_attention import LstmAttention
from seqlab.backbones.recurrent import Recurrent
from seqlab.exporters.onnx.attention import hidden_from, numbered
from seqlab.exporters.onnx.backbone import part_of
from seqlab.exporters.onnx.graph import Graph, Value
from seqlab.exporters.onnx.language import embedded
from seqlab.exporters.onnx.recurrent import RecurrentPart


def classifier_graph(model: Any) -> onnx.ModelProto:
    """tokens_BT and lengths_B to logits_BK."""
    g = Graph("classifier")
    tokens_BT, lengths_B = g.input("tokens", ["B", "T"], whole=True), g.input("lengths", ["B"], whole=True)
    y_BTH = part_of(model.backbone).sequence(g, embedded(g, model.embedding.weight, tokens_BT), lengths_B)
    pooled_BH = _pooled(g, model, y_BTH, lengths_B)
    g.output("logits", g.linear(pooled_BH, model.output.weight, model.output.bias), ["B", model.output.out_features])
    return g.finished()


def tagger_graph(model: Any, pieces: bool) -> onnx.ModelProto:
    """tokens_BT and lengths_B to logits_BTK; where words are spelt, characters_BTC and character_lengths_BT too.

    Words of several tokens are tagged where they end, at ends_BW. Of a chain, what goes with what is given as well."""
    g = Graph("tagger")
    tokens_BT, lengths_B = g.input("tokens", ["B", "T"], whole=True), g.input("lengths", ["B"], whole=True)
    x_BTD = embedded(g, model.embedding.weight, tokens_BT)
    if model.spelling is not None:
        characters_BTC = g.input("characters", ["B", "T", "C"], whole=True)
        lengths_BT = g.input("character_lengths", ["B", "T"], whole=True)
        flat_NC = g("Reshape", characters_BTC, g.join([g.whole([-1]), characters_BTC.size(2).unsqueeze(0)], 0))
        spelt_NW = _spelt(g, model.spelling, flat_NC, lengths_BT.reshape(-1))
        spelt_BTW = g("Reshape", spelt_NW, g.join([g("Shape", tokens_BT), g.whole([-1])], 0))
        x_BTD = g.join([x_BTD, spelt_BTW], -1)
    y_BTH = part_of(model.backbone).sequence(g, x_BTD, lengths_B)
    if pieces:
        ends_BW1 = g.input("ends", ["B", "W"], whole=True).unsqueeze(2)
        y_BTH = g("GatherND", y_BTH, ends_BW1, batch_dims=1)
    place = "W" if pieces else "T"
    g.output("logits", g.linear(y_BTH, model.output.weight, model.output.bias), ["B", place, model.output.out_features])
    if model.chain is not None:
        K = model.output.out_features
        g.output("transitions", g.constant(model.chain.transitions_KK), [K, K])
        g.output("start", g.constant(model.chain.start_K), [K])
        g.output("end", g.constant(model.chain.end_K), [K])
    return g.finished()


def kept(g: Graph, y_BTH: Value, lengths_B: Value) -> Value:
    """kept_BT: what is no padding."""
    return numbered(g, y_BTH.size(1)).unsqueeze(0) < lengths_B.unsqueeze(1)


def last_kept(g: Graph, y_BTH: Value, lengths_B: Value) -> Value:
    return g("GatherND", y_BTH, (lengths_B - 1).unsqueeze(1), batch_dims=1)


def summary(g: Graph, backbone: Any, y_BTH: Value, lengths_B: Value) -> Value:
    """Where a recurrence ends, in each direction; of what is not recurrent, the mean."""
    if isinstance(backbone, LstmAttention):
        return last_kept(g, y_BTH, lengths_B)
    if isinstance(backbone, Recurrent):
        H = backbone.settings.hidden
        last_BH = last_kept(g, y_BTH, lengths_B)
        if backbone.settings.directions == 1:
            return last_BH
        return g.join([last_BH.part(0, H, axis=1), y_BTH.part(0, 1, axis=1).squeeze(1).part(H, 2 * H, axis=1)], 1)
    return _mean(g, y_BTH, lengths_B)


def _mean(g: Graph, y_BTH: Value, lengths_B: Value) -> Value:
    zeroed_BTH = g("Where", kept(g, y_BTH, lengths_B).unsqueeze(2), y_BTH, 0.0)
    count_B1 = g("Cast", lengths_B, to=1).unsqueeze(1)
    return g("ReduceSum", zeroed_BTH, g.whole([1]), keepdims=0) / count_B1


def _pooled(g: Graph, model: Any, y_BTH: Value, lengths_B: Value) -> Value:
    if model.pooling is not None:
        project = model.pooling.project
        scores_BT = (
            g.linear(y_BTH, project.weight, project.bias).tanh() @ g.constant(model.pooling.v_H[:, None])
        ).squeeze(2)
        weights_BT = hidden_from(g, scores_BT, kept(g, y_BTH, lengths_B)).softmax()
        return (weights_BT.unsqueeze(1) @ y_BTH).squeeze(1)
    if model.how == "last":
        return summary(g, model.backbone, y_BTH, lengths_B)
    if model.how == "mean":
        return _mean(g, y_BTH, lengths_B)
    shown_BTH = g("Where", kept(g, y_BTH, lengths_B).unsqueeze(2), y_BTH, float("-inf"))
    return g("ReduceMax", shown_BTH, g.whole([1]), keepdims=0)


def _spelt(g: Graph, spelling: Any, characters_NC: Value, lengths_N: Value) -> Value:
    x_NCD = embedded(g, spelling.embedding.weight, characters_NC)
    kept_NC1 = kept(g, x_NCD, lengths_N).unsqueeze(2)
    x_NCD = g("Where", kept_NC1, x_NCD, 0.0)
    if spelling.lstm is not None:
        y_NCW = RecurrentPart(spelling.lstm).sequence(g, x_NCD, lengths_N)
        return summary(g, spelling.lstm, y_NCW, lengths_N)
    filters = spelling.convolution
    pads = [filters.padding[0]] * 2
    y_NWC = g("Conv", x_NCD.transpose(0, 2, 1), g.constant(filters.weight), g.constant(filters.bias), pads=pads)
    shown_NCW = g("Where", kept_NC1, y_NWC.transpose(0, 2, 1), float("-inf"))
    return g("Relu", g("ReduceMax", shown_NCW, g.whole([1]), keepdims=0))
