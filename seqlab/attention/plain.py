"""Attention as its equations: scores, softmax, weighted sum; all three are returned."""

import math
from dataclasses import dataclass

from torch import Tensor

from seqlab.contracts import Trace
from seqlab.precision import softmax


@dataclass(frozen=True)
class Attended:
    """The output, the weight of each key, and the scores before the softmax."""

    output_BTD: Tensor
    weights_BTS: Tensor
    scores_BTS: Tensor


def attend(
    scores_BTS: Tensor, values_BSD: Tensor, mask_BTS: Tensor | None = None, trace: Trace | None = None
) -> Attended:
    """softmax(scores) values over the keys that the mask keeps. A query that sees no key gets zeros."""
    scores_BTS = record_heads(trace, "scores", scores_BTS)
    if mask_BTS is None:
        weights_BTS = softmax(scores_BTS, -1)
    else:
        # the softmax of a row without any key would be NaN, and so would its gradient
        blind_BT1 = ~mask_BTS.any(-1, keepdim=True)
        visible_BTS = scores_BTS.masked_fill(~(mask_BTS | blind_BT1), -math.inf)
        weights_BTS = softmax(visible_BTS, -1).masked_fill(blind_BT1, 0.0)
    weights_BTS = record_heads(trace, "weights", weights_BTS)
    return Attended(weights_BTS @ values_BSD, weights_BTS, scores_BTS)


def record_heads(trace: Trace | None, name: str, x_BTS: Tensor) -> Tensor:
    """As `record`, for one head, or for several before the axis of time: a trace has them after it."""
    if trace is None:
        return x_BTS
    if x_BTS.dim() == 3:
        return trace.record(name, x_BTS[:, :, None])[:, :, 0]
    return trace.record(name, x_BTS.transpose(1, 2)).transpose(1, 2)


def scaled_dot(
    q_BTK: Tensor, k_BSK: Tensor, v_BSD: Tensor, mask_BTS: Tensor | None = None, trace: Trace | None = None
) -> Attended:
    """softmax(q kᵀ / √K) v (Vaswani et al. 2017, equation 1)."""
    scores_BTS = q_BTK @ k_BSK.transpose(-2, -1) / math.sqrt(q_BTK.shape[-1])
    return attend(scores_BTS, v_BSD, mask_BTS, trace)
