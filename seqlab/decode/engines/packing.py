"""Weights as the kernels read them: matrices in tiles, rows filled up to whole tiles."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from seqlab.kernels.decoding import Matrix, Output
from seqlab.kernels.linear import COLUMNS, pack, padded
from seqlab.kernels.recurrent import Layers
from seqlab.models.tokens import TokenModel


def numbers(tensor: Tensor) -> np.ndarray:
    return tensor.detach().to("cpu", torch.float32).numpy()


def filled(values: Tensor) -> np.ndarray:
    """With zeros up to whole tiles, in the last axis."""
    found = numbers(values)
    room = [(0, 0)] * (found.ndim - 1) + [(0, padded(found.shape[-1]) - found.shape[-1])]
    return np.ascontiguousarray(np.pad(found, room))


def matrix(weight_GK: Tensor) -> Matrix:
    return Matrix(pack(numbers(weight_GK)), np.ones(padded(len(weight_GK)), np.float32))


def no_matrix() -> Matrix:
    return Matrix(np.zeros((0, 1, COLUMNS), np.float32), np.ones(COLUMNS, np.float32))


def layers(weights: Sequence[Tensor]) -> Layers:
    """Matrices of one shape, one for each layer."""
    packed = [matrix(weight) for weight in weights]
    if not packed:
        return Layers(np.zeros((0, 1, 1, COLUMNS), np.float32), np.zeros((0, COLUMNS), np.float32))
    return Layers(np.stack([one.w_NKC for one in packed]), np.stack([one.scale_G for one in packed]))


def stacked(rows: Sequence[Tensor], width: int) -> np.ndarray:
    """Vectors of one width, one for each layer."""
    return np.stack([filled(row) for row in rows]) if rows else np.zeros((0, padded(width)), np.float32)


def output(model: TokenModel) -> Output:
    narrow = no_matrix() if model.narrow is None else matrix(model.narrow.weight)
    V = model.vocabulary
    return Output(narrow, matrix(model.output.weight[:V]), filled(model.output.bias[:V]))
