"""The fast forms: what `plain.attend` computes over each query's range of keys, without what it need not hold.

Dot products go through torch's own kernel. Additive scores are computed for a few queries at a time: only the weights
are kept, and the tanh of every pair is computed again in the backward pass.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from seqlab.attention.ranges import Ranges
from seqlab.attention.scores import Additive, Dot, Score

CHUNKS = 64  # the chunked form holds this share of what the plain one does


def attend_fast(score: Score, q_BTH: Tensor, k_BSH: Tensor, values_BSD: Tensor, ranges: Ranges) -> Tensor:
    """The output of attention with projected queries and keys."""
    if isinstance(score, Additive):
        seen = ranges.first_BT, ranges.last_BT
        return ChunkedAdditive.apply(q_BTH, k_BSH, score.v_H, values_BSD, *seen)  # pyright: ignore[reportReturnType]
    assert isinstance(score, Dot)
    mask_BTS = ranges.mask(k_BSH.shape[1])
    output_BTD = scaled_dot_product_attention(q_BTH, k_BSH, values_BSD, attn_mask=mask_BTS, scale=score.scale)
    blind_BT1 = (ranges.first_BT >= ranges.last_BT)[:, :, None]
    return output_BTD.masked_fill(blind_BT1, 0.0)


def _through_softmax(outer_BTD: Tensor, weights_BTS: Tensor, values_BSD: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of the scores and of the values."""
    dweights_BTS = outer_BTD @ values_BSD.transpose(-2, -1)
    ds_BTS = weights_BTS * (dweights_BTS - (dweights_BTS * weights_BTS).sum(-1, keepdim=True))
    return ds_BTS.contiguous(), weights_BTS.transpose(-2, -1) @ outer_BTD


class ChunkedAdditive(torch.autograd.Function):
    """Additive attention in torch alone, a few queries at a time."""

    @staticmethod
    def forward(
        ctx: Any, q_BTH: Tensor, k_BSH: Tensor, v_H: Tensor, values_BSD: Tensor, first_BT: Tensor, last_BT: Tensor
    ):
        from seqlab.attention.plain import attend

        mask_BTS = Ranges(first_BT, last_BT).mask(k_BSH.shape[1])
        weights = []
        for part in _parts(q_BTH.shape[1]):
            scores_BtS = torch.tanh(q_BTH[:, part, None] + k_BSH[:, None]) @ v_H
            weights.append(attend(scores_BtS, values_BSD, mask_BTS[:, part]).weights_BTS)
        weights_BTS = torch.cat(weights, dim=1)
        ctx.save_for_backward(q_BTH, k_BSH, v_H, values_BSD, weights_BTS)
        return weights_BTS @ values_BSD

    @staticmethod
    def backward(ctx: Any, *outer: Tensor):
        q_BTH, k_BSH, v_H, values_BSD, weights_BTS = ctx.saved_tensors
        ds_BTS, dvalues_BSD = _through_softmax(outer[0], weights_BTS, values_BSD)
        dq_BTH, dk_BSH, dv_H = torch.zeros_like(q_BTH), torch.zeros_like(k_BSH), torch.zeros_like(v_H)
        for part in _parts(q_BTH.shape[1]):
            tanh_BtSH = torch.tanh(q_BTH[:, part, None] + k_BSH[:, None])
            dv_H += torch.einsum("bts,btsh->h", ds_BTS[:, part], tanh_BtSH)
            slope_BtSH = ds_BTS[:, part, :, None] * (1 - tanh_BtSH * tanh_BtSH)
            dq_BTH[:, part] = slope_BtSH.sum(2)
            dk_BSH += slope_BtSH.sum(1)
        return dq_BTH * v_H, dk_BSH * v_H, dv_H, dvalues_BSD, None, None


def _parts(steps: int) -> list[slice]:
    size = max(1, -(-steps // CHUNKS))
    return [slice(first, first + size) for first in range(0, steps, size)]
