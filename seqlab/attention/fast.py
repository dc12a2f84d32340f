"""The fast forms of `plain.attend` over each query's range of keys: same results in less time and memory.

Dot products use torch's own kernel. Additive scores use the compiled kernel on the CPU and a chunked form elsewhere;
both store only the weights and recompute the tanh of every pair in the backward pass.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from seqlab.attention.masks import Ranges
from seqlab.attention.plain import attend
from seqlab.attention.scores import Additive, Dot, Score
from seqlab.kernels import can_compile
from seqlab.precision import full, unrounded

CHUNKS = 128  # the chunked form takes the queries in this many chunks, so it needs a 128th of the plain form's memory


def attend_fast(score: Score, q_BTH: Tensor, k_BSH: Tensor, values_BSD: Tensor, ranges: Ranges) -> Tensor:
    """The output of attention for projected queries and keys."""
    if isinstance(score, Additive):
        form = CompiledAdditive if q_BTH.device.type == "cpu" and can_compile() else ChunkedAdditive
        with unrounded(q_BTH.device):
            inputs = full(q_BTH), full(k_BSH), score.v_H, full(values_BSD)
            return form.apply(*inputs, ranges.first_BT, ranges.last_BT)  # pyright: ignore[reportReturnType]
    assert isinstance(score, Dot)
    mask_BTS = ranges.mask(k_BSH.shape[1])
    output_BTD = scaled_dot_product_attention(q_BTH, k_BSH, values_BSD, attn_mask=mask_BTS, scale=score.scale)
    blind_BT1 = (ranges.first_BT >= ranges.last_BT)[:, :, None]
    return output_BTD.masked_fill(blind_BT1, 0.0)


class CompiledAdditive(torch.autograd.Function):
    """Additive attention with the kernels of `seqlab.kernels.additive_attention`."""

    @staticmethod
    def forward(
        ctx: Any, q_BTH: Tensor, k_BSH: Tensor, v_H: Tensor, values_BSD: Tensor, first_BT: Tensor, last_BT: Tensor
    ):
        from seqlab.kernels import call_kernel
        from seqlab.kernels.additive_attention import additive_weights

        inputs = _kernel_inputs(q_BTH, k_BSH, v_H, first_BT, last_BT)
        weights_BTS = q_BTH.new_zeros(q_BTH.shape[0], q_BTH.shape[1], k_BSH.shape[1])
        call_kernel(additive_weights, [tensor.numpy() for tensor in (*inputs, weights_BTS)], torch.get_num_threads())
        ctx.save_for_backward(values_BSD, weights_BTS, *inputs)
        return weights_BTS @ values_BSD

    @staticmethod
    def backward(ctx: Any, *outer: Tensor):
        from seqlab.kernels import call_kernel
        from seqlab.kernels.additive_attention import additive_backward

        values_BSD, weights_BTS, *inputs = ctx.saved_tensors
        q_BTH, k_BSH, v_H = inputs[0], inputs[1], inputs[6]
        ds_BTS, dvalues_BSD = _softmax_backward(outer[0], weights_BTS, values_BSD)
        dq_BTH, dk_BSH = torch.zeros_like(q_BTH), torch.zeros_like(k_BSH)
        dv_BH = v_H.new_zeros(len(q_BTH), len(v_H))
        arrays = [tensor.numpy() for tensor in (*inputs, ds_BTS, dq_BTH, dk_BSH, dv_BH)]
        call_kernel(additive_backward, arrays, torch.get_num_threads())
        slope_H = 4 * v_H
        return dq_BTH.mul_(slope_H), dk_BSH.mul_(slope_H), ds_BTS.sum() - 2 * dv_BH.sum(0), dvalues_BSD, None, None


def _kernel_inputs(q_BTH: Tensor, k_BSH: Tensor, v_H: Tensor, first_BT: Tensor, last_BT: Tensor) -> list[Tensor]:
    """What the kernels take: queries and keys, their exponentials, and the magnitude class of every vector (0 up to
    NEAR, 1 up to FAR, 2 beyond)."""
    from seqlab.kernels.additive_attention import FAR, NEAR

    q_BTH, k_BSH = q_BTH.detach(), k_BSH.detach()
    reach_BT, reach_BS = (
        (largest > NEAR).to(torch.uint8) + (largest > FAR).to(torch.uint8)
        for largest in (torch.maximum(x.amax(-1), -x.amin(-1)) for x in (q_BTH, k_BSH))
    )
    eq_BTH, ek_BSH = (x.mul(2).exp_() for x in (q_BTH, k_BSH))
    inputs = (q_BTH, k_BSH, eq_BTH, ek_BSH, reach_BT, reach_BS, v_H.detach(), first_BT, last_BT)
    return [tensor.contiguous() for tensor in inputs]


def _softmax_backward(outer_BTD: Tensor, weights_BTS: Tensor, values_BSD: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of the scores and of the values."""
    dweights_BTS = outer_BTD @ values_BSD.transpose(-2, -1)
    ds_BTS = weights_BTS * (dweights_BTS - (dweights_BTS * weights_BTS).sum(-1, keepdim=True))
    return ds_BTS.contiguous(), weights_BTS.transpose(-2, -1) @ outer_BTD


class ChunkedAdditive(torch.autograd.Function):
    """Additive attention in torch alone, a few queries at a time."""

    @staticmethod
    def forward(
        ctx: Any, q_BTH: Tensor, k_BSH: Tensor, v_H: Tensor, values_BSD: Tensor, first_BT: Tensor, last_BT: Tensor
    ):
        mask_BTS = Ranges(first_BT, last_BT).mask(k_BSH.shape[1])
        weights = []
        for chunk in _chunks(q_BTH.shape[1]):
            scores_BtS = (q_BTH[:, chunk, None] + k_BSH[:, None]).tanh_() @ v_H
            weights.append(attend(scores_BtS, values_BSD, mask_BTS[:, chunk]).weights_BTS)
        weights_BTS = torch.cat(weights, dim=1)
        ctx.save_for_backward(q_BTH, k_BSH, v_H, values_BSD, weights_BTS)
        return weights_BTS @ values_BSD

    @staticmethod
    def backward(ctx: Any, *outer: Tensor):
        q_BTH, k_BSH, v_H, values_BSD, weights_BTS = ctx.saved_tensors
        ds_BTS, dvalues_BSD = _softmax_backward(outer[0], weights_BTS, values_BSD)
        dq_BTH, dk_BSH, dv_H = torch.zeros_like(q_BTH), torch.zeros_like(k_BSH), torch.zeros_like(v_H)
        for chunk in _chunks(q_BTH.shape[1]):
            tanh_BtSH = (q_BTH[:, chunk, None] + k_BSH[:, None]).tanh_()
            dv_H += torch.einsum("bts,btsh->h", ds_BTS[:, chunk], tanh_BtSH)
            slope_BtSH = tanh_BtSH.square_().neg_().add_(1).mul_(ds_BTS[:, chunk, :, None])  # d (1 - tanh²), in place
            dq_BTH[:, chunk] = slope_BtSH.sum(2)
            dk_BSH += slope_BtSH.sum(1)
        return dq_BTH * v_H, dk_BSH * v_H, dv_H, dvalues_BSD, None, None


def _chunks(steps: int) -> list[slice]:
    size = max(1, -(-steps // CHUNKS))
    return [slice(first, first + size) for first in range(0, steps, size)]
