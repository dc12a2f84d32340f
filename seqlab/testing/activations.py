"""The tensors that a backward pass needs, counted by torch: what `activation_bytes` says in closed form."""

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor


class _Kept:
    """A saved tensor. Autograd holds it as long as the graph needs it."""

    def __init__(self, tensor: Tensor):
        self.tensor = tensor


def kept_bytes(compute: Callable[[], Any], weights: Iterable[Tensor]) -> tuple[int, Any]:
    """The bytes that the graph of a result keeps beside the weights and copies of them, and the result.

    Storages count once and whole, however many views of them are kept."""
    weights = list(weights)
    kept: list[weakref.ref[_Kept]] = []

    def pack(tensor: Tensor) -> _Kept:
        item = _Kept(tensor)
        kept.append(weakref.ref(item))
        return item

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda item: item.tensor):
        result = compute()
    own = {weight.untyped_storage().data_ptr() for weight in weights}
    shapes = {tuple(sorted(weight.shape)) for weight in weights}
    sizes: dict[int, int] = {}
    for reference in kept:
        item = reference()
        if item is None or item.tensor.untyped_storage().data_ptr() in own:
            continue
        if tuple(sorted(item.tensor.shape)) not in shapes:
            storage = item.tensor.untyped_storage()
            sizes[storage.data_ptr()] = storage.nbytes()
    return sum(sizes.values()), result
