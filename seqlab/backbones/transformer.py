"""The Transformer (Vaswani et al. 2017), decoder only.

A stack of blocks, each attention and a feed-forward layer with residual paths and norms before or after. The decoder
keeps the keys and values of what it has read; past its context a query sees itself and the `context` - 1 before it.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, gelu, relu, silu

from seqlab.attention.memory import keep_last
from seqlab.attention.multihead import MultiHead
from seqlab.attention.positions import make_positions
from seqlab.attention.ranges import Ranges, causal
from seqlab.backbones.transformer_settings import TransformerSettings
from seqlab.contracts import Backbone, Memory, State, Trace
from seqlab.errors import UsageError

KeysValues = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class TransformerState(State):
    """Keys and values of each layer; a row holds its last min(length, context) ones."""

    layers: tuple[KeysValues, ...]


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
    """x + f(norm(x)) for attention, then for the feed-forward layer; or norm(x + f(x))."""

    def __init__(self, settings: TransformerSettings):
        super().__init__()
        self.settings = settings
        self.attention = MultiHead(settings.hidden, settings.heads, settings.dropout)
        self.feedforward = FeedForward(settings)
        self.norms = nn.ModuleList(make_norm(settings) for _ in range(2))

    def around(self, index: int, x_BTD: Tensor, sublayer):
        """A sublayer with its residual path and norm; `sublayer` may return more than its output."""
        before = self.settings.norm_place == "before"
        y_BTD, more = sublayer(self.norms[index](x_BTD) if before else x_BTD)
        summed_BTD = x_BTD + self.drop(y_BTD)
        return (summed_BTD if before else self.norms[index](summed_BTD)), more

    def drop(self, x: Tensor) -> Tensor:
        return dropout(x, self.settings.dropout, self.training) if self.settings.dropout else x

    def forward(self, x_BTD: Tensor, attend) -> tuple[Tensor, KeysValues]:
        x_BTD, kept = self.around(0, x_BTD, attend)
        x_BTD, _ = self.around(1, x_BTD, lambda y_BTD: (self.feedforward(y_BTD), None))
        return x_BTD, kept


class Stack(nn.Module):
    """Positions, blocks and the final norm."""

    def __init__(self, settings: TransformerSettings, inputs: int):
        super().__init__()
        self.settings = settings
        self.enter = nn.Linear(inputs, settings.hidden) if inputs != settings.hidden else None
        self.positions = make_positions(settings.positions, settings.context, settings.hidden)
        self.blocks = nn.ModuleList(Block(settings) for _ in range(settings.layers))
        self.last = make_norm(settings) if settings.norm_place == "before" else None

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
    ) -> tuple[Tensor, list[KeysValues]]:
        trace = trace or (Trace() if self.settings.form == "plain" else None)
        turns = self.positions.turns(position_BT, self.settings.hidden // self.settings.heads, x_BTD.dtype)
        kept: list[KeysValues] = []
        for layer, block in enumerate(self.blocks):
            assert isinstance(block, Block)
            within = trace.within(f"blocks.{layer}") if trace else None

            def attend(y_BTD: Tensor, block: Block = block, layer: int = layer, within: Trace | None = within):
                return block.attention(y_BTD, self.positions, turns, held[layer], held_B, ranges, within)

            x_BTD, keys_values = block(x_BTD, attend)
            kept.append(keys_values)
        return (x_BTD if self.last is None else self.last(x_BTD)), kept

    def flops(self, seen: int) -> int:
        """Two for each weight of a matrix product, and for each product of scores and weights with `seen` keys."""
        weights = [m.weight.numel() for m in self.modules() if isinstance(m, nn.Linear)]
        return 2 * sum(weights) + 4 * seen * self.settings.hidden * self.settings.layers


class Transformer(Backbone):
    """Decoder only: every position sees itself and what came before."""

    Settings = TransformerSettings
    fast = "torch's attention kernel, all positions at once"
    causal = True

    def __init__(self, settings: TransformerSettings, inputs: int):
        super().__init__()
        self.settings = settings
        self.width = settings.hidden
        self.context = settings.context
        self.stack = Stack(settings, inputs)

    @property
    def limit(self) -> int | None:
        return self.stack.positions.limit

    def start(self, batch: int, memory: Memory | None = None) -> TransformerState:
        assert memory is None, "a decoder-only Transformer reads no memory"
        weight = next(self.parameters())
        nothing = weight.new_zeros(batch, 0, self.settings.hidden)
        lengths_B = torch.zeros(batch, dtype=torch.long, device=weight.device)
        return TransformerState(lengths_B, ((nothing, nothing),) * self.settings.layers)

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
        y_BTD, kept = self.stack(embedded_BTD, position_BT, before.layers, None if fresh else held_B, ranges, trace)
        new_B = torch.full_like(held_B, T) if mask_BT is None else mask_BT.sum(1)
        trimmed = tuple(
            (keep_last(keys, held_B + new_B, context), keep_last(values, held_B + new_B, context))
            for keys, values in kept
        )
        return y_BTD, TransformerState(before.lengths_B + new_B, trimmed)

    def state_bytes(self, length: int) -> int:
        size = next(self.parameters()).element_size()
        return min(length, self.settings.context) * 2 * self.settings.layers * self.settings.hidden * size

    def flops_per_token(self, length: int) -> int:
        return self.stack.flops(min(length, self.settings.context))
