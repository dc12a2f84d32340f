"""From the vectors of a text to one vector: the last, the mean, the maximum, or a mean with learned weights."""

import torch
from torch import Tensor, nn

from seqlab.contracts import Backbone, Recorded, Trace, record
from seqlab.linear import Linear
from seqlab.precision import softmax

POOLING = Recorded("pooling", "the weight of each position in the mean")
SIF = 3e-4  # a of Arora et al. 2017: a token of this share of the text has half the weight of a rare one


def make_pooling(kind: str, width: int, vocab_size: int) -> "AttentionPooling | TokenPooling | None":
    """The module of a pooling that has weights; None for the others."""
    match kind:
        case "attention":
            return AttentionPooling(width)
        case "sif":
            return TokenPooling(vocab_size)
        case _:
            return None


def pool(kind: str, backbone: Backbone, y_BTH: Tensor, kept_BT: Tensor) -> Tensor:
    """The pooled_BH of a pooling without weights: the last output (of each direction), the mean or the maximum."""
    match kind:
        case "last":
            return backbone.summarize(y_BTH, kept_BT)
        case "mean":
            return (y_BTH * kept_BT[:, :, None]).sum(1) / kept_BT.sum(1, keepdim=True)
        case "max":
            return y_BTH.masked_fill(~kept_BT[:, :, None], -torch.inf).amax(1)
    raise AssertionError(kind)


class AttentionPooling(nn.Module):
    """Σ_t a_t y_t, a = softmax(v · tanh(W y + b)) (Lin et al. 2017, with one row of weights)"""

    def __init__(self, width: int):
        super().__init__()
        self.project = Linear(width, width)
        self.v_H = nn.Parameter(torch.empty(width).uniform_(-(width**-0.5), width**-0.5))

    def forward(self, y_BTH: Tensor, kept_BT: Tensor, trace: Trace | None = None) -> Tensor:
        return _weighted_mean(torch.tanh(self.project(y_BTH)) @ self.v_H, y_BTH, kept_BT, trace, "pooling")


class TokenPooling(nn.Module):
    """Σ_t a_t y_t, a = softmax(s), with one learned score s for each token of the vocabulary, whatever its context.

    With `sif_scores`, the weights are those of smooth inverse frequency (Arora et al. 2017). `name`: of its record."""

    def __init__(self, vocab_size: int, name: str = "pooling"):
        super().__init__()
        self.name = name
        self.scores_V1 = nn.Parameter(torch.zeros(vocab_size, 1))

    def forward(self, tokens_BT: Tensor, y_BTH: Tensor, kept_BT: Tensor, trace: Trace | None = None) -> Tensor:
        scores_BT = nn.functional.embedding(tokens_BT, self.scores_V1)[:, :, 0]
        return _weighted_mean(scores_BT, y_BTH, kept_BT, trace, self.name)


def sif_scores(shares_V: Tensor) -> Tensor:
    """log(a / (a + p)) for the share p of each token in a text."""
    return (SIF / (SIF + shares_V)).log()


def _weighted_mean(scores_BT: Tensor, y_BTH: Tensor, kept_BT: Tensor, trace: Trace | None, name: str) -> Tensor:
    weights_BT = record(trace, name, softmax(scores_BT.masked_fill(~kept_BT, -torch.inf), 1))
    return (weights_BT[:, None] @ y_BTH)[:, 0]
