"""Translators as ONNX graphs: the encoder, one decoding step, and a whole target."""

from typing import Any

import onnx

from seqlab.backbones.attention_decoder import AttentionDecoder
from seqlab.errors import UsageError
from seqlab.exporters.onnx.attention import attend, project_keys
from seqlab.exporters.onnx.backbone import OnnxBackbone, Shapes, States, onnx_backbone_of, padding_mask
from seqlab.exporters.onnx.graph import Graph, Value
from seqlab.exporters.onnx.language import INTEGER_TENSORS, build_step_graph, embed, embed_tokens, output_logits


class AttentionDecoderOnnx(OnnxBackbone):
    """A causal backbone with attention over a source; equations in backbones/attention_decoder.py."""

    def __init__(self, decoder: AttentionDecoder):
        super().__init__(decoder)
        self.decoder, self.inner = decoder, onnx_backbone_of(decoder.inner)
        self.reads_first = decoder.reading.reads_first
        self.top = f"h_{decoder.inner.settings.layers - 1}"  # the query of attention before a step

    def state(self) -> Shapes:
        last: Shapes = {"last": ["B", self.decoder.width]} if self.decoder.queries_with_output else {}
        return {**self.inner.state(), **last}

    def memory(self) -> Shapes:
        attention = self.decoder.attention
        if attention is None:
            return {}
        memory: Shapes = {"memory_length": ["B"], "memory_values": ["B", "M", attention.width]}
        if attention.held > attention.width:
            memory["memory_keys"] = ["B", "M", attention.held - attention.width]
        return memory

    def encode_memory(self, g: Graph, values_BMH: Value, lengths_B: Value, summary_BH: Value) -> tuple[States, States]:
        """The start states that are not zero, and the encoded source."""
        starts: list[Any] = list(self.decoder.starts)
        vectors = [name for name in self.inner.state() if name[:2] in ("h_", "c_")]
        if len(vectors) != len(starts):
            raise UsageError(f"{type(self.decoder.inner).__name__} cannot be exported to ONNX as a decoder.")
        start = {name: g.linear(summary_BH, linear).tanh() for name, linear in zip(vectors, starts, strict=True)}
        attention = self.decoder.attention
        if attention is None:
            return start, {}
        values_BMC = values_BMH if attention.fit is None else g.linear(values_BMH, attention.fit)
        memory = {"memory_length": lengths_B, "memory_values": values_BMC}
        if "memory_keys" in self.memory():
            memory["memory_keys"] = project_keys(g, attention.score, values_BMC)
        return start, memory

    def step(self, g: Graph, x_BD: Value, state: States) -> tuple[Value, States]:
        context_BC = None
        if self.reads_first:
            query_BH = state["last"] if "last" in state else state[self.top]
            context_BC = self._read(g, query_BH.unsqueeze(1), state).squeeze(1)
            x_BD = g.join([x_BD, context_BC], 1)
        y_BH, after = self.inner.step(g, x_BD, state)
        after |= {"last": y_BH} if "last" in state else {}
        if self.decoder.attention is None:
            return y_BH, after
        if context_BC is None:
            context_BC = self._read(g, y_BH.unsqueeze(1), state).squeeze(1)
        return self._joined(g, context_BC, y_BH), after

    def sequence(self, g: Graph, x_BTD: Value, lengths_B: Value | None, start: States | None = None) -> Value:
        if self.reads_first:
            raise UsageError("task.attends=before goes token by token: there is no graph of whole targets.")
        assert start is not None
        y_BTH = self.inner.sequence(g, x_BTD, lengths_B, start)
        return y_BTH if self.decoder.attention is None else self._joined(g, self._read(g, y_BTH, start), y_BTH)

    def _read(self, g: Graph, query_BTH: Value, memory: States) -> Value:
        assert self.decoder.attention is not None
        values_BMC = memory["memory_values"]
        visible_B1M = padding_mask(g, values_BMC, memory["memory_length"]).unsqueeze(1)
        keys_BMH = memory.get("memory_keys", values_BMC)
        return attend(g, self.decoder.attention.score, query_BTH, keys_BMH, values_BMC, visible_B1M)

    def _joined(self, g: Graph, context: Value, y: Value) -> Value:
        assert self.decoder.join is not None
        return g.linear(g.join([context, y], -1), self.decoder.join).tanh()


def decoder_of(model: Any) -> Any:
    decoder = model.decoder
    return AttentionDecoderOnnx(decoder) if isinstance(decoder, AttentionDecoder) else onnx_backbone_of(decoder)


def encoder_graph(model: Any) -> onnx.ModelProto:
    """source_BM and source_lengths_B to the encoded source and the start states that are not zero."""
    g, decoder = Graph("encoder"), decoder_of(model)
    start, memory = _encode_source(g, model, decoder)
    shapes = {**decoder.state(), **decoder.memory()}
    for name, value in {**start, **memory}.items():
        g.output(name, value, shapes[name], integer=name in INTEGER_TENSORS)
    return g.build()


def target_step_graph(model: Any) -> onnx.ModelProto:
    """token_B, the state and the encoded source to logits_BV and the next state, each tensor as `<name>_next`."""
    decoder = decoder_of(model)
    return build_step_graph(model, decoder, decoder.memory())


def target_graph(model: Any) -> onnx.ModelProto:
    """source_BM, source_lengths_B and tokens_BT of the target to logits_BTV."""
    g, decoder = Graph("sequence"), decoder_of(model)
    start, memory = _encode_source(g, model, decoder)
    tokens_BT = g.input("tokens", ["B", "T"], integer=True)
    y_BTH = decoder.sequence(g, embed_tokens(g, model, tokens_BT), None, {**start, **memory})
    g.output("logits", output_logits(g, model, y_BTH), ["B", "T", model.vocab_size])
    return g.build()


def _encode_source(g: Graph, model: Any, decoder: Any) -> tuple[States, States]:
    source_BM = g.input("source", ["B", "M"], integer=True)
    lengths_B = g.input("source_lengths", ["B"], integer=True)
    x_BMD = embed(g, model.source_embedding.weight, source_BM) * float(model.embedding_scale)
    encoder = onnx_backbone_of(model.backbone)
    y_BMH = encoder.sequence(g, x_BMD, lengths_B)
    return decoder.encode_memory(g, y_BMH, lengths_B, encoder.summary(g, y_BMH, lengths_B))
