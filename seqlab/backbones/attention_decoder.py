"""Any causal backbone as a decoder: its state starts from the source's summary, and it attends to the source.

Attention after each step follows Luong et al. (2015), attention before it Bahdanau et al. (2014). Without attention it
is the encoder-decoder of Sutskever et al. (2014): all information about the source passes through one vector.
"""

from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

import torch
from torch import Tensor, nn

from seqlab.attention.fast import attend_fast
from seqlab.attention.masks import everything
from seqlab.attention.plain import attend
from seqlab.attention.scores import Additive, make_score
from seqlab.backbones.attention_decoder_settings import AttentionDecoderSettings
from seqlab.config import BackboneSettings
from seqlab.contracts import Backbone, Memory, Recorded, State, TensorTree, Trace, record
from seqlab.linear import Linear
from seqlab.precision import full
from seqlab.tracing import prefixed

JOINED = Recorded("state", "tanh(W [c; y]), what it passes on")


@dataclass(frozen=True)
class EncodedSource(TensorTree):
    """A memory as attention reads it. Without separate keys, the values are the keys."""

    values_BSC: Tensor
    keys_BSH: Tensor | None
    mask_BS: Tensor


@dataclass(frozen=True)
class AttentionDecoderState(State):
    """The inner state, the encoded source, and the last output if it is the query."""

    inner: State
    source: EncodedSource | None
    last_BH: Tensor | None


class SourceAttention(nn.Module):
    """c_t = Σ_s softmax_s(score(q_t, key_s)) value_s, over the kept positions of each row"""

    records: ClassVar = {
        "scores": Recorded("scores", "score(q, key), how well each source position matches"),
        "weights": Recorded("source attention", "softmax of the scores: where it looks in the source"),
        "context": Recorded("state", "c, the source, weighted"),
    }

    def __init__(self, settings: AttentionDecoderSettings, inner: BackboneSettings, memory: int):
        super().__init__()
        query, self.width = settings.query_width(inner), settings.context_width(inner, memory)
        self.score = make_score(settings.attention, query, memory, inner.hidden)
        self.fit = Linear(memory, self.width) if self.width != memory else None
        self.plain = inner.plain

    def encode(self, memory: Memory) -> EncodedSource:
        """Keys and values, computed once per source; zeros at padding."""
        padding_BS1 = ~memory.mask_BS[:, :, None]
        values_BSC = memory.values_BSH if self.fit is None else self.fit(memory.values_BSH)
        keys_BSH = None
        if isinstance(self.score, Additive):
            keys_BSH = self.score.project_keys(values_BSC).masked_fill(padding_BS1, 0.0)
        return EncodedSource(values_BSC.masked_fill(padding_BS1, 0.0), keys_BSH, memory.mask_BS)

    def forward(self, query_BTH: Tensor, source: EncodedSource, trace: Trace | None) -> Tensor:
        q_BTH = self.score.project_queries(query_BTH)
        keys_BSH = source.values_BSC if source.keys_BSH is None else source.keys_BSH
        T = q_BTH.shape[1]
        if trace is None and not self.plain and T > 1:  # kernels gain nothing for a single query
            ranges = everything(source.mask_BS.sum(1), T)
            return attend_fast(self.score, q_BTH, keys_BSH, source.values_BSC, ranges)
        scores_BTS = self.score.of_projected(q_BTH, keys_BSH)
        attended = attend(scores_BTS, source.values_BSC, source.mask_BS[:, None], trace)
        return record(trace, "context", attended.output_BTD)

    @property
    def held(self) -> int:
        """Numbers that one source position adds to the state: its value, and its key if there is one."""
        return self.width + (len(self.score.v_H) if isinstance(self.score, Additive) else 0)

    def flops(self, length: int) -> int:
        """For one query: its projection, and scores and weighted sum over a source of `length` positions."""
        if isinstance(self.score, Additive):
            return 2 * self.score.from_query.weight.numel() + 2 * length * self.held
        return 4 * length * self.width


class AttentionDecoder(Backbone):
    """
    s_0 = tanh(W_i summary + b_i)                                              each vector of the inner start state
    y_t, s_t = inner(x_t, s_{t-1}), c_t = attention(y_t, memory)               attention after each step
    c_t = attention(s_{t-1}, memory), y_t, s_t = inner([x_t; c_t], s_{t-1})    or before it
    the output is tanh(W [c_t; y_t]); without attention, y_t
    """

    reads_memory = True

    def __init__(
        self,
        settings: AttentionDecoderSettings,
        inner: type[Backbone],
        inner_settings: BackboneSettings,
        inputs: int,
        memory: int,
    ):
        super().__init__(inner_settings, inputs)
        settings.refuse_unfit(inner_settings)
        self.reading = settings
        inner_inputs = settings.inner_inputs(inner_settings, inputs, memory)
        self.inner = inner(inner_settings, inner_inputs)
        self.carries = self.inner.carries
        self.queries_with_output = settings.reads_first and not inner_settings.state_query
        shapes = inner_settings.start_shapes(inner_inputs)
        self.starts = nn.ModuleList(Linear(memory, prod(shape)) for shape in shapes)
        self.attention = self.join = None
        if settings.attention != "none":
            self.attention = SourceAttention(settings, inner_settings, memory)
            self.join = Linear(self.attention.width + self.width, self.width, bias=False)

    @property
    def records(self) -> dict[str, Recorded]:
        if self.attention is None:
            return dict(self.inner.records)
        return {**self.inner.records, **prefixed("source", {**self.attention.records, "joined": JOINED})}

    @property
    def limit(self) -> int | None:
        return self.inner.limit

    @property
    def implementation(self) -> str:
        if self.attention is None or self.attention.plain:
            return self.inner.implementation
        if self.reading.reads_first:
            return "position by position, each after attention over the source"
        kernel = "our compiled attention" if isinstance(self.attention.score, Additive) else "torch's attention kernel"
        return f"{self.inner.implementation}, then {kernel} over the source"

    def start(self, batch: int, memory: Memory | None = None) -> AttentionDecoderState:
        assert memory is not None, "an AttentionDecoder starts from a memory"
        inner = self.inner.start(batch)
        if len(self.starts):
            starts = (torch.tanh(full(linear(memory.summary_BH))) for linear in self.starts)
            inner = inner.map(lambda leaf: next(starts).view_as(leaf) if is_started(leaf) else leaf)
        source = None if self.attention is None else self.attention.encode(memory)
        last_BH = memory.summary_BH.new_zeros(batch, self.width) if self.queries_with_output else None
        return AttentionDecoderState(inner.lengths_B, inner, source, last_BH)

    def forward(
        self, x_BTD: Tensor, state: State | None = None, mask_BT: Tensor | None = None, trace: Trace | None = None
    ) -> tuple[Tensor, AttentionDecoderState]:
        assert isinstance(state, AttentionDecoderState), "an AttentionDecoder needs the state of `start(batch, memory)`"
        if self.reading.reads_first:
            return self._one_by_one(x_BTD, state, mask_BT, trace)
        y_BTH, inner = self.inner(x_BTD, state.inner, mask_BT, trace)
        if self.attention is not None:
            y_BTH = self._joined(self._read(y_BTH, state, trace), y_BTH, trace)
        return y_BTH, replace(state, lengths_B=inner.lengths_B, inner=inner)

    def step(
        self, x_BD: Tensor, state: AttentionDecoderState, trace: Trace | None = None
    ) -> tuple[Tensor, AttentionDecoderState]:
        context_B1C = None
        if self.reading.reads_first:
            query_BH = self.inner.query(state.inner) if state.last_BH is None else state.last_BH
            assert query_BH is not None
            context_B1C = self._read(query_BH[:, None], state, trace)
            x_BD = torch.cat([x_BD, context_B1C[:, 0]], dim=1)
        y_BH, inner = self.inner.step(x_BD, state.inner, trace)
        last_BH = None if state.last_BH is None else y_BH
        after = AttentionDecoderState(inner.lengths_B, inner, state.source, last_BH)
        if self.attention is None:
            return y_BH, after
        if context_B1C is None:
            context_B1C = self._read(y_BH[:, None], state, trace)
        return self._joined(context_B1C[:, 0], y_BH, trace and trace.step(0)), after

    def _one_by_one(
        self, x_BTD: Tensor, state: AttentionDecoderState, mask_BT: Tensor | None, trace: Trace | None
    ) -> tuple[Tensor, AttentionDecoderState]:
        """Position by position, because each query depends on the previous step."""
        outputs: list[Tensor] = []
        for t in range(x_BTD.shape[1]):
            y_BH, after = self.step(x_BTD[:, t], state, trace and trace.at(t))
            kept_B = None if mask_BT is None else mask_BT[:, t]
            state = after if kept_B is None or bool(kept_B.all()) else select_state(kept_B, after, state)
            outputs.append(y_BH)
        return torch.stack(outputs, dim=1), state

    def _read(self, query_BTH: Tensor, state: AttentionDecoderState, trace: Trace | None) -> Tensor:
        assert self.attention is not None and state.source is not None
        return self.attention(query_BTH, state.source, trace and trace.within("source"))

    def _joined(self, context: Tensor, y: Tensor, trace: Trace | None) -> Tensor:
        assert self.join is not None
        return record(trace, "source.joined", torch.tanh(full(self.join(torch.cat([context, y], dim=-1)))))

    def state_bytes(self, length: int) -> int:
        last = self.width * self._number if self.queries_with_output else 0
        return self.inner.state_bytes(length) + last

    def memory_bytes(self, length: int) -> int:
        """Values, keys, and the mask."""
        return 0 if self.attention is None else length * (self.attention.held * self._number + 1)

    @property
    def _number(self) -> int:
        return next(self.parameters()).element_size()

    def flops_per_token(self, length: int) -> int:
        """For a source as long as the sequence, without `start`, which runs once per source."""
        reading = 0
        if self.attention is not None and self.join is not None:
            reading = self.attention.flops(length) + 2 * self.join.weight.numel()
        return self.inner.flops_per_token(length) + reading


def is_started(leaf: Tensor) -> bool:
    """Whether a tensor of a start state is computed from the summary: see `BackboneSettings.start_shapes`."""
    return leaf.is_floating_point() and leaf.shape[1:].numel() > 0


def select_state(kept_B: Tensor, after: AttentionDecoderState, before: AttentionDecoderState) -> AttentionDecoderState:
    """The state after a step in rows that the mask keeps, the state before it in the others."""
    row_B = torch.arange(len(kept_B), device=kept_B.device)
    both = AttentionDecoderState.concat([replace(after, source=None), replace(before, source=None)])
    return replace(both.select(torch.where(kept_B, row_B, row_B + len(kept_B))), source=after.source)


def make_memory(encoder: Backbone, outputs_BSH: Tensor, mask_BS: Tensor | None = None) -> Memory:
    """An encoder's output as a decoder reads it."""
    if mask_BS is None:
        mask_BS = torch.ones(outputs_BSH.shape[:2], dtype=torch.bool, device=outputs_BSH.device)
    return Memory(outputs_BSH, mask_BS, encoder.summarize(outputs_BSH, mask_BS))
