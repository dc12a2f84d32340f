"""Which precision a run trains in: bfloat16 is taken where it is measured to be faster on this machine."""

import copy
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from seqlab.config import RunSettings, TrainSettings
from seqlab.distributed.group import from_writer
from seqlab.errors import UsageError
from seqlab.models.model import Model
from seqlab.tasks.task import Task
from seqlab.threads import default_threads
from seqlab.training.matmul import with_measured_matmul
from seqlab.training.step import TrainingStep
from seqlab.training.timing import disturbance, take_step, time_rounds, watch_other_programs

FASTER = 1.15  # how many times as fast a step in bf16 has to be for precision=auto
SLOWER = 0.95  # below this, precision=bf16 is refused
TIMED_ROUNDS = 5  # one step of each precision, at least
TIMED_PRODUCTS = 10  # of each precision, at least
TIMED_WIDTH = 256  # of the matrices that are multiplied


def with_measured_precision(
    settings: RunSettings, model: Model, task: Task, log: Callable[[str], None], name: str = ""
) -> RunSettings:
    """Settings whose precision is decided, with the measured speed, and what multiplies float32 matrices.

    UsageError where bf16 was asked for and is slower.

    `name` is that of the model, if there are several."""
    settings = _with_muon_precision(with_measured_matmul(settings, log), log, name)
    asked, train = settings.train.precision, settings.train
    if asked == "float32" or train.bf16_speed is not None:
        return settings
    with watch_other_programs() as others:
        speed = from_writer(bf16_speed(model, task, train))
    rough = disturbance(others, 0.0, train.threads or default_threads())
    measured = f"a step in bf16 is {speed:.2f} times as fast as in float32 ({TIMED_ROUNDS} or more timed of each)"
    of = f"{name}: " if name else ""
    if asked == "bf16" and speed < SLOWER:
        raise UsageError(
            f"{of}train.precision is bf16, which is slower here: {measured}.{_why(train.device)} Use float32, or auto."
            + (f" {rough}" if rough else "")
        )
    chosen = "bf16" if asked == "bf16" or speed >= FASTER else "float32"
    least = "" if asked == "bf16" else f"; bf16 has to be {FASTER:g} times as fast"
    log(f"{of}{measured}: training in {chosen}{least}")
    if rough:
        log(rough)
    return settings.with_values(**{"train.precision": chosen, "train.bf16_speed": round(speed, 3)})


def _with_muon_precision(settings: RunSettings, log: Callable[[str], None], name: str) -> RunSettings:
    """Settings that say in which precision Muon iterates. Without instructions for bf16, a processor may multiply
    matrices a hundred times as slowly in it, and not noticeably slower in a step without Muon's products."""
    train = settings.train
    if train.optimizer != "muon" or train.muon_precision != "auto":
        return settings
    speed = from_writer(product_speed(train.device))
    chosen = "bf16" if speed >= 1 else "float32"
    if chosen == "float32":
        of = f"{name}: " if name else ""
        log(f"{of}a matrix product in bf16 is {speed:.2g} times as fast as in float32: Muon iterates in float32")
    return settings.with_values(**{"train.muon_precision": chosen})


def product_speed(device: str) -> float:
    """How many times as fast a product of matrices is in bf16."""
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randn(TIMED_WIDTH, TIMED_WIDTH, generator=generator).to(device)
    values = {name: drawn.to(dtype) for name, dtype in (("float32", torch.float32), ("bf16", torch.bfloat16))}
    timed = time_rounds({name: partial(_multiply, value) for name, value in values.items()}, TIMED_PRODUCTS)
    return timed["float32"].least / timed["bf16"].least


def _multiply(value: Tensor, _: int) -> float:
    return float((value @ value)[0, 0])  # waits for a GPU


def bf16_speed(model: Model, task: Task, train: TrainSettings) -> float:
    """How many times as fast a step is in bf16, on copies of the model. The fastest steps are compared, because other
    programs only ever slow a step down."""
    steps = {
        precision: TrainingStep(copy.deepcopy(model), task, train.model_copy(update={"precision": precision}))
        for precision in ("float32", "bf16")
    }
    timed = time_rounds(
        {name: lambda number, step=step: take_step(step, number) for name, step in steps.items()}, TIMED_ROUNDS
    )
    return timed["float32"].least / timed["bf16"].least


def _why(device: str) -> str:
    """What explains a slow bf16, where torch tells."""
    if device == "cpu" and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return " This processor has no instructions for bf16."
    return ""
