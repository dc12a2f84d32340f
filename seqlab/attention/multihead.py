"""Multi-head attention: self-attention with a KV cache, and cross-attention to a source.

The plain form computes each head with `scaled_dot`, the fast one with torch's kernel, from the same keys and values.
"""

from collections.abc import Callable
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import scaled_dot_product_attention

from seqlab.attention.kv_cache import append
from seqlab.attention.masks import Ranges
from seqlab.attention.plain import scaled_dot
from seqlab.contracts import Recorded, Trace, record
from seqlab.dropout import drop
from seqlab.linear import Linear
from seqlab.precision import attention_precision, full

KeysValues = tuple[Tensor, Tensor]
QK_EPSILON = 1e-6
QUERIES = Recorded("heads", "q, what each head looks for")
SCORES = Recorded("scores", "q · k / √K, how well each key matches")
HEADS = Recorded("heads", "what each head found: its values, weighted")


class MultiHead(nn.Module):
    """Concat(head_1, ..., head_N) W, head_i = Attention(x Q_i, x K_i, x V_i) (Vaswani et al. 2017, section 3.2.2)"""

    records: ClassVar = {
        "queries": QUERIES,
        "keys": Recorded("heads", "k, what each position offers"),
        "values": Recorded("heads", "v, what each position gives"),
        "scores": SCORES,
        "weights": Recorded("attention", "softmax of the scores: where each head looks"),
        "heads": HEADS,
    }
    matrix_blocks: ClassVar = {"into.weight": 3}

    def __init__(self, width: int, heads: int, dropout: float, plain: bool = False, qk_norm: bool = False):
        super().__init__()
        self.heads, self.dropout, self.plain, self.qk_norm = heads, dropout, plain, qk_norm
        self.into = Linear(width, 3 * width)
        self.out = Linear(width, width)

    def forward(
        self,
        x_BTD: Tensor,
        rotate: Callable[[Tensor], Tensor],
        cache: KeysValues | None,
        cached_B: Tensor | None,
        ranges: Ranges | None,
        trace: Trace | None,
    ) -> tuple[Tensor, KeysValues]:
        """The output, and the old and new keys and values. `rotate` applies rotary positions; a row's cache holds
        `cached_B` positions. Without `ranges`, attention is causal over the whole sequence."""
        q_BTNK, k_BTNK, v_BTNK = (part.unflatten(2, (self.heads, -1)) for part in self.into(x_BTD).chunk(3, dim=2))
        if self.qk_norm:
            q_BTNK, k_BTNK = normalized(q_BTNK), normalized(k_BTNK)
        q_BTNK = record(trace, "queries", rotate(q_BTNK))
        keys_BSD = record(trace, "keys", rotate(k_BTNK)).flatten(2)
        values_BSD = record(trace, "values", v_BTNK).flatten(2)
        if cache is not None and cached_B is not None:
            keys_BSD, values_BSD = append(cache[0], keys_BSD, cached_B), append(cache[1], values_BSD, cached_B)
        k_BNSK, v_BNSK = by_head(keys_BSD, self.heads), by_head(values_BSD, self.heads)
        mask_B1TS = None if ranges is None else ranges.mask(keys_BSD.shape[1])[:, None]
        dropout = self.dropout if self.training else 0.0
        y_BNTK = attend_heads(q_BTNK.transpose(1, 2), k_BNSK, v_BNSK, mask_B1TS, dropout, trace, self.plain)
        y_BTNK = record(trace, "heads", y_BNTK.transpose(1, 2))
        return self.out(y_BTNK.flatten(2)), (keys_BSD, values_BSD)


class CrossAttention(nn.Module):
    """The same with keys and values of a memory: head_i = Attention(x Q_i, m K_i, m V_i) (section 3.2.3)"""

    records: ClassVar = {
        "queries": QUERIES,
        "scores": SCORES,
        "weights": Recorded("source attention", "softmax of the scores: where each head looks in the source"),
        "heads": HEADS,
    }
    matrix_blocks: ClassVar = {"into.weight": 2}

    def __init__(self, width: int, memory: int, heads: int, dropout: float, plain: bool = False, qk_norm: bool = False):
        super().__init__()
        self.heads, self.dropout, self.plain, self.qk_norm = heads, dropout, plain, qk_norm
        self.queries = Linear(width, width)
        self.into = Linear(memory, 2 * width)
        self.out = Linear(width, width)

    def project(self, values_BSH: Tensor, mask_BS: Tensor) -> KeysValues:
        """Keys and values, computed once per source; zeros at padding."""
        keys_BSD, values_BSD = self.into(values_BSH).masked_fill(~mask_BS[:, :, None], 0.0).chunk(2, dim=2)
        if self.qk_norm:
            keys_BSD = normalized(keys_BSD.unflatten(2, (self.heads, -1))).flatten(2)
        return keys_BSD, values_BSD

    def forward(self, x_BTD: Tensor, keys_values: KeysValues, mask_BS: Tensor, trace: Trace | None = None) -> Tensor:
        """Each position's attention over its row's memory; zeros if the memory is empty."""
        q_BTNK = self.queries(x_BTD).unflatten(2, (self.heads, -1))
        q_BTNK = record(trace, "queries", normalized(q_BTNK) if self.qk_norm else q_BTNK)
        k_BNSK, v_BNSK = (by_head(x, self.heads) for x in keys_values)
        empty_B1 = ~mask_BS.any(1, keepdim=True)
        # torch leaves the result for a row without any key undefined, so its kernel never gets one
        mask_B11S = (mask_BS if trace or self.plain else mask_BS | empty_B1)[:, None, None]
        dropout = self.dropout if self.training else 0.0
        y_BNTK = attend_heads(q_BTNK.transpose(1, 2), k_BNSK, v_BNSK, mask_B11S, dropout, trace, self.plain)
        y_BTNK = record(trace, "heads", y_BNTK.transpose(1, 2))
        return self.out(y_BTNK.flatten(2)).masked_fill(empty_B1[:, :, None], 0.0)


def normalized(x_BTNK: Tensor) -> Tensor:
    """x / √(mean(x²)) of each head, so that no product of a query and a key is larger than K (Henry et al. 2020)."""
    return functional.rms_norm(full(x_BTNK), x_BTNK.shape[-1:], eps=QK_EPSILON)


def by_head(x_BSD: Tensor, heads: int) -> Tensor:
    return x_BSD.unflatten(2, (heads, -1)).transpose(1, 2)


def attend_heads(
    q_BNTK: Tensor,
    k_BNSK: Tensor,
    v_BNSK: Tensor,
    mask: Tensor | None,
    dropout: float,
    trace: Trace | None,
    plain: bool,
) -> Tensor:
    """Every head. No mask means causal. The equation computes it if it is `plain`, if there is a trace, and if
    `dropout` applies to the weights, which torch's kernel never stores."""
    if trace is None and not plain and not dropout:
        with attention_precision(q_BNTK.device) as rounded:
            q_BNTK, k_BNSK, v_BNSK = map(rounded, (q_BNTK, k_BNSK, v_BNSK))
            return scaled_dot_product_attention(q_BNTK, k_BNSK, v_BNSK, mask, is_causal=mask is None)
    if mask is None:
        mask = torch.ones(q_BNTK.shape[2], k_BNSK.shape[2], dtype=torch.bool, device=q_BNTK.device).tril()
    attended = scaled_dot(q_BNTK, k_BNSK, v_BNSK, mask, trace)
    return drop(attended.weights_BTS, dropout) @ v_BNSK if dropout else attended.output_BTD
