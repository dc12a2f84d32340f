"""Checks of the exercises."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from seqlab.attention.scores import Additive


def check_additive_scores(answer):
    """additive scores"""
    torch.manual_seed(0)
    score = Additive(5, 7, 6)
    with torch.no_grad():
        score.from_key.bias.zero_()
        q_TD, k_SD = torch.randn(3, 5), torch.randn(4, 7)
        expected_TS = score(q_TD[None], k_SD[None])[0]
        given_TS = answer.additive_scores(q_TD, k_SD, score.from_query.weight, score.from_key.weight, score.v_H)
    assert given_TS.shape == (3, 4), f"the shape is {tuple(given_TS.shape)}; expected (3, 4): queries in rows."
    assert torch.allclose(given_TS, expected_TS, atol=1e-4), (
        f"the first score is {given_TS[0, 0]:.3f}; expected {expected_TS[0, 0]:.3f}: add the projected query and key, "
        "then tanh, then the product with v."
    )


def check_attend(answer):
    """attention without padding"""
    torch.manual_seed(1)
    scores_BTS, values_BSD = torch.randn(2, 3, 5), torch.randn(2, 5, 4)
    lengths = (5, 2)
    mask_BS = torch.arange(5) < torch.tensor(lengths)[:, None]
    given_BTD = answer.attend(scores_BTS, values_BSD, mask_BS)
    for row, length in enumerate(lengths):
        expected_TD = scores_BTS[row, :, :length].softmax(1) @ values_BSD[row, :length]
        off = (given_BTD[row] - expected_TD).abs().max()
        assert off < 1e-4, (
            f"for a source of {length} positions among 5 it is off by {off:.3f}: padding must get no weight, and the "
            "weights of the rest must add up to 1."
        )


def check_multiplications(answer):
    """what attention costs"""
    for targets, sources, width in ((3, 5, 8), (64, 16, 32)):
        q_1TK, k_1SK = torch.zeros(1, targets, width), torch.zeros(1, sources, width)
        with FlopCounterMode(display=False) as counter:
            _ = (q_1TK @ k_1SK.transpose(1, 2)).softmax(2) @ k_1SK
        expected = counter.get_total_flops() // 2  # it counts additions as well
        given = answer.multiplications(targets, sources, width)
        assert given == expected, (
            f"for {targets} targets, {sources} sources and a width of {width} it is {given!r}; expected {expected}: "
            "every pair takes one multiplication per feature for its score, and as many for the sum."
        )
