"""Attention as ONNX operations, over a whole sequence or a KV cache, in which shorter rows are padded on the left."""

import math
from typing import Any

import numpy as np
import torch
from torch import nn

from seqlab.attention.positions import Learned, Positions, Rotary, Sinusoidal, angles
from seqlab.attention.scores import Additive, Dot, Score
from seqlab.exporters.onnx.graph import Graph, Value

FLOAT, DOUBLE = 1, 11  # type numbers of ONNX


def norm(g: Graph, module: Any, x: Value) -> Value:
    if isinstance(module, nn.LayerNorm):
        return g("LayerNormalization", x, g.constant(module.weight), g.constant(module.bias), epsilon=module.eps)
    assert isinstance(module, nn.RMSNorm)
    return normalized(x, float(module.eps or 0)) * g.constant(module.weight)


def normalized(x: Value, epsilon: float) -> Value:
    """Divided by the root mean square of the last axis."""
    return x / x.graph("Sqrt", (x * x).mean() + epsilon)


def mask_scores(g: Graph, scores: Value, visible: Value) -> Value:
    """Scores, minus infinity at positions that are not visible."""
    return g("Where", visible, scores, float("-inf"))


def causal_mask(g: Graph, T: Value, context: int | None) -> Value:
    """visible_TS: each position sees itself and what comes before, at most `context` positions."""
    position_T = g.arange(T)
    i_T1, j_1S = position_T.unsqueeze(1), position_T.unsqueeze(0)
    visible_TS = j_1S <= i_T1
    return visible_TS if context is None else visible_TS & ((i_T1 - j_1S) < g.integers(context))


def cache_mask(g: Graph, cache_BSD: Value, length_B: Value) -> Value:
    """visible_BS of the cached positions (left-padded) and the new one."""
    S = cache_BSD.size(1)
    return (S - length_B).unsqueeze(1) <= g.arange(S + 1).unsqueeze(0)


def trim_cache(values_BSD: Value, context: int | None) -> Value:
    """The positions that the next token can see besides itself."""
    if context is None:
        return values_BSD
    return values_BSD.slice(-(context - 1), 2**62, axis=1) if context > 1 else values_BSD.slice(0, 0, axis=1)


def add_positions(g: Graph, positions: Positions, x_BTD: Value, position_BT: Value, width: int) -> Value:
    """x plus its position, if positions are learned or sinusoidal."""
    if isinstance(positions, Learned):
        return x_BTD + g("Gather", g.constant(positions.table), position_BT, axis=0)
    return x_BTD + sinusoids(g, position_BT, width) if isinstance(positions, Sinusoidal) else x_BTD


def heads(x: Value, count: int) -> Value:
    """x_B..D as x_BN.K"""
    return x.reshape(0, 0, count, -1).transpose(0, 2, 1, 3)


def rotate(g: Graph, positions: Positions, x_BNTK: Value, position_BT: Value, head: int) -> Value:
    """Rotary positions: each pair of features is a complex number that is rotated by its position."""
    if not isinstance(positions, Rotary):
        return x_BNTK
    angle_B1TF = _angle(g, position_BT, head).unsqueeze(1)  # the same for all heads
    cos, sin = g("Cos", angle_B1TF), g("Sin", angle_B1TF)
    a, b = (half.squeeze(-1) for half in x_BNTK.reshape(0, 0, 0, -1, 2).split(2))
    pairs = [(a * cos - b * sin).unsqueeze(-1), (a * sin + b * cos).unsqueeze(-1)]
    return g.join(pairs, -1).reshape(0, 0, 0, -1)


def sinusoids(g: Graph, position: Value, width: int) -> Value:
    """sin, cos, sin, cos, ... of a position, `width` of them."""
    angle = _angle(g, position, width)
    pairs = g.join([g("Sin", angle).unsqueeze(-1), g("Cos", angle).unsqueeze(-1)], -1)
    return pairs.reshape(0, 0, -1).slice(0, width, axis=-1)


def _angle(g: Graph, position: Value, width: int) -> Value:
    """Position times frequency modulo 2π, in double precision, so distant positions stay exact."""
    frequency_F = angles(torch.ones(1, 1), width)[0, 0].numpy()
    whole = g("Cast", position, to=DOUBLE).unsqueeze(-1) * g.constant(frequency_F)
    return g("Cast", g("Mod", whole, g.constant(np.array(2 * math.pi)), fmod=1), to=FLOAT)


def project_keys(g: Graph, score: Score, k_BSD: Value) -> Value:
    return g.linear(k_BSD, score.from_key) if isinstance(score, Additive) else k_BSD


def attend(g: Graph, score: Score, q_BTD: Value, k_BSH: Value, values_BSD: Value, visible: Value) -> Value:
    """Attention over the visible positions; keys are projected, queries are not."""
    if isinstance(score, Additive):
        sums_BTSH = g.linear(q_BTD, score.from_query).unsqueeze(2) + k_BSH.unsqueeze(1)
        scores_BTS = (sums_BTSH.tanh() @ g.constant(score.v_H[:, None])).squeeze(-1)
    else:
        assert isinstance(score, Dot)
        scores_BTS = (q_BTD @ k_BSH.transpose(0, 2, 1)) * score.scale
    return mask_scores(g, scores_BTS, visible).softmax() @ values_BSD
