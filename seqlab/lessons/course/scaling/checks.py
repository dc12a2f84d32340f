"""Checks of the exercises."""

import torch
from torch.nn.functional import scaled_dot_product_attention


def check_attention(answer):
    """scaled dot-product attention"""
    torch.manual_seed(0)
    q_BTK, k_BSK, v_BSD = torch.randn(2, 3, 9), torch.randn(2, 5, 9), torch.randn(2, 5, 4)
    given = answer.attention(q_BTK, k_BSK, v_BSD)
    assert isinstance(given, tuple) and len(given) == 3, "return three things: the output, the weights and the scores."
    output_BTD, weights_BTS, scores_BTS = given
    assert torch.allclose(weights_BTS.sum(2), torch.ones(2, 3), atol=1e-5), (
        "the weights of each query must add up to 1: take the softmax over the keys, the last axis."
    )
    expected_BTS = torch.einsum("btk,bsk->bts", q_BTK, k_BSK) / 9**0.5
    assert torch.allclose(scores_BTS, expected_BTS, atol=1e-4), (
        f"the first score is {scores_BTS.flatten()[0]:.3f}; expected {expected_BTS.flatten()[0]:.3f}: divide q · k by "
        "the square root of the number of features of a query."
    )
    assert torch.allclose(output_BTD, scaled_dot_product_attention(q_BTK, k_BSK, v_BSD), atol=1e-4), (
        "the output differs from torch's: it is the weights times the values."
    )


def check_softmax_jacobian(answer):
    """the gradient of the softmax"""
    torch.manual_seed(1)
    for size in (2, 5):
        scores_S = torch.randn(size)
        expected_SS = torch.autograd.functional.jacobian(lambda scores_S: scores_S.softmax(0), scores_S)
        given_SS = torch.as_tensor(answer.softmax_jacobian(scores_S.softmax(0)))
        assert given_SS.shape == (size, size), f"the shape is {tuple(given_SS.shape)}; expected {(size, size)}."
        assert torch.allclose(given_SS, expected_SS, atol=1e-5), (
            f"the largest difference from autograd is {(given_SS - expected_SS).abs().max():.3f}: the diagonal is "
            "w_i (1 - w_i), the rest -w_i w_j."
        )


def check_divisor(answer):
    """the divisor for other variances"""
    torch.manual_seed(2)
    for d, query_std, key_std in ((16, 1.0, 1.0), (50, 0.5, 2.0), (200, 0.1, 3.0)):
        dots_N = (torch.randn(20_000, d) * query_std * torch.randn(20_000, d) * key_std).sum(1)
        variance = (dots_N / float(answer.divisor(d, query_std, key_std))).var().item()
        assert 0.9 < variance < 1.1, (
            f"divided by your divisor({d}, {query_std}, {key_std}), dot products have the variance {variance:.3f}; "
            "expected 1: the variance of one product of independent features is the product of both variances."
        )
