"""Multi-head attention over a sequence's own vectors, whole or growing, and over those of a source.

The plain form computes each head as `scaled_dot`; the fast one is torch's kernel. Both read (and over a sequence's
own vectors extend) the same keys and values.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, scaled_dot_product_attention

from seqlab.attention.kv_cache import append
from seqlab.attention.masks import Ranges
from seqlab.attention.plain import scaled_dot
from seqlab.attention.positions import Positions
from seqlab.contracts import Trace


class MultiHead(nn.Module):
    """Concat(head_1, ..., head_N) W, head_i = Attention(x Q_i, x K_i, x V_i) (Vaswani et al. 2017, section 3.2.2)"""

    def __init__(self, width: int, heads: int, share: float):
        super().__init__()
        self.heads, self.share = heads, share
        self.into = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(
        self,
        x_BTD: Tensor,
        positions: Positions,
        turns: Tensor | None,
        held: tuple[Tensor, Tensor],
        held_B: Tensor | None,
        ranges: Ranges | None,
        trace: Trace | None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Attention output and the keys and values, old and new. Without `ranges`, plainly causal from the start."""
        q_BTNK, k_BTNK, v_BTNK = (part.unflatten(2, (self.heads, -1)) for part in self.into(x_BTD).chunk(3, dim=2))
        q_BTNK, k_BTNK = positions.turn(q_BTNK, turns), positions.turn(k_BTNK, turns)
        keys_BSD, values_BSD = k_BTNK.flatten(2), v_BTNK.flatten(2)
        if held_B is not None:
            keys_BSD, values_BSD = append(held[0], keys_BSD, held_B), append(held[1], values_BSD, held_B)
        q_BNTK = q_BTNK.transpose(1, 2)
        k_BNSK, v_BNSK = by_head(keys_BSD, self.heads), by_head(values_BSD, self.heads)
        if trace:
            y_BNTK = self._plain(q_BNTK, k_BNSK, v_BNSK, ranges, trace)
        else:
            y_BNTK = self._fast(q_BNTK, k_BNSK, v_BNSK, ranges)
        return self.out(y_BNTK.transpose(1, 2).flatten(2)), (keys_BSD, values_BSD)

    def _fast(self, q_BNTK: Tensor, k_BNSK: Tensor, v_BNSK: Tensor, ranges: Ranges | None) -> Tensor:
        share = self.share if self.training else 0.0
        if ranges is None:
            return scaled_dot_product_attention(q_BNTK, k_BNSK, v_BNSK, dropout_p=share, is_causal=True)
        mask_B1TS = ranges.mask(k_BNSK.shape[2])[:, None]
        return scaled_dot_product_attention(q_BNTK, k_BNSK, v_BNSK, attn_mask=mask_B1TS, dropout_p=share)

    def _plain(self, q_BNTK: Tensor, k_BNSK: Tensor, v_BNSK: Tensor, ranges: Ranges | None, trace: Trace) -> Tensor:
        T, S = q_BNTK.shape[2], k_BNSK.shape[2]
        if ranges is None:
            mask = torch.ones(T, S, dtype=torch.bool, device=q_BNTK.device).tril()
        else:
            mask = ranges.mask(S)[:, None]
        return plain_heads(q_BNTK, k_BNSK, v_BNSK, mask, self.share if self.training else 0.0, trace)


class CrossAttention(nn.Module):
    """The same with keys and values of a memory: head_i = Attention(x Q_i, m K_i, m V_i) (section 3.2.3)"""

    def __init__(self, width: int, memory: int, heads: int, share: float):
        super().__init__()
        self.heads, self.share = heads, share
        self.queries = nn.Linear(width, width)
        self.into = nn.Linear(memory, 2 * width)
        self.out = nn.Linear(width, width)

    def project(self, values_BSH: Tensor, mask_BS: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values, once for all that is written; zeros at padding."""
        keys_BSD, values_BSD = self.into(values_BSH).masked_fill(~mask_BS[:, :, None], 0.0).chunk(2, dim=2)
        return keys_BSD, values_BSD

    def forward(
        self, x_BTD: Tensor, held: tuple[Tensor, Tensor], mask_BS: Tensor, trace: Trace | None = None
    ) -> Tensor:
        """What each position reads of its row's memory; of an empty memory, zeros."""
        q_BNTK, k_BNSK, v_BNSK = (by_head(x, self.heads) for x in (self.queries(x_BTD), *held))
        share = self.share if self.training else 0.0
        empty_B1 = ~mask_BS.any(1, keepdim=True)
        if trace:
            mask_B11S = mask_BS[:, None, None]
            y_BNTK = plain_heads(q_BNTK, k_BNSK, v_BNSK, mask_B11S, share, trace)
        else:
            # torch's kernel is not to see a row without any key: what it makes of one is its own affair
            mask_B11S = (mask_BS | empty_B1)[:, None, None]
            y_BNTK = scaled_dot_product_attention(q_BNTK, k_BNSK, v_BNSK, attn_mask=mask_B11S, dropout_p=share)
        return self.out(y_BNTK.transpose(1, 2).flatten(2)).masked_fill(empty_B1[:, :, None], 0.0)


def by_head(x_BSD: Tensor, heads: int) -> Tensor:
    return x_BSD.unflatten(2, (heads, -1)).transpose(1, 2)


def plain_heads(q_BNTK: Tensor, k_BNSK: Tensor, v_BNSK: Tensor, mask: Tensor, share: float, trace: Trace) -> Tensor:
    """Every head by the equation, with that share of its weights dropped."""
    attended = scaled_dot(q_BNTK, k_BNSK, v_BNSK, mask)
    trace.record(weights=attended.weights_BTS, scores=attended.scores_BTS)
    return dropout(attended.weights_BTS, share) @ v_BNSK if share else attended.output_BTD
