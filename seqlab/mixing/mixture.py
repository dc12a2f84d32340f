"""The mixture of a network and counts: p(w) ∝ p_network(w)^α p_counts(w)^β.

The exponents depend on the length of the longest context that the counts know. A product of powers is sure where
either of the two is sure; a weighted sum is as unsure as both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor

from seqlab.contracts import State
from seqlab.errors import DataError
from seqlab.kernels import call_kernel
from seqlab.kernels.grams import NONE
from seqlab.mixing.gram_table import GramTable

MIXTURE_FILE = "counts.safetensors"  # of a run


@dataclass(frozen=True)
class MixedState(State):
    """The state of the network, and the contexts of the last 0, 1, ... tokens in the table of grams."""

    network: State
    contexts_BK: Tensor


@dataclass(frozen=True)
class CountPrediction:
    """After every token: ln p of each next token, and the length of the longest context that is known."""

    log_p_BTV: Tensor
    longest_BT: Tensor


@dataclass(frozen=True)
class Mixture:
    """A table of grams, and the exponents of both sides by the length of the longest context (K)."""

    table: GramTable
    alpha_K: Tensor  # of the network
    beta_K: Tensor  # of the counts

    def start(self, network: State) -> MixedState:
        """The state before the first token."""
        contexts_BK = no_context(self.table, len(network.lengths_B)).to(network.lengths_B.device)
        return MixedState(network.lengths_B, network, contexts_BK)

    def mix(self, logits: Tensor, counts: CountPrediction) -> Tensor:
        """The logits of the mixture, from those of the network (..., V)."""
        longest = counts.longest_BT.view(logits.shape[:-1])
        alpha, beta = (weights_K.to(logits)[longest][..., None] for weights_K in (self.alpha_K, self.beta_K))
        return alpha * logits + beta * counts.log_p_BTV.view(logits.shape).to(logits)

    @property
    def flops_per_token(self) -> int:
        """Scaling, adding and a logarithm for each token of the vocabulary; a few additions for each order."""
        return 5 * self.table.vocab_size + 3 * self.table.order

    @staticmethod
    def stored_tensors() -> dict[str, Tensor]:
        """The names and types of what a file stores; all have one axis of any length."""
        arrays = {"facts": torch.int64, "tokens_G": torch.int32, "values_G": torch.float32, "children_C": torch.int32}
        exponents = {"backoff_C": torch.float32, "alpha_K": torch.float32, "beta_K": torch.float32}
        return {name: torch.empty(0, dtype=dtype) for name, dtype in {**arrays, **exponents}.items()}

    def tensors(self) -> dict[str, Tensor]:
        """What a file stores."""
        return {**self.table.tensors(), "alpha_K": self.alpha_K, "beta_K": self.beta_K}

    @classmethod
    def from_tensors(cls, stored: Mapping[str, Tensor], path: Path) -> Self:
        """The inverse of `tensors`; DataError if they are no mixture."""
        table = GramTable.from_tensors(stored, path)
        weights = (stored["alpha_K"], stored["beta_K"])
        if any(one.shape != (table.order,) or not bool(torch.isfinite(one).all()) for one in weights):
            raise DataError(f"'{path}' is damaged: it has no exponent for every length of a context.")
        return cls(table, *weights)


def no_context(table: GramTable, rows: int) -> Tensor:
    """The contexts before the first token (B, K)."""
    contexts_BK = torch.full((rows, table.order), NONE)
    contexts_BK[:, 0] = 0
    return contexts_BK


def count_predictions(
    table: GramTable, tokens_BT: Tensor, contexts_BK: Tensor, mask_BT: Tensor | None = None
) -> tuple[CountPrediction, Tensor]:
    """What the counts predict after every token, and the contexts after each row's last."""
    from seqlab.kernels.counts import read_rows  # imports numba

    B, T = tokens_BT.shape
    lengths_B = np.full(B, T) if mask_BT is None else mask_BT.sum(1).cpu().numpy()
    after_BK = contexts_BK.cpu().numpy().copy()
    log_p_BTV = np.zeros((B, T, table.vocab_size), np.float32)
    longest_BT = np.zeros((B, T), np.int64)
    arguments = [table.grams, tokens_BT.cpu().numpy(), lengths_B, after_BK, log_p_BTV, longest_BT]
    call_kernel(read_rows, arguments, torch.get_num_threads())
    log_p, longest, after = (
        torch.from_numpy(array).to(tokens_BT.device) for array in (log_p_BTV, longest_BT, after_BK)
    )
    return CountPrediction(log_p, longest), after


def last_prediction(
    table: GramTable, tokens_BT: Tensor, lengths_B: Tensor, contexts_BK: Tensor
) -> tuple[CountPrediction, Tensor]:
    """What the counts predict after each row's last token, and the contexts there.

    Older tokens than the longest context do not matter, so only the end of a row is read."""
    tail = min(table.order, tokens_BT.shape[1])
    firsts_B = (lengths_B - tail).clamp(min=0)
    places_BT = (firsts_B[:, None] + torch.arange(tail, device=lengths_B.device)).clamp(max=tokens_BT.shape[1] - 1)
    kept_B = lengths_B - firsts_B
    mask_BT = torch.arange(tail, device=lengths_B.device) < kept_B[:, None]
    counts, after_BK = count_predictions(table, tokens_BT.gather(1, places_BT), contexts_BK, mask_BT)
    rows_B = torch.arange(len(kept_B), device=kept_B.device)
    last = CountPrediction(counts.log_p_BTV[rows_B, kept_B - 1], counts.longest_BT[rows_B, kept_B - 1])
    return last, after_BK
