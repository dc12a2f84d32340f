"""The Transformer decoder (Vaswani et al. 2017), with or without cross-attention to a source.

A block is self-attention and a feed-forward layer, with cross-attention between them if there is a source; each has a
residual connection and a norm before or after it. The KV cache holds the last `context` positions: a query sees itself
and the `context` - 1 positions before it, and always the whole source.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, relu, silu

from seqlab.attention.kv_cache import keep_last
from seqlab.attention.masks import Ranges, causal
from seqlab.attention.multihead import CrossAttention, KeysValues, MultiHead
from seqlab.attention.positions import make_positions
from seqlab.backbones.transformer_settings import TransformerSettings
from seqlab.contracts import Backbone, Memory, Recorded, State, TensorTree, Trace, record
from seqlab.dropout import add_dropped
from seqlab.errors import UsageError
from seqlab.linear import Linear
from seqlab.precision import full
from seqlab.recomputation import call_layer
from seqlab.tracing import prefixed


@dataclass(frozen=True)
class ProjectedMemory(TensorTree):
    """A memory as cross-attention reads it: keys and values for each layer, and the mask."""

    layers: tuple[KeysValues, ...]
    mask_BS: Tensor


@dataclass(frozen=True)
class TransformerState(State):
    """The KV cache: for each layer, keys and values of a row's last min(length, context) positions; and the memory."""

    layers: tuple[KeysValues, ...]
    memory: ProjectedMemory | None = None


class FeedForward(nn.Module):
    """W₂ f(W₁ x), or with SwiGLU W₂ (silu(W₁ x) ⊙ W₃ x) (Shazeer 2020)"""

    def __init__(self, settings: TransformerSettings):
        super().__init__()
        gated = settings.activation == "swiglu"
        self.activation = settings.activation
        self.matrix_blocks = {"up.weight": 2 if gated else 1}
        self.up = Linear(settings.hidden, settings.inner * (2 if gated else 1))
        self.down = Linear(settings.inner, settings.hidden)

    def forward(self, x_BTD: Tensor) -> Tensor:
        up = self.up(x_BTD)
        if self.activation == "swiglu":
            gate, value = up.chunk(2, dim=-1)
            return self.down(silu(gate) * value)
        if self.activation == "relu2":  # So et al. 2021
            return self.down(relu(up).square())
        return self.down(relu(up) if self.activation == "relu" else gelu(up))


def make_norm(settings: TransformerSettings) -> nn.Module:
    return nn.LayerNorm(settings.hidden) if settings.norm == "layer" else nn.RMSNorm(settings.hidden, eps=1e-6)


class Block(nn.Module):
    """x + f(norm(x)), or norm(x + f(x)), for self-attention, cross-attention and the feed-forward layer."""

    def __init__(self, settings: TransformerSettings, memory: int | None = None):
        super().__init__()
        self.settings = settings
        shared = {"heads": settings.heads, "dropout": settings.attention_dropout, "plain": settings.plain}
        self.attention = MultiHead(settings.hidden, **shared, qk_norm=settings.qk_norm)
        self.feedforward = FeedForward(settings)
        self.norms = nn.ModuleList(make_norm(settings) for _ in range(2))
        self.cross = self.cross_norm = None
        if memory is not None:
            self.cross = CrossAttention(settings.hidden, memory, **shared, qk_norm=settings.qk_norm)
            self.cross_norm = make_norm(settings)
        self.init_outputs()

    def init_outputs(self) -> None:
        """With `zero_init`, every sublayer adds nothing at first, and the gradient flows by the residual connection."""
        outputs = [self.attention.out, self.feedforward.down, *([] if self.cross is None else [self.cross.out])]
        for linear in outputs if self.settings.zero_init else []:
            nn.init.zeros_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(
        self,
        x_BTD: Tensor,
        rotate: Callable[[Tensor], Tensor],
        cache: KeysValues | None,
        cached_B: Tensor | None,
        ranges: Ranges | None,
        source: tuple[KeysValues, Tensor] | None,
        trace: Trace | None,
    ) -> tuple[Tensor, KeysValues]:
        """`source`: its keys and values, and its mask. See MultiHead for the other arguments."""
        y_BTD = self._pre_norm(self.norms[0], x_BTD)
        y_BTD, keys_values = self.attention(y_BTD, rotate, cache, cached_B, ranges, trace and trace.within("attention"))
        x_BTD = self._add(self.norms[0], x_BTD, y_BTD)
        if self.cross is not None and self.cross_norm is not None:
            assert source is not None
            y_BTD = self.cross(self._pre_norm(self.cross_norm, x_BTD), *source, trace and trace.within("source"))
            x_BTD = self._add(self.cross_norm, x_BTD, y_BTD)
        y_BTD = self.feedforward(self._pre_norm(self.norms[1], x_BTD))
        return self._add(self.norms[1], x_BTD, y_BTD), keys_values

    def _pre_norm(self, norm: nn.Module, x_BTD: Tensor) -> Tensor:
        return norm(x_BTD) if self.settings.norm_position == "before" else x_BTD

    def _add(self, norm: nn.Module, x_BTD: Tensor, y_BTD: Tensor) -> Tensor:
        """The residual connection, and the norm if it comes after."""
        x_BTD = add_dropped(x_BTD, y_BTD, self.settings.dropout_rate, self.training)
        return x_BTD if self.settings.norm_position == "before" else norm(x_BTD)


class Stack(nn.Module):
    """Positions, blocks and the final norm."""

    def __init__(self, settings: TransformerSettings, inputs: int, memory: int | None = None):
        super().__init__()
        self.settings = settings
        self.enter = Linear(inputs, settings.hidden) if inputs != settings.hidden else None
        self.positions = make_positions(settings.positions, settings.context, settings.hidden)
        self.blocks = nn.ModuleList(Block(settings, memory) for _ in range(settings.layers))
        self.last = make_norm(settings) if settings.norm_position == "before" else None

    @property
    def records(self) -> dict[str, Recorded]:
        records = {"input": Recorded("layer", "the residual stream before layer 1")}
        for number, block in enumerate(self.blocks, 1):
            assert isinstance(block, Block)
            records |= prefixed(f"layer{number}.attention", block.attention.records)
            records |= prefixed(f"layer{number}.source", block.cross.records) if block.cross is not None else {}
            records[f"layer{number}"] = Recorded("layer", f"the residual stream after layer {number}")
        return records

    def embed(self, x_BTD: Tensor, position_BT: Tensor) -> Tensor:
        limit = self.positions.limit
        if limit is not None and int(position_BT.max()) >= limit:
            raise UsageError(
                f"learned positions end at {limit}: the text is longer. Give a shorter one, or use "
                f"a model that was trained with backbone.positions=rotary."
            )
        x_BTD = x_BTD if self.enter is None else full(self.enter(x_BTD))
        x_BTD = x_BTD * math.sqrt(self.settings.hidden) if self.settings.scale_input else x_BTD
        return self.positions.add(x_BTD, position_BT)

    def forward(
        self,
        x_BTD: Tensor,
        position_BT: Tensor,
        cache: tuple[KeysValues, ...] | None,
        cached_B: Tensor | None,
        ranges: Ranges | None,
        trace: Trace | None,
        memory: ProjectedMemory | None = None,
    ) -> tuple[Tensor, list[KeysValues]]:
        """The output, and the old and new keys and values of each layer."""
        head = self.settings.hidden // self.settings.heads
        rotate = partial(self.positions.rotate, rotations=self.positions.rotations(position_BT, head, x_BTD.dtype))
        keys_values: list[KeysValues] = []
        x_BTD = record(trace, "input", x_BTD)
        for layer, block in enumerate(self.blocks):
            source = memory and (memory.layers[layer], memory.mask_BS)
            within = trace and trace.within(f"layer{layer + 1}")
            x_BTD, new = call_layer(block, x_BTD, rotate, cache and cache[layer], cached_B, ranges, source, within)
            x_BTD = record(trace, f"layer{layer + 1}", x_BTD)
            keys_values.append(new)
        return (x_BTD if self.last is None else self.last(x_BTD)), keys_values

    def project(self, memory: Memory) -> ProjectedMemory:
        """The keys and values of a memory for every layer."""
        layers: list[KeysValues] = []
        for block in self.blocks:
            assert isinstance(block, Block) and block.cross is not None
            layers.append(block.cross.project(memory.values_BSH, memory.mask_BS))
        return ProjectedMemory(tuple(layers), memory.mask_BS)

    def flops(self, seen: int, source: int = 0) -> int:
        """Matrix products, and scores and weighted sums over `seen` positions and the source. The projection of the
        source runs once per source, so it does not count."""
        once = [module.into for module in self.modules() if isinstance(module, CrossAttention)]
        weights = [m.weight.numel() for m in self.modules() if isinstance(m, nn.Linear) and m not in once]
        return 2 * sum(weights) + 4 * (seen + source) * self.settings.hidden * self.settings.layers


class Transformer(Backbone):
    """Every position sees itself and earlier positions. With `memory`, the width of a source's vectors, it also attends
    to the source."""

    Settings = TransformerSettings
    fast = "torch's attention kernel, all positions at once"
    compiled_engine = "seqlab.decode.engines.transformer:TransformerEngine"
    onnx_backbone = "seqlab.exporters.onnx.transformer:TransformerOnnx"
    settings: TransformerSettings
    recomputes = True

    def __init__(self, settings: TransformerSettings, inputs: int, memory: int | None = None):
        super().__init__(settings, inputs)
        self.reads_memory = memory is not None
        self.stack = Stack(settings, inputs, memory)

    @property
    def records(self) -> dict[str, Recorded]:
        return self.stack.records

    @property
    def limit(self) -> int | None:
        return self.stack.positions.limit

    def start(self, batch: int, memory: Memory | None = None) -> TransformerState:
        assert (memory is not None) == self.reads_memory, "a decoder starts from a memory if and only if it reads one"
        empty = next(self.parameters()).new_zeros(batch, 0, self.settings.hidden)
        projected = None if memory is None else self.stack.project(memory)
        return TransformerState(self.zero_lengths(batch), ((empty, empty),) * self.settings.layers, projected)

    def forward(
        self, x_BTD: Tensor, state: State | None = None, mask_BT: Tensor | None = None, trace: Trace | None = None
    ) -> tuple[Tensor, TransformerState]:
        B, T = x_BTD.shape[:2]
        before = state if state is not None else self.start(B)
        assert isinstance(before, TransformerState)
        context = self.settings.context
        cache = before.layers if before.layers[0][0].shape[1] else None
        position_BT = torch.arange(T, device=x_BTD.device)[None]  # one row for all sequences while they are the same
        if cache is not None:
            position_BT = before.lengths_B[:, None] + position_BT
        cached_B = before.lengths_B.clamp(max=context)
        ranges = None if cache is None and context >= T else causal(cached_B, T, context)
        x_BTD = self.stack.embed(x_BTD, position_BT)
        y_BTD, keys_values = self.stack(x_BTD, position_BT, cache, cached_B, ranges, trace, before.memory)
        new_B = torch.full_like(cached_B, T) if mask_BT is None else mask_BT.sum(1)
        layers = tuple(
            (keep_last(keys, cached_B + new_B, context), keep_last(values, cached_B + new_B, context))
            for keys, values in keys_values
        )
        return y_BTD, TransformerState(before.lengths_B + new_B, layers, before.memory)

    def state_bytes(self, length: int) -> int:
        return min(length, self.settings.context) * self._position_bytes

    def memory_bytes(self, length: int) -> int:
        """Keys, values and the mask."""
        return length * (self._position_bytes + 1) if self.reads_memory else 0

    @property
    def _position_bytes(self) -> int:
        return 2 * self.settings.layers * self.settings.hidden * next(self.parameters()).element_size()

    def flops_per_token(self, length: int) -> int:
        """With cross-attention, for a source as long as the sequence."""
        return self.stack.flops(min(length, self.settings.context), length if self.reads_memory else 0)
