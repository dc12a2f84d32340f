"""Which library multiplies float32 matrices in training: oneDNN where it is measured to be faster on this machine."""

import json
import os
from collections.abc import Callable
from functools import cache, partial

import torch
from torch import Tensor

from seqlab.cache import cache_directory, read_sealed, warn_of_damage, write_sealed
from seqlab.config import RunSettings
from seqlab.distributed.group import from_writer
from seqlab.errors import SeqlabError, UsageError
from seqlab.linear import has_onednn, linear, matmul
from seqlab.runs.machine import machine
from seqlab.storage import sha256, validated
from seqlab.training.timing import time_rounds

FASTER = 1.25  # how many times as fast oneDNN has to be: far from 1, so that a run chooses the same every time
INSTRUCTIONS = ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS")  # variables that limit them
ROWS, WIDTH = 512, 256  # of the product that is timed, with both gradients
TIMED_ROUNDS = 5  # at least


def with_measured_matmul(settings: RunSettings, log: Callable[[str], None]) -> RunSettings:
    """Settings that say which library multiplies."""
    train = settings.train
    if train.matmul == "onednn" and not has_onednn():
        raise UsageError("train.matmul is onednn, and this build of torch has no oneDNN. Use auto or torch.")
    if train.matmul != "auto":
        return settings
    if train.device != "cpu" or train.precision == "bf16" or not has_onednn():
        return settings.with_values(**{"train.matmul": "torch"})
    speed = from_writer(onednn_speed(torch.get_num_threads()))
    chosen = "onednn" if speed >= FASTER else "torch"
    if chosen == "onednn":
        log(f"oneDNN multiplies float32 matrices {speed:.1f} times as fast as torch's default here: training uses it")
    return settings.with_values(**{"train.matmul": chosen})


@cache
def onednn_speed(threads: int) -> float:
    """How many times as fast oneDNN is as torch's default here, for a linear layer and its gradients.

    It is measured once on a machine and kept in the cache, so that runs with the same seed choose the same."""
    words = [machine(), torch.__version__, torch.backends.cpu.get_cpu_capability(), str(threads)]
    words += [f"{name}={os.environ.get(name, '')}" for name in INSTRUCTIONS]
    kept = cache_directory("matmul") / f"{sha256(json.dumps(words).encode())[:32]}.json"
    if kept.exists():
        try:
            return validated(float, read_sealed(kept), kept)
        except SeqlabError as error:
            warn_of_damage(error)
    speed = time_products()
    write_sealed(kept, speed)
    return speed


def time_products() -> float:
    generator = torch.Generator().manual_seed(0)
    x, weight = (torch.randn(rows, WIDTH, generator=generator).requires_grad_() for rows in (ROWS, WIDTH))
    timed = time_rounds({library: partial(_step, library, x, weight) for library in ("torch", "onednn")}, TIMED_ROUNDS)
    return timed["torch"].least / timed["onednn"].least


def _step(library: str, x: Tensor, weight: Tensor, _: int) -> None:
    with matmul(library):
        torch.autograd.grad(linear(x, weight).sum(), (x, weight))
