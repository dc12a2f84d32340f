"""What is done to vectors after pooling: the common component removed, fewer dimensions, length 1.

N: vectors, D: dimensions before, K: after.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seqlab.errors import UsageError

Method = Literal["truncate", "pca"]


@dataclass(frozen=True)
class Reduction:
    """v -> (v - center) axes, then to length 1. It is fitted once and kept, so that queries get the same."""

    center_D: np.ndarray
    axes_DK: np.ndarray
    normalize: bool

    @property
    def dimensions(self) -> int:
        return self.axes_DK.shape[1]

    def apply(self, vectors_ND: np.ndarray) -> np.ndarray:
        """(N, K) in float32; a text without tokens, whose vector is zeros, stays zeros."""
        reduced_NK = (vectors_ND - self.center_D) @ self.axes_DK
        reduced_NK[~vectors_ND.any(1)] = 0.0
        if self.normalize:
            reduced_NK = reduced_NK / np.maximum(np.linalg.norm(reduced_NK, axis=1, keepdims=True), 1e-12)
        return reduced_NK.astype(np.float32, copy=False)

    def arrays(self) -> dict[str, np.ndarray]:
        return {"center": self.center_D, "axes": self.axes_DK, "normalize": np.array([self.normalize])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "Reduction":
        return cls(arrays["center"], arrays["axes"], bool(arrays["normalize"][0]))


def fit_reduction(
    sample_ND: np.ndarray,
    dimensions: int | None = None,
    method: Method = "truncate",
    remove_common: bool = False,
    normalize: bool = True,
) -> Reduction:
    """Fit it to some of the vectors. `remove_common`: the direction that all have in common, as SIF weights require."""
    width = sample_ND.shape[1]
    if dimensions is not None and not 1 <= dimensions <= width:
        raise UsageError(
            f"{dimensions:,} dimensions were asked for, and the vectors have {width:,}: give 1 to {width:,}."
        )
    filled_ND = sample_ND[sample_ND.any(1)].astype(np.float64)
    center_D, axes_DK = np.zeros(width), np.eye(width)
    if remove_common and len(filled_ND):
        common_D = np.linalg.eigh(filled_ND.T @ filled_ND)[1][:, -1]
        axes_DK = axes_DK - np.outer(common_D, common_D)
    if dimensions is not None and method == "truncate":
        axes_DK = axes_DK[:, :dimensions]
    elif dimensions is not None:
        if len(filled_ND) < dimensions:
            raise UsageError(
                f"PCA to {dimensions:,} dimensions needs as many texts, and there are {len(filled_ND):,}: give fewer "
                f"dimensions, or reduce by truncation."
            )
        center_D = filled_ND.mean(0)
        inner_ND = (filled_ND - center_D) @ axes_DK
        axes_DK = axes_DK @ np.linalg.eigh(inner_ND.T @ inner_ND)[1][:, ::-1][:, :dimensions]
    return Reduction(center_D.astype(np.float32), axes_DK.astype(np.float32), normalize)
