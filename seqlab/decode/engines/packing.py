"""Weights as the kernels read them: matrices in tiles, rows filled up to whole tiles, float32 or int8."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from seqlab.kernels.decoding import OutputLayer, PackedMatrix
from seqlab.kernels.linear import COLUMNS, pack_tiles, padded_width
from seqlab.kernels.recurrent import PackedLayers
from seqlab.models.int8 import quantized
from seqlab.models.token_model import TokenModel


def as_numpy(tensor: Tensor) -> np.ndarray:
    return tensor.detach().to("cpu", torch.float32).numpy()


def pad_to_tiles(values: Tensor) -> np.ndarray:
    """With zeros up to whole tiles, in the last axis."""
    found = as_numpy(values)
    room = [(0, 0)] * (found.ndim - 1) + [(0, padded_width(found.shape[-1]) - found.shape[-1])]
    return np.ascontiguousarray(np.pad(found, room))


def stack_layers(rows: Sequence[Tensor], width: int) -> np.ndarray:
    """Vectors of one width, one for each layer."""
    return np.stack([pad_to_tiles(row) for row in rows]) if rows else np.zeros((0, padded_width(width)), np.float32)


@dataclass(frozen=True)
class WeightPacker:
    """Matrices are packed as they are, or as the int8 that they were restored from."""

    int8: bool

    @property
    def dtype(self) -> type:
        return np.int8 if self.int8 else np.float32

    def matrix(self, weight_GK: Tensor) -> PackedMatrix:
        G = len(weight_GK)
        scale_G = np.ones(padded_width(G), np.float32)
        if not self.int8:
            return PackedMatrix(pack_tiles(as_numpy(weight_GK)), scale_G)
        whole_GK, scales = quantized(weight_GK)
        scale_G[:G] = as_numpy(scales)
        return PackedMatrix(pack_tiles(whole_GK.cpu().numpy()), scale_G)

    def empty_matrix(self) -> PackedMatrix:
        return PackedMatrix(np.zeros((0, 1, COLUMNS), self.dtype), np.ones(COLUMNS, np.float32))

    def layers(self, weights: Sequence[Tensor]) -> PackedLayers:
        """Matrices of one shape, one for each layer."""
        packed = [self.matrix(weight) for weight in weights]
        if not packed:
            return PackedLayers(np.zeros((0, 1, 1, COLUMNS), self.dtype), np.zeros((0, COLUMNS), np.float32))
        return PackedLayers(np.stack([one.w_NKC for one in packed]), np.stack([one.scale_G for one in packed]))

    def output(self, model: TokenModel) -> OutputLayer:
        narrow = self.empty_matrix() if model.narrow is None else self.matrix(model.narrow.weight)
        V = model.vocab_size
        return OutputLayer(narrow, self.matrix(model.output.weight[:V]), pad_to_tiles(model.output.bias[:V]))
