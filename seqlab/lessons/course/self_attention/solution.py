"""Model answers."""

import math

import torch


def self_attention(x_TD, w_query, w_key, w_value):
    q_TK, k_TK, v_TD = x_TD @ w_query, x_TD @ w_key, x_TD @ w_value
    return (q_TK @ k_TK.T / math.sqrt(q_TK.shape[1])).softmax(1) @ v_TD


def equivariant(f, x_TD, order):
    return torch.allclose(f(x_TD[order]), f(x_TD)[order], atol=1e-5)


def reach(layers, context):
    return layers * (context - 1)
