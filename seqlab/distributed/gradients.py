"""Gradients of several processes: sums, whatever rows each of them had.

torch's DistributedDataParallel is not used for this. It averages over processes, where one that has fewer rows, or
none, would weigh as much as the others; it counts on every process calling `forward` of one module, where our losses
also call `step` and `start`. What remains is a sum of buffers, which torch.distributed has.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from seqlab.distributed.group import add_up

BUCKET = 1 << 25  # bytes that are sent at once: more would double the memory of gradients


def sum_gradients(parameters: Sequence[nn.Parameter], exist: Sequence[bool], factor: float) -> None:
    """Make every gradient the sum over all processes, times `factor`. `exist`: which parameters have one anywhere."""
    shared = [parameter for parameter, exists in zip(parameters, exist, strict=True) if exists]
    for bucket in _buckets(shared):
        parts = [p.new_zeros(p.numel()) if p.grad is None else p.grad.reshape(-1) * factor for p in bucket]
        sums = add_up(torch.cat(parts)).split([p.numel() for p in bucket])
        for parameter, total in zip(bucket, sums, strict=True):
            parameter.grad = total.view(parameter.shape)


def _buckets(parameters: Sequence[nn.Parameter]) -> Iterator[list[nn.Parameter]]:
    """Neighbors of one type and device, of about `BUCKET` bytes."""
    bucket: list[nn.Parameter] = []
    for parameter in parameters:
        kinds = {(one.dtype, one.device) for one in (*bucket, parameter)}
        if bucket and (len(kinds) > 1 or sum(map(_size, (*bucket, parameter))) > BUCKET):
            yield bucket
            bucket = []
        bucket.append(parameter)
    if bucket:
        yield bucket


def _size(parameter: Tensor) -> int:
    return parameter.numel() * parameter.element_size()


def gather_rows(x_RD: Tensor, first: int, total: int) -> Tensor:
    """The rows of all processes (`total`, D), of which this one has those from `first` on, with their gradient."""
    last = first + len(x_RD)
    whole = x_RD.new_zeros(total, *x_RD.shape[1:])
    whole[first:last] = x_RD.detach()
    add_up(whole)
    return torch.cat([whole[:first], x_RD, whole[last:]])
