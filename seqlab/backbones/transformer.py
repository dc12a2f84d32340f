"""The Transformer (Vaswani et al. 2017): the decoder, alone or reading a source.

A stack of blocks, each attention and a feed-forward layer with residual paths and norms before or after; one that
reads a source has attention over its memory between the two. The decoder keeps the keys and values of what it has
read; past its context a query sees itself and the `context` - 1 before it, and always the whole of the memory.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, gelu, relu, silu

from seqlab.attention.kv_cache import keep_last
from seqlab.attention.masks import Ranges, causal
from seqlab.attention.multihead import CrossAttention, MultiHead
from seqlab.attention.positions import make_positions
from seqlab.backbones.transformer_settings import TransformerSettings
from seqlab.contracts import Backbone, Memory, State, TensorTree, Trace
from seqlab.errors import UsageError

KeysValues = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Projected(TensorTree):
    """A memory as the layers read it: keys and values of each, and which positions are kept."""

    layers: tuple[KeysValues, ...]
    mask_BS: Tensor


@dataclass(frozen=True)
class TransformerState(State):
    """Keys and values of each layer, of which a row holds its last min(length, context) ones; and of a memory."""

    layers: tuple[KeysValues, ...]
    memory: Projected | None = None


class FeedForward(nn.Module):
    """W₂ f(W₁ x), or with SwiGLU W₂ (silu(W₁ x) ⊙ W₃ x) (Shazeer 2020)"""

    def __init__(self, settings: TransformerSettings):
        super().__init__()
        gated = settings.activation == "swiglu"
        self.activation = settings.activation
        self.up = nn.Linear(settings.hidden, settings.inner * (2 if gated else 1))
        self.down = nn.Linear(settings.inner, settings.hidden)

    def forward(self, x_BTD: Tensor) -> Tensor:
        up = self.up(x_BTD)
        if self.activation == "swiglu":
            gate, value = up.chunk(2, dim=-1)
            return self.down(silu(gate) * value)
        return self.down(relu(up) if self.activation == "relu" else gelu(up))


def make_norm(settings: TransformerSettings) -> nn.Module:
    return nn.LayerNorm(settings.hidden) if settings.norm == "layer" else nn.RMSNorm(settings.hidden, eps=1e-6)


class Block(nn.Module):
    """x + f(norm(x)) for attention, for attention over a memory, for the feed-forward layer; or norm(x + f(x))."""

    def __init__(self, settings: TransformerSettings, memory: int | None = None):
        super().__init__()
        self.settings = settings
        self.attention = MultiHead(settings.hidden, settings.heads, settings.dropout)
        self.feedforward = FeedForward(settings)
        self.norms = nn.ModuleList(make_norm(settings) for _ in range(2))
        self.cross = self.cross_norm = None
        if memory is not None:
            self.cross = CrossAttention(settings.hidden, memory, settings.heads, settings.dropout)
            self.cross_norm = make_norm(settings)

    def around(self, norm: nn.Module, x_BTD: Tensor, sublayer):
        """A sublayer with its residual path and norm; `sublayer` may return more than its output."""
        before = self.settings.norm_position == "before"
        y_BTD, more = sublayer(norm(x_BTD) if before else x_BTD)
        summed_BTD = x_BTD + self.drop(y_BTD)
        return (summed_BTD if before else norm(summed_BTD)), more

    def drop(self, x: Tensor) -> Tensor:
        return dropout(x, self.settings.dropout, self.training) if self.settings.dropout else x

    def forward(self, x_BTD: Tensor, attend, read) -> tuple[Tensor, KeysValues]:
        x_BTD, kept = self.around(self.norms[0], x_BTD, attend)
        if self.cross_norm is not None:
            x_BTD, _ = self.around(self.cross_norm, x_BTD, lambda y_BTD: (read(y_BTD), None))
        x_BTD, _ = self.around(self.norms[1], x_BTD, lambda y_BTD: (self.feedforward(y_BTD), None))
        return x_BTD, kept


class Stack(nn.Module):
    """Positions, blocks and the final norm."""

    def __init__(self, settings: TransformerSettings, inputs: int, memory: int | None = None):
        super().__init__()
        self.settings = settings
        self.enter = nn.Linear(inputs, settings.hidden) if inputs != settings.hidden else None
        self.positions = make_positions(settings.positions, settings.context, settings.hidden)
        self.blocks = nn.ModuleList(Block(settings, memory) for _ in range(settings.layers))
        self.last = make_norm(settings) if settings.norm_position == "before" else None

    def embed(self, x_BTD: Tensor, position_BT: Tensor) -> Tensor:
        limit = self.positions.limit
        if limit is not None and int(position_BT.max()) >= limit:
            raise UsageError(f"learned positions end at {limit}: the text is longer. Use rotary positions.")
        x_BTD = x_BTD if self.enter is None else self.enter(x_BTD)
        x_BTD = x_BTD * math.sqrt(self.settings.hidden) if self.settings.scale_input else x_BTD
        return self.positions.place(x_BTD, position_BT)

    def forward(
        self,
        x_BTD: Tensor,
        position_BT: Tensor,
        held: tuple[KeysValues, ...],
        held_B: Tensor | None,
        ranges: Ranges | None,
        trace: Trace | None,
        memory: Projected | None = None,
    ) -> tuple[Tensor, list[KeysValues]]:
        trace = trace or (Trace() if self.settings.implementation == "plain" else None)
        turns = self.positions.turns(position_BT, self.settings.hidden // self.settings.heads, x_BTD.dtype)
        kept: list[KeysValues] = []
        for layer, block in enumerate(self.blocks):
            assert isinstance(block, Block)
            within = trace.within(f"blocks.{layer}") if trace else None

            def attend(y_BTD: Tensor, block: Block = block, layer: int = layer, within: Trace | None = within):
                return block.attention(y_BTD, self.positions, turns, held[layer], held_B, ranges, within)

            def read(y_BTD: Tensor, block: Block = block, layer: int = layer, within: Trace | None = within):
                assert block.cross is not None and memory is not None
                return block.cross(y_BTD, memory.layers[layer], memory.mask_BS, within and within.within("cross"))

            x_BTD, keys_values = block(x_BTD, attend, read)
            kept.append(keys_values)
        return (x_BTD if self.last is None else self.last(x_BTD)), kept

    def project(self, memory: Memory) -> Projected:
        """Keys and values of a memory for every layer."""
        layers: list[KeysValues] = []
        for block in self.blocks:
            assert isinstance(block, Block) and block.cross is not None
            layers.append(block.cross.project(memory.values_BSH, memory.mask_BS))
        return Projected(tuple(layers), memory.mask_BS)

    def flops(self, seen: int, source: int = 0) -> int:
        """Two for each weight of a matrix product, and for each product of scores and weights with `seen` keys and
        those of the source, whose own projections are no part of this: they are made once."""
        once = [module.into for module in self.modules() if isinstance(module, CrossAttention)]
        weights = [m.weight.numel() for m in self.modules() if isinstance(m, nn.Linear) and m not in once]
        return 2 * sum(weights) + 4 * (seen + source) * self.settings.hidden * self.settings.layers


class Transformer(Backbone):
    """Every position sees itself and what came before; with `memory`, the width of a source's vectors, all of these."""

    Settings = TransformerSettings
    fast = "torch's attention kernel, all positions at once"
    compiled_engine = "seqlab.decode.engines.transformer:TransformerEngine"
    onnx_backbone = "seqlab.exporters.onnx.transformer:TransformerOnnx"
    settings: TransformerSettings

    def __init__(self, settings: TransformerSettings, inputs: int, memory: int | None = None):
        super().__init__(settings, inputs)
        self.reads_memory = memory is not None
        self.stack = Stack(settings, inputs, memory)

    @property
    def limit(self) -> int | None:
        return self.stack.positions.limit

    def start(self, batch: int, memory: Memory | None = None) -> TransformerState:
        assert (memory is not None) == self.reads_memory, "a decoder starts from a memory if and only if it reads one"
        weight = next(self.parameters())
        nothing = weight.new_zeros(batch, 0, self.settings.hidden)
        lengths_B = torch.zeros(batch, dtype=torch.long, device=weight.device)
        projected = None if memory is None else self.stack.project(memory)
        return TransformerState(lengths_B, ((nothing, nothing),) * self.settings.layers, projected)

    def forward(
        self,
        x_BTD: Tensor,
        state: State | None = None,
        mask_BT: Tensor | None = None,
        trace: Trace | None = None,
    ) -> tuple[Tensor, TransformerState]:
        B, T = x_BTD.shape[:2]
        before = state if state is not None else self.start(B)
        assert isinstance(before, TransformerState)
        context = self.settings.context
        fresh = before.layers[0][0].shape[1] == 0
        position_BT = torch.arange(T, device=x_BTD.device)[None]  # one row for all while they are the same
        if not fresh:
            position_BT = before.lengths_B[:, None] + position_BT
        held_B = before.lengths_B.clamp(max=context)
        ranges = None if fresh and context >= T else causal(held_B, T, context)
        embedded_BTD = self.stack.embed(x_BTD, position_BT)
        past_B = None if fresh else held_B
        y_BTD, kept = self.stack(embedded_BTD, position_BT, before.layers, past_B, ranges, trace, before.memory)
        new_B = torch.full_like(held_B, T) if mask_BT is None else mask_BT.sum(1)
        trimmed = tuple(
            (keep_last(keys, held_B + new_B, context), keep_last(values, held_B + new_B, context))
            for keys, values in kept
        )
        return y_BTD, TransformerState(before.lengths_B + new_B, trimmed, before.memory)

    def state_bytes(self, length: int) -> int:
        return min(length, self.settings.context) * self._position_bytes

    def memory_bytes(self, length: int) -> int:
        """What a source of `length` positions adds to the state: its keys and values, and the mask."""
        return length * (self._position_bytes + 1) if self.reads_memory else 0

    @property
    def _position_bytes(self) -> int:
        return 2 * self.settings.layers * self.settings.hidden * next(self.parameters()).element_size()

    def flops_per_token(self, length: int) -> int:
        """With a memory, of a source as long as the sequence."""
        return self.stack.flops(min(length, self.settings.context), length if self.reads_memory else 0)
