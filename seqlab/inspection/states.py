"""The vectors of the tokens of a text: what one layer passes on, or what the backbone returns if it records none."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading

RETURNED = "what the backbone returns"


def find_layer(reading: Reading, layer: int | None) -> str:
    """The name of a layer that reads the given text, the last one if not given; RETURNED if none is recorded."""
    names = [
        name
        for name, recorded in reading.model.records.items()
        if recorded.kind == "layer" and reading.side_of(name) == reading.sides[0]
    ]
    if layer is None:
        return names[-1] if names else RETURNED
    for name in names:
        if name.endswith(f"layer{layer}"):
            return name
    there = f"it has {', '.join(names)}" if names else f"the architecture '{reading.arch}' records none"
    raise UsageError(f"there is no layer {layer}: {there}.")


@torch.no_grad()
def token_vectors(reading: Reading, name: str) -> Tensor:
    """Of the tokens of the given text (T, H)."""
    if name != RETURNED:
        return reading.trace[name][0]
    ids_T = torch.tensor(reading.sides[0].ids)
    return _returned(reading, lambda: reading.trace_of(ids_T) or reading.logprobs(Trace()))[0]


@torch.no_grad()
def batch_vectors(reading: Reading, name: str, ids_BT: Tensor, mask_BT: Tensor) -> Tensor:
    """Of other tokens that the same model reads (B, T, H), for models that read nothing but tokens."""
    trace = Trace()

    def pass_through() -> Any:
        return reading.model(ids_BT, mask_BT=mask_BT, trace=trace)

    if name == RETURNED:
        return _returned(reading, pass_through)
    pass_through()
    return trace[name]


def _returned(reading: Reading, compute: Callable[[], Any]) -> Tensor:
    """What the backbone that reads the text returns during a computation."""
    found: list[Tensor] = []
    hook = reading.model.backbone.register_forward_hook(lambda module, given, output: found.append(output[0]))
    try:
        compute()
    finally:
        hook.remove()
    return found[0]


def unit_vectors(vectors: Tensor) -> np.ndarray:
    """Of length 1, so that products are cosines; zeros stay zeros."""
    return torch.nn.functional.normalize(vectors.double(), dim=-1).numpy()
