"""Model answers."""

import math

import torch


def attention(q_BTK, k_BSK, v_BSD):
    scores_BTS = q_BTK @ k_BSK.transpose(1, 2) / math.sqrt(q_BTK.shape[2])
    weights_BTS = scores_BTS.softmax(2)
    return weights_BTS @ v_BSD, weights_BTS, scores_BTS


def softmax_jacobian(weights_S):
    return torch.diag(weights_S) - torch.outer(weights_S, weights_S)


def divisor(d, query_std, key_std):
    return math.sqrt(d) * query_std * key_std
