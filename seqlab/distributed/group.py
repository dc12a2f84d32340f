"""The group of processes: how they meet, what they tell each other, and what happens if one is lost.

Only numbers and JSON go from one to another, never pickled objects.
"""

import atexit
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn

from seqlab.distributed.meeting import agree_on_name
from seqlab.distributed.world import ALONE, World, joined, launched, working_as
from seqlab.errors import TrainingFailed

# a lost machine is noticed within this time: torch's 30 minutes are too long to wait for it
TIMEOUT = timedelta(minutes=5)
PATIENCE = timedelta(days=7)  # with the writer, while it alone computes baselines or reads a corpus
P = ParamSpec("P")
R = TypeVar("R")
_patient: list[Any] = []  # the group whose members wait that long


class ProcessLost(TrainingFailed):
    """Another process has ended or does not answer."""

    def __init__(self, reason: BaseException):
        first = (str(reason).splitlines() or [type(reason).__name__])[0]
        super().__init__(
            f"another of the {launched().size} processes has ended, or did not answer for "
            f"{TIMEOUT.total_seconds() / 60:g} minutes ({first[:200]}). Its own message says why."
        )


@contextmanager
def share_work() -> Iterator[World]:
    """While entered, this process does its part of the work of all that torchrun has started, if there are several."""
    world = launched()
    if world.size == 1:
        with working_as(ALONE):
            yield ALONE
        return
    _join(world)
    with working_as(world):
        yield world


def _join(world: World) -> None:
    """Meet the others, once: a second group would find the messages of the first."""
    if dist.is_initialized():
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(world.local_rank % torch.cuda.device_count())
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    try:
        store, _, _ = next(dist.rendezvous("env://", timeout=TIMEOUT))
        attempt = dist.PrefixStore(agree_on_name(store, world, TIMEOUT.total_seconds()), store)
        dist.init_process_group(backend, store=attempt, rank=world.rank, world_size=world.size, timeout=TIMEOUT)
        _patient.append(dist.new_group(backend="gloo", timeout=PATIENCE))
    except (RuntimeError, ValueError, TimeoutError) as error:
        raise ProcessLost(error) from error
    atexit.register(_leave)


def _leave() -> None:
    _patient.clear()
    if dist.is_initialized():
        dist.destroy_process_group()


def _collective(function: Callable[P, R]) -> Callable[P, R]:
    """Errors of torch's own as ProcessLost."""

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except RuntimeError as error:  # of which DistError is one
            raise ProcessLost(error) from error

    return wrapped


@_collective
def add_up(x: Tensor) -> Tensor:
    """The sum over all processes, in place; a tensor of the same shape on each."""
    if joined().size > 1:
        dist.all_reduce(x)
    return x


def sum_array(x: np.ndarray) -> np.ndarray:
    """The sum over all processes. Where only one of them has another number than zero, it is exact."""
    return x if joined().size == 1 else add_up(torch.from_numpy(np.array(x))).numpy()


def largest(numbers: list[int]) -> list[int]:
    """The largest of all processes, number by number."""
    return numbers if joined().size == 1 else _largest(numbers)


@_collective
def _largest(numbers: list[int]) -> list[int]:
    x = torch.tensor(numbers)
    dist.all_reduce(x, dist.ReduceOp.MAX)
    return [int(number) for number in x]


@_collective
def gather_bytes(content: bytes) -> list[bytes]:
    """What each process has, in their order; on all of them."""
    if joined().size == 1:
        return [content]
    sizes = torch.zeros(joined().size, dtype=torch.long)
    sizes[joined().rank] = len(content)
    dist.all_reduce(sizes)
    longest = int(sizes.max())
    padded = torch.frombuffer(bytearray(content.ljust(max(1, longest), b"\0")), dtype=torch.uint8)
    found = [torch.empty_like(padded) for _ in range(joined().size)]
    dist.all_gather(found, padded)
    return [one.numpy().tobytes()[:size] for one, size in zip(found, sizes.tolist(), strict=True)]


def gather_json(value: Any) -> list[Any]:
    """What each process has, in their order; on all of them."""
    if joined().size == 1:
        return [value]
    return [json.loads(content) for content in gather_bytes(json.dumps(value).encode())]


def gather_items(items: dict[int, R]) -> dict[int, R]:
    """The items of all processes, by number, in a form that JSON can hold; on all of them."""
    return {int(number): item for part in gather_json(items) for number, item in part.items()}


def from_writer(value: Any) -> Any:
    """What the writer has, a value that JSON can hold: decisions that depend on clocks or on rounding are its own."""
    return value if joined().size == 1 else gather_json(value if joined().is_writer else None)[0]


@_collective
def same_weights(model: nn.Module) -> None:
    """Give all processes the weights of the writer: other processors may have rounded them in another way."""
    if joined().size > 1:
        for parameter in model.parameters():
            dist.broadcast(parameter.data, 0)


@_collective
def wait_for_all() -> None:
    """Wait until all processes are here, however long one of them works alone."""
    if joined().size > 1:
        dist.barrier(group=_patient[0])
