"""Weights in the layout of the kernels: matrices in tiles, vectors padded to whole tiles, float32 or int8."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from seqlab.kernels.decoding import OutputLayer, PackedMatrix
from seqlab.kernels.linear import COLUMNS, pack_tiles, padded_width
from seqlab.kernels.recurrent import PackedLayers
from seqlab.models.int8 import quantize
from seqlab.models.token_model import TokenModel


def as_numpy(tensor: Tensor) -> np.ndarray:
    return tensor.detach().to("cpu", torch.float32).numpy()


def pad_to_tiles(values: Tensor) -> np.ndarray:
    """Zero-pad the last axis to whole tiles."""
    array = as_numpy(values)
    width = array.shape[-1]
    padding = [(0, 0)] * (array.ndim - 1) + [(0, padded_width(width) - width)]
    return np.ascontiguousarray(np.pad(array, padding))


def stack_layers(rows: Sequence[Tensor], width: int) -> np.ndarray:
    """Stack one vector per layer."""
    return np.stack([pad_to_tiles(row) for row in rows]) if rows else np.zeros((0, padded_width(width)), np.float32)


@dataclass(frozen=True)
class WeightPacker:
    """Packs matrices as float32, or as the int8 values that a quantized run stores."""

    int8: bool

    @property
    def dtype(self) -> type:
        return np.int8 if self.int8 else np.float32

    def matrix(self, weight_GK: Tensor) -> PackedMatrix:
        G = len(weight_GK)
        scale_G = np.ones(padded_width(G), np.float32)
        if not self.int8:
            return PackedMatrix(pack_tiles(as_numpy(weight_GK)), scale_G)
        integers_GK, scales = quantize(weight_GK)
        scale_G[:G] = as_numpy(scales)
        return PackedMatrix(pack_tiles(integers_GK.cpu().numpy()), scale_G)

    def empty_matrix(self) -> PackedMatrix:
        return PackedMatrix(np.zeros((0, 1, COLUMNS), self.dtype), np.ones(COLUMNS, np.float32))

    def layers(self, weights: Sequence[Tensor]) -> PackedLayers:
        """Pack one matrix per layer; all have the same shape."""
        packed = [self.matrix(weight) for weight in weights]
        if not packed:
            return PackedLayers(np.zeros((0, 1, 1, COLUMNS), self.dtype), np.zeros((0, COLUMNS), np.float32))
        return PackedLayers(
            np.stack([matrix.w_NKC for matrix in packed]), np.stack([matrix.scale_G for matrix in packed])
        )

    def output(self, model: TokenModel) -> OutputLayer:
        narrow = self.empty_matrix() if model.narrow is None else self.matrix(model.narrow.weight)
        V = model.vocab_size
        bias_V, cap = pad_to_tiles(model.output.bias[:V]), model.settings.logit_cap or 0.0
        return OutputLayer(narrow, self.matrix(model.output.weight[:V]), bias_V, float(cap))
