"""Model answers."""

import torch
from torch.nn.functional import scaled_dot_product_attention


def causal_multi_head(x_BTD, layer):
    parts = (x_BTD @ layer.in_proj_weight.T + layer.in_proj_bias).chunk(3, dim=2)
    q_BNTK, k_BNTK, v_BNTK = (part.unflatten(2, (layer.num_heads, -1)).transpose(1, 2) for part in parts)
    found_BNTK = scaled_dot_product_attention(q_BNTK, k_BNTK, v_BNTK, is_causal=True)
    return layer.out_proj(found_BNTK.transpose(1, 2).flatten(2))


def induction_score(weights_TS, period):
    at_T = torch.arange(period, len(weights_TS))
    return weights_TS[at_T, at_T - period + 1].mean()


def induction(tokens):
    for at in range(len(tokens) - 2, -1, -1):
        if tokens[at] == tokens[-1]:
            return tokens[at + 1]
    return None
