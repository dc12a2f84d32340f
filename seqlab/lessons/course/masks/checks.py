"""Checks of the exercises on masks."""

from types import ModuleType

import torch
from torch import Tensor


def check_causal_mask(answer: ModuleType) -> None:
    """A causal mask with a window"""
    for T, window in ((1, 1), (5, 5), (6, 2), (7, 3)):
        got = answer.causal_mask(T, window)
        assert isinstance(got, Tensor) and got.dtype == torch.bool, "causal_mask returns a boolean tensor."
        assert tuple(got.shape) == (T, T), f"causal_mask({T}, {window}) has the shape {tuple(got.shape)}, not {(T, T)}."
        for t in range(T):
            for s in range(T):
                expected = t - window < s <= t
                assert bool(got[t, s]) == expected, (
                    f"causal_mask({T}, {window}): query {t} {'sees' if got[t, s] else 'does not see'} key {s}; "
                    f"expected {'visible' if expected else 'hidden'}. Rows are queries, columns keys."
                )


def check_padding_mask(answer: ModuleType) -> None:
    """A padding mask"""
    for lengths in ([3], [2, 5, 1], [4, 4], [0, 3]):
        got = answer.padding_mask(lengths)
        assert isinstance(got, Tensor) and got.dtype == torch.bool, "padding_mask returns a boolean tensor."
        assert tuple(got.shape) == (len(lengths), max(lengths)), (
            f"padding_mask({lengths}) has the shape {tuple(got.shape)}; expected {(len(lengths), max(lengths))}."
        )
        expected = torch.tensor([[s < length for s in range(max(lengths))] for length in lengths])
        assert torch.equal(got, expected), f"padding_mask({lengths}) is {got.int().tolist()}: true means a real token."


def check_is_causal(answer: ModuleType) -> None:
    """A test for leaks"""
    torch.manual_seed(0)
    table = torch.randn(10, 3)

    def past(ids: Tensor) -> Tensor:
        return table[ids].cumsum(0)

    def future(ids: Tensor) -> Tensor:
        return table[ids].flip(0).cumsum(0).flip(0)

    def peeks(ids: Tensor) -> Tensor:  # one position reads one position ahead
        x = table[ids].cumsum(0)
        return torch.cat([x[:2], x[2:3] + 1e-3 * table[ids[3:4]], x[3:]]) if len(ids) > 3 else x

    ids = torch.tensor([3, 1, 4, 1, 5, 9, 2, 6])
    before = ids.clone()
    assert answer.is_causal(past, ids) is True, "is_causal says False for a model that only adds up the past."
    assert answer.is_causal(future, ids) is False, "is_causal says True for a model that adds up the future."
    assert answer.is_causal(peeks, ids) is False, (
        "is_causal says True, but the output at position 2 reads the input at position 3: change every position."
    )
    assert torch.equal(ids, before), "is_causal changed the caller's ids: work on a copy."
