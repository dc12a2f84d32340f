"""Checks of the exercises on embeddings."""

from types import ModuleType

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity


def check_nearest(answer: ModuleType) -> None:
    """Nearest neighbors by cosine"""
    torch.manual_seed(3)
    vectors = torch.randn(12, 5) * torch.rand(12, 1) * 10  # of different lengths: the cosine ignores them
    for row, count in ((0, 3), (7, 5)):
        cosines = cosine_similarity(vectors[row][None], vectors)
        cosines[row] = -2
        got, expected = list(answer.nearest(vectors, row, count)), cosines.topk(count).indices.tolist()
        assert got == expected, (
            f"nearest of row {row} is {got!r}; expected {expected}: normalize the vectors and leave out the row itself."
        )


def check_pool(answer: ModuleType) -> None:
    """Pooling without padding"""
    torch.manual_seed(4)
    states = torch.randn(3, 5, 4) - 3  # all negative: a zero from padding would be the maximum
    lengths = [5, 2, 1]
    mask = torch.arange(5) < torch.tensor(lengths)[:, None]
    for how in ("mean", "max", "last"):
        rows = [states[row, :length] for row, length in enumerate(lengths)]
        made = {"mean": [row.mean(0) for row in rows], "max": [row.max(0).values for row in rows]}
        expected = torch.stack(made.get(how, [row[-1] for row in rows]))
        got = answer.pool(states, mask, how)
        assert isinstance(got, Tensor) and got.shape == expected.shape, f"pool(..., {how!r}) returns (batch x width)."
        assert torch.allclose(got, expected, atol=1e-5), (
            f"pool(..., {how!r}) is wrong for rows of the lengths {lengths}: padded positions must not count."
        )


def check_mean_reciprocal_rank(answer: ModuleType) -> None:
    """The mean reciprocal rank"""
    torch.manual_seed(5)
    for scores in (torch.randint(0, 5, (6, 6)).tolist(), torch.eye(3).tolist(), (-torch.eye(4)).tolist()):
        expected = sum(1 / sum(score >= row[q] for score in row) for q, row in enumerate(scores)) / len(scores)
        got = answer.mean_reciprocal_rank(scores)
        assert abs(got - expected) < 1e-9, (
            f"mean_reciprocal_rank({scores}) is {got!r}; expected {expected:.4f}: the rank counts all documents with "
            "at least the score of the right one, itself included."
        )
