"""Translators as ONNX graphs: the encoder, one decoding step, and a whole target."""

from typing import Any

import onnx

from seqlab.backbones.attention_decoder import AttentionDecoder
from seqlab.errors import UsageError
from seqlab.exporters.onnx.attention import attention_scores, mask_scores, project_queries_or_keys
from seqlab.exporters.onnx.backbone import OnnxBackbone, States, onnx_backbone_of, padding_mask
from seqlab.exporters.onnx.graph import Graph, Value
from seqlab.exporters.onnx.language import INTEGER_STATES, embed, output_logits

INTEGER_INPUTS = (*INTEGER_STATES, "memory_length")


class AttentionDecoderOnnx(OnnxBackbone):
    """A causal backbone with attention over a source; equations in backbones/attention_decoder.py."""

    def __init__(self, reader: AttentionDecoder):
        self.reader, self.inner = reader, onnx_backbone_of(reader.inner)
        self.first = reader.reading.reads_first
        self.top = f"h_{reader.inner.settings.layers - 1}"  # the query of attention before a step

    def state(self) -> dict[str, list[str | int]]:
        last: dict[str, list[str | int]] = {"last": ["B", self.reader.width]} if self.reader.queries_with_output else {}
        return {**self.inner.state(), **last}

    def memory(self) -> dict[str, list[str | int]]:
        attention = self.reader.attention
        if attention is None:
            return {}
        memory: dict[str, list[str | int]] = {"memory_length": ["B"], "memory_values": ["B", "M", attention.width]}
        if attention.held > attention.width:
            memory["memory_keys"] = ["B", "M", attention.held - attention.width]
        return memory

    def encode_memory(self, g: Graph, values_BMH: Value, lengths_B: Value, summary_BH: Value) -> tuple[States, States]:
        """The start states that are not zero, and the encoded source."""
        starts: list[Any] = list(self.reader.starts)
        vectors = [name for name in self.inner.state() if name[:2] in ("h_", "c_")]
        if len(vectors) != len(starts):
            raise UsageError(f"{type(self.reader.inner).__name__} cannot be exported to ONNX as a decoder.")
        start = {
            name: g.linear(summary_BH, linear.weight, linear.bias).tanh()
            for name, linear in zip(vectors, starts, strict=True)
        }
        attention = self.reader.attention
        if attention is None:
            return start, {}
        fit = attention.fit
        values_BMC = values_BMH if fit is None else g.linear(values_BMH, fit.weight, fit.bias)
        memory = {"memory_length": lengths_B, "memory_values": values_BMC}
        if "memory_keys" in self.memory():
            memory["memory_keys"] = project_queries_or_keys(g, attention.score, values_BMC, keys=True)
        return start, memory

    def step(self, g: Graph, x_BD: Value, state: States) -> tuple[Value, States]:
        context_BC = None
        if self.first:
            query_BH = state["last"] if "last" in state else state[self.top]
            context_BC = self._read(g, query_BH.unsqueeze(1), state).squeeze(1)
            x_BD = g.join([x_BD, context_BC], 1)
        y_BH, after = self.inner.step(g, x_BD, state)
        after |= {"last": y_BH} if "last" in state else {}
        if self.reader.attention is None:
            return y_BH, after
        if context_BC is None:
            context_BC = self._read(g, y_BH.unsqueeze(1), state).squeeze(1)
        return self._joined(g, context_BC, y_BH), after

    def sequence(self, g: Graph, x_BTD: Value, lengths_B: Value | None, start: States | None = None) -> Value:
        if self.first:
            raise UsageError("task.attends=before goes token by token: there is no graph of whole targets.")
        assert start is not None
        y_BTH = self.inner.sequence(g, x_BTD, lengths_B, start)
        return y_BTH if self.reader.attention is None else self._joined(g, self._read(g, y_BTH, start), y_BTH)

    def _read(self, g: Graph, query_BTH: Value, memory: States) -> Value:
        assert self.reader.attention is not None
        score, values_BMC = self.reader.attention.score, memory["memory_values"]
        query_BTH = project_queries_or_keys(g, score, query_BTH, keys=False)
        scores_BTM = attention_scores(g, score, query_BTH, memory.get("memory_keys", values_BMC))
        visible_B1M = padding_mask(g, values_BMC, memory["memory_length"]).unsqueeze(1)
        return mask_scores(g, scores_BTM, visible_B1M).softmax() @ values_BMC

    def _joined(self, g: Graph, context: Value, y: Value) -> Value:
        assert self.reader.join is not None
        return g.linear(g.join([context, y], -1), self.reader.join.weight).tanh()


def decoder_of(model: Any) -> Any:
    return (
        AttentionDecoderOnnx(model.decoder)
        if isinstance(model.decoder, AttentionDecoder)
        else onnx_backbone_of(model.decoder)
    )


def encoder_graph(model: Any) -> onnx.ModelProto:
    """source_BM and source_lengths_B to the encoded source and the start states that are not zero."""
    g, decoder = Graph("encoder"), decoder_of(model)
    start, memory = _encode_source(g, model, decoder)
    shapes = {**decoder.state(), **decoder.memory()}
    for name, value in {**start, **memory}.items():
        g.output(name, value, shapes[name], integer=name in INTEGER_INPUTS)
    return g.build()


def target_step_graph(model: Any) -> onnx.ModelProto:
    """token_B, the state and the encoded source to logits_BV and the next state, each tensor as `<name>_next`."""
    g, decoder = Graph("step"), decoder_of(model)
    token_B = g.input("token", ["B"], integer=True)
    shapes = decoder.state()
    given = {
        name: g.input(name, shape, integer=name in INTEGER_INPUTS)
        for name, shape in {**shapes, **decoder.memory()}.items()
    }
    y_BH, after = decoder.step(g, _embed_target(g, model, token_B), given)
    g.output("logits", output_logits(g, model, y_BH), ["B", model.vocab_size])
    for name, shape in shapes.items():
        g.output(
            f"{name}_next",
            after[name],
            ["S_next" if axis == "S" else axis for axis in shape],
            integer=name in INTEGER_INPUTS,
        )
    return g.build()


def target_graph(model: Any) -> onnx.ModelProto:
    """source_BM, source_lengths_B and tokens_BT of the target to logits_BTV."""
    g, decoder = Graph("sequence"), decoder_of(model)
    start, memory = _encode_source(g, model, decoder)
    tokens_BT = g.input("tokens", ["B", "T"], integer=True)
    y_BTH = decoder.sequence(g, _embed_target(g, model, tokens_BT), None, {**start, **memory})
    g.output("logits", output_logits(g, model, y_BTH), ["B", "T", model.vocab_size])
    return g.build()


def _encode_source(g: Graph, model: Any, decoder: Any) -> tuple[States, States]:
    source_BM = g.input("source", ["B", "M"], integer=True)
    lengths_B = g.input("source_lengths", ["B"], integer=True)
    x_BMD = embed(g, model.source_embedding.weight, source_BM) * float(model.embedding_scale)
    encoder = onnx_backbone_of(model.backbone)
    y_BMH = encoder.sequence(g, x_BMD, lengths_B)
    return decoder.encode_memory(g, y_BMH, lengths_B, encoder.summary(g, y_BMH, lengths_B))


def _embed_target(g: Graph, model: Any, tokens: Value) -> Value:
    return embed(g, model.embedding.weight, tokens) * float(model.embedding_scale)
