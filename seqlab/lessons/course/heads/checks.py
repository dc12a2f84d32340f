"""Checks of the exercises."""

import random

import torch
from torch import nn


def check_causal_multi_head(answer):
    """multi-head attention with a causal mask"""
    torch.manual_seed(0)
    for width, heads in ((24, 3), (16, 4), (8, 1)):
        layer = nn.MultiheadAttention(width, heads, batch_first=True)
        nn.init.normal_(layer.in_proj_bias)
        nn.init.normal_(layer.out_proj.bias)
        x_BTD = torch.randn(2, 6, width)
        hidden_TS = torch.ones(6, 6, dtype=torch.bool).triu(1)
        expected_BTD, _ = layer(x_BTD, x_BTD, x_BTD, attn_mask=hidden_TS)
        called = []
        layer.register_forward_hook(lambda *_, called=called: called.append(True))
        given_BTD = answer.causal_multi_head(x_BTD, layer)
        assert not called, "compute it from the weights of the layer, without calling the layer."
        assert given_BTD.shape == expected_BTD.shape, (
            f"the output has the shape {tuple(given_BTD.shape)}; expected {tuple(expected_BTD.shape)}."
        )
        off_T = (given_BTD - expected_BTD).abs().amax((0, 2))
        assert off_T[-1] < 1e-4, (
            f"with {heads} heads the last position, which sees everything, is off by {off_T[-1]:.3f}: did you divide "
            "by the square root of the width of a head, and add both biases?"
        )
        assert off_T.max() < 1e-4, (
            f"the first position is off by {off_T[0]:.3f}: it may see nothing but itself. Is the mask causal?"
        )


def check_induction_score(answer):
    """the induction score of a head"""
    torch.manual_seed(1)
    for length, period in ((12, 4), (20, 10), (9, 2)):
        weights_TS = torch.rand(length, length).tril().softmax(1)
        chosen = [float(weights_TS[t, t - period + 1]) for t in range(period, length)]
        expected, given = sum(chosen) / len(chosen), float(answer.induction_score(weights_TS, period))
        assert abs(given - expected) < 1e-5, (
            f"for {length} positions and a period of {period} it is {given:.4f}; expected {expected:.4f}: position t "
            "looks at t - period + 1, beginning with t = period."
        )


def check_induction(answer):
    """induction as a program"""
    draw = random.Random(2)
    for _ in range(200):
        tokens = [draw.randrange(6) for _ in range(draw.randrange(1, 12))]
        found = [tokens[at + 1] for at in range(len(tokens) - 1) if tokens[at] == tokens[-1]]
        expected = found[-1] if found else None
        given = answer.induction(list(tokens))
        assert given == expected, (
            f"for {tokens} it is {given!r}; expected {expected}: take the latest occurrence before the last."
        )
