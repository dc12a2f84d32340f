"""Weights, gradients and moments divided among processes (FSDP2), for models that do not fit into the memory of one.

Before a layer computes, its weights are gathered; afterwards each process keeps its part of them. Files hold whole
tensors, so they do not depend on the number of processes.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from seqlab.distributed.world import joined


def shard(model: nn.Module, layers: Sequence[nn.Module], offload: bool) -> None:
    """Divide the weights of a model among all processes, each of `layers` and then the rest. `offload`: keep them in
    the memory of the CPU while they are not needed."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import CPUOffloadPolicy, FSDPModule, OffloadPolicy, fully_shard

    mesh = init_device_mesh(next(model.parameters()).device.type, (joined().size,))
    for module in (*layers, model):
        fully_shard(module, mesh=mesh, offload_policy=CPUOffloadPolicy() if offload else OffloadPolicy())
    for module in model.modules():
        if isinstance(module, FSDPModule):
            # gradients are sums, divided by the number of predictions later. torch would average over processes, and
            # has done so wrongly, without a word, on gloo (pytorch#162338)
            module.set_force_sum_reduction_for_comms(True)
            module.set_gradient_divide_factor(1.0)


def is_sharded(x: Tensor) -> bool:
    return hasattr(x, "full_tensor")  # of DTensor, whose import takes long


def whole(x: Tensor) -> Tensor:
    """All of a tensor; where it is sharded, all processes have to ask for it."""
    sharded: Any = x
    return sharded.full_tensor() if is_sharded(x) else x


def own_part(x: Tensor) -> Tensor:
    """What this process has of a tensor."""
    sharded: Any = x
    return sharded.to_local() if is_sharded(x) else x


def divided_like(x: Tensor, other: Tensor) -> Tensor:
    """A whole tensor, which all processes have, as `other` is sharded."""
    if not is_sharded(other):
        return x
    from torch.distributed.tensor import distribute_tensor

    like: Any = other
    return distribute_tensor(x.to(other.device), like.device_mesh, like.placements, src_data_rank=None)


def copy_into(parameter: Tensor, x: Tensor) -> None:
    """Replace the numbers of a parameter by those of a whole tensor."""
    with torch.no_grad():
        parameter.copy_(divided_like(x, parameter))
