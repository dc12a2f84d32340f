"""Score functions: how well a query matches a key.

Each maps queries and keys to what the fast forms work on (`project`) and has its plain score. Read `fast.py` next.
"""

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn


class Score(nn.Module, ABC):
    """`forward` gives the scores of all pairs."""

    @abstractmethod
    def project_queries(self, q_BTD: Tensor) -> Tensor: ...

    @abstractmethod
    def project_keys(self, k_BSD: Tensor) -> Tensor: ...

    @abstractmethod
    def of_projected(self, q_BTH: Tensor, k_BSH: Tensor) -> Tensor:
        """Scores_BTS from projected queries and keys; keys are projected once and kept while a text grows."""

    def forward(self, q_BTD: Tensor, k_BSD: Tensor) -> Tensor:
        return self.of_projected(self.project_queries(q_BTD), self.project_keys(k_BSD))


class Dot(Score):
    """q · k"""

    scale = 1.0

    def project_queries(self, q_BTD: Tensor) -> Tensor:
        return q_BTD

    def project_keys(self, k_BSD: Tensor) -> Tensor:
        return k_BSD

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
        self.from_query = nn.Linear(queries, hidden, bias=False)
        self.from_key = nn.Linear(keys, hidden)
        self.v_H = nn.Parameter(torch.empty(hidden).uniform_(-1, 1) / math.sqrt(hidden))

    def project_queries(self, q_BTD: Tensor) -> Tensor:
        return self.from_query(q_BTD)

    def project_keys(self, k_BSD: Tensor) -> Tensor:
        return self.from_key(k_BSD)

    def of_projected(self, q_BTH: Tensor, k_BSH: Tensor) -> Tensor:
        return (torch.tanh(q_BTH[:, :, None] + k_BSH[:, None]) @ self.v_H[:, None]).squeeze(-1)
