"""Checks of the exercises."""

import torch
from torch.nn.functional import scaled_dot_product_attention

import seqlab


def check_self_attention(answer):
    """one head of self-attention"""
    torch.manual_seed(0)
    x_TD = torch.randn(6, 8)
    w_query, w_key, w_value = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8, 5)
    expected_TD = scaled_dot_product_attention((x_TD @ w_query)[None], (x_TD @ w_key)[None], (x_TD @ w_value)[None])[0]
    given_TD = answer.self_attention(x_TD, w_query, w_key, w_value)
    assert given_TD.shape == (6, 5), (
        f"the shape is {tuple(given_TD.shape)}; expected (6, 5): one value for each position."
    )
    off = (given_TD - expected_TD).abs().max()
    assert off < 1e-4, (
        f"it is off by {off:.3f}: divide by the square root of the width of a query, take the softmax over the keys."
    )


def check_equivariant(answer):
    """equivariance"""
    torch.manual_seed(1)
    x_TD, order = torch.randn(5, 3), torch.tensor([3, 0, 4, 1, 2])
    functions = {
        "attention": (lambda x: (x @ x.T).softmax(1) @ x, True),
        "the difference from the mean": (lambda x: x - x.mean(0), True),
        "the cumulative sum": (lambda x: x.cumsum(0), False),
        "adding the position": (lambda x: x + torch.arange(5.0)[:, None], False),
        "sorting": (lambda x: x.sort(0).values, False),
    }
    for name, (function, expected) in functions.items():
        given = bool(answer.equivariant(function, x_TD, order))
        assert given == expected, (
            f"for {name} it is {given!r}; expected {expected}: compare f(x[order]) with f(x)[order]."
        )


def check_reach(answer):
    """how far back a Transformer sees"""
    for layers, context in ((1, 4), (2, 5), (3, 3)):
        torch.manual_seed(0)
        model = seqlab.build(
            "transformer", vocab_size=4, hidden=8, embedding=8, heads=2, layers=layers, context=context
        )
        x_1TD = torch.randn(1, 20, 8, requires_grad=True)
        (gradient_1TD,) = torch.autograd.grad(model.eval().backbone(x_1TD)[0][0, -1, 0], x_1TD)
        expected = 19 - int(gradient_1TD[0].abs().amax(1).nonzero()[0])
        given = answer.reach(layers, context)
        assert given == expected, (
            f"for {layers} layers and a context of {context} it is {given!r}; measured: {expected}. Each layer reaches "
            "as far back as one position sees before itself."
        )
