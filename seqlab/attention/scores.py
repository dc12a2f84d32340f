"""Score functions: how well a query matches a key.

Each projects queries and keys for the fast forms, and computes its plain score. Read `fast.py` next.
"""

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from seqlab.linear import Linear


class Score(nn.Module, ABC):
    """`forward` returns the scores of all pairs. By default queries and keys need no projection."""

    def project_queries(self, q_BTD: Tensor) -> Tensor:
        return q_BTD

    def project_keys(self, k_BSD: Tensor) -> Tensor:
        return k_BSD

    @abstractmethod
    def of_projected(self, q_BTH: Tensor, k_BSH: Tensor) -> Tensor:
        """Scores_BTS of projected queries and keys; a decoder projects each key once and caches it."""

    def forward(self, q_BTD: Tensor, k_BSD: Tensor) -> Tensor:
        return self.of_projected(self.project_queries(q_BTD), self.project_keys(k_BSD))


class Dot(Score):
    """q · k"""

    scale = 1.0

    def of_projected(self, q_BTH: Tensor, k_BSH: Tensor) -> Tensor:
        return q_BTH @ k_BSH.transpose(-2, -1) * self.scale


class ScaledDot(Dot):
    """q · k / √D, so that the softmax does not saturate as D grows."""

    def __init__(self, width: int):
        super().__init__()
        self.scale = 1 / math.sqrt(width)


class Additive(Score):
    """v · tanh(W₁ q + W₂ k) (Bahdanau et al. 2015, appendix A.1.2)"""

    def __init__(self, queries: int, keys: int, hidden: int):
        super().__init__()
        self.from_query = Linear(queries, hidden, bias=False)
        self.from_key = Linear(keys, hidden)
        self.v_H = nn.Parameter(torch.empty(hidden).uniform_(-1, 1) / math.sqrt(hidden))

    def project_queries(self, q_BTD: Tensor) -> Tensor:
        return self.from_query(q_BTD)

    def project_keys(self, k_BSD: Tensor) -> Tensor:
        return self.from_key(k_BSD)

    def of_projected(self, q_BTH: Tensor, k_BSH: Tensor) -> Tensor:
        return (torch.tanh(q_BTH[:, :, None] + k_BSH[:, None]) @ self.v_H[:, None]).squeeze(-1)


def make_score(name: str, queries: int, keys: int, hidden: int) -> Score:
    """`queries` and `keys` are widths; dot products need them to be equal."""
    match name:
        case "additive":
            return Additive(queries, keys, hidden)
        case "scaled":
            return ScaledDot(queries)
        case "dot":
            return Dot()
    raise AssertionError(name)
