"""A linear-chain conditional random field over tags (Lafferty et al. 2001): it learns which tags follow each other.

    score(y) = start(y_1) + sum_t emission_t(y_t) + sum_t transition(y_t-1, y_t) + end(y_T)
    p(y) = exp(score(y)) / sum over all sequences z of exp(score(z))

Emissions are a model's logits. Rows are padded on the right and keep at least their first position; values at padding
do not matter.
"""

import math

import torch
from torch import Tensor, nn

SCALE = 0.1  # transitions are initialized uniformly from -SCALE to SCALE
PADDING = -1  # the tag at padded positions


class LinearChain(nn.Module):
    """Transitions are from the row's tag to the column's."""

    def __init__(self, tags: int):
        super().__init__()
        self.transitions_KK = nn.Parameter(torch.empty(tags, tags).uniform_(-SCALE, SCALE))
        self.start_K = nn.Parameter(torch.empty(tags).uniform_(-SCALE, SCALE))
        self.end_K = nn.Parameter(torch.empty(tags).uniform_(-SCALE, SCALE))

    def log_partition(self, emissions_BTK: Tensor, mask_BT: Tensor) -> Tensor:
        """The logarithm of the sum of exp(score) over all sequences."""
        return (self._forward(emissions_BTK, mask_BT)[-1] + self.end_K).logsumexp(-1)

    def nats(self, emissions_BTK: Tensor, tags_BT: Tensor, mask_BT: Tensor) -> Tensor:
        """-ln p of the tags. A negative tag is unknown: all tags are summed over at its position."""
        others_BTK = tags_BT[..., None] != torch.arange(emissions_BTK.shape[-1], device=tags_BT.device)
        agreeing_BTK = emissions_BTK.masked_fill(others_BTK & (tags_BT >= 0)[..., None], -math.inf)
        # in one batch, because a step of the recursion costs about the same for twice the rows
        both_2B = self.log_partition(torch.cat([emissions_BTK, agreeing_BTK]), torch.cat([mask_BT, mask_BT]))
        all_B, agreeing_B = both_2B.chunk(2)
        return all_B - agreeing_B

    def best(self, emissions_BTK: Tensor, mask_BT: Tensor) -> tuple[Tensor, Tensor]:
        """The tags with the highest score (Viterbi), -1 at padding, and that score."""
        best_BK = self.start_K + emissions_BTK[:, 0]
        stay_BK = torch.arange(best_BK.shape[-1], device=best_BK.device).expand_as(best_BK)
        came_from: list[Tensor] = []
        for t in range(1, emissions_BTK.shape[1]):
            kept_B1 = mask_BT[:, t, None]
            highest_BK, from_BK = (best_BK[:, :, None] + self.transitions_KK).max(1)
            best_BK = torch.where(kept_B1, emissions_BTK[:, t] + highest_BK, best_BK)
            came_from.append(torch.where(kept_B1, from_BK, stay_BK))
        score_B, tag_B = (best_BK + self.end_K).max(-1)
        tags = [tag_B]
        for from_BK in reversed(came_from):
            tags.append(from_BK.gather(1, tags[-1][:, None])[:, 0])
        return torch.stack(tags[::-1], dim=1).masked_fill(~mask_BT, PADDING), score_B

    def log_marginals(self, emissions_BTK: Tensor, mask_BT: Tensor) -> Tensor:
        """The logarithm of the marginal probability of each tag at each position; undefined at padding."""
        before_BTK = torch.stack(self._forward(emissions_BTK, mask_BT), dim=1)
        after_BTK = torch.stack(self._backward(emissions_BTK, mask_BT), dim=1)
        return (before_BTK + after_BTK).log_softmax(-1)

    def _forward(self, emissions_BTK: Tensor, mask_BT: Tensor) -> list[Tensor]:
        """Forward algorithm: for each position and tag, the log-sum over all prefixes that end there."""
        assert bool(mask_BT[:, 0].all()), "every row keeps its first position"
        sums = [self.start_K + emissions_BTK[:, 0]]
        for t in range(1, emissions_BTK.shape[1]):
            # the emission is added outside the logsumexp, so that -inf gives no 0/0 in the gradient
            sum_BK = emissions_BTK[:, t] + (sums[-1][:, :, None] + self.transitions_KK).logsumexp(1)
            sums.append(torch.where(mask_BT[:, t, None], sum_BK, sums[-1]))
        return sums

    def _backward(self, emissions_BTK: Tensor, mask_BT: Tensor) -> list[Tensor]:
        """Backward algorithm: for each position and tag, the log-sum over all continuations."""
        sums = [self.end_K.expand_as(emissions_BTK[:, 0])]
        for t in range(emissions_BTK.shape[1] - 1, 0, -1):
            sum_BK = (self.transitions_KK + (emissions_BTK[:, t] + sums[-1])[:, None]).logsumexp(-1)
            sums.append(torch.where(mask_BT[:, t, None], sum_BK, sums[-1]))
        return sums[::-1]
