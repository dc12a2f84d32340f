"""How long training steps and evaluations take on this machine, how much that varies, and what disturbs it."""

import copy
import math
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from seqlab.config import TrainSettings
from seqlab.distributed.group import from_writer
from seqlab.models.model import Model
from seqlab.tasks.task import Task
from seqlab.threads import available_cores
from seqlab.training.evaluations import EVALUATED_TOKENS
from seqlab.training.step import TrainingStep
from seqlab.wording import counted

TIMED_STEPS = 20
ROUGH_STEPS = 5  # for an estimate that nothing depends on: on a busy machine, a step may take seconds
FEWEST_ROUNDS = 9
ENOUGH_SECONDS = 2.0  # of all rounds together: fast steps take more rounds, because a short moment says little
WARMED_TOKENS = 500  # scored before an evaluation is timed, to compile and allocate
# what training adds to steps and scores, in seconds of one core
STARTUP_SECONDS = 5.0  # imports, the text, the first step
RUN_SECONDS = 1.2  # the files of a run, its curves and its card
EVALUATION_SECONDS = 0.3  # a sample and a checkpoint at every evaluation
BASELINE_SECONDS = 4e-6  # for each training token that the baselines count
UNSTEADY = 0.2  # a spread from which on timings are said to vary
ROOM = 0.3  # cores that other programs may use unnoticed


@dataclass(frozen=True)
class Duration:
    """The median of repeated timings, their spread (half the range of the middle half, as a share of the median), and
    the least."""

    seconds: float
    spread: float = 0.0
    least: float = 0.0


@dataclass(frozen=True)
class StepTiming:
    step_seconds: float
    evaluation_seconds: float
    spread: float = 0.0  # of the steps, as a share


@dataclass
class OtherPrograms:
    """How many cores other programs use, None where the system does not tell; and how many this one got."""

    cores: float | None = None
    own_cores: float = math.inf


def time_training(model: Model, task: Task, train: TrainSettings, rough: bool = False) -> StepTiming:
    """Time a few steps and one evaluation on a copy of the model, so that the run itself starts clean."""
    training = TrainingStep(copy.deepcopy(model), task, train)
    rounds = min(TIMED_STEPS, ROUGH_STEPS) if rough else TIMED_STEPS
    step = time_rounds({"step": lambda number: take_step(training, number)}, rounds)["step"]
    task.validate(training.model.eval(), WARMED_TOKENS)
    evaluation = seconds_of(task.validate, training.model, EVALUATED_TOKENS)
    return StepTiming(step.seconds, evaluation, step.spread)


def take_step(step: TrainingStep, number: int) -> None:
    step.gradients(number)
    step.update()


def time_rounds(tasks: Mapping[str, Callable[[int], object]], rounds: int = FEWEST_ROUNDS) -> dict[str, Duration]:
    """Time tasks in rounds of one repeat each, so that a disturbance hits all of them; at least so many rounds.

    The first round, which compiles and allocates, does not count."""
    for task in tasks.values():
        task(0)
    times: dict[str, list[float]] = {name: [] for name in tasks}
    number, began = 0, time.perf_counter()
    # steps of several processes are taken together, so all of them take as many
    while from_writer(number < rounds or (number < 4 * rounds and time.perf_counter() - began < ENOUGH_SECONDS)):
        number += 1
        for name, task in tasks.items():
            times[name].append(seconds_of(task, number))
    return {name: duration(seconds) for name, seconds in times.items()}


def duration(seconds: list[float]) -> Duration:
    """The median and the spread of some timings."""
    median = statistics.median(seconds)
    low, _, high = statistics.quantiles(seconds, n=4, method="inclusive") if len(seconds) > 1 else [median] * 3
    return Duration(median, (high - low) / 2 / median if median else 0.0, min(seconds))


def seconds_of(function: Callable[..., object], *arguments: object) -> float:
    began = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - began


@contextmanager
def watch_other_programs() -> Iterator[OtherPrograms]:
    """While entered, count the cores that other programs use."""
    others, before, began = OtherPrograms(), _busy_seconds(), time.perf_counter()
    own_before = time.process_time()
    yield others
    after, seconds = _busy_seconds(), max(1e-9, time.perf_counter() - began)
    others.own_cores = (time.process_time() - own_before) / seconds
    if before is not None and after is not None:
        others.cores = max(0.0, (after - before) / seconds - others.own_cores)


def disturbance(others: OtherPrograms, spread: float, cores: int) -> str | None:
    """Why timings are rough, in a sentence, if they are: `cores` are those that the work will need."""
    available = available_cores()
    if others.cores is not None and others.cores + min(cores, available) > available + ROOM:
        return (
            f"The machine is busy: other programs used about {others.cores:.1f} of its "
            f"{counted(available, 'core')} while steps were timed. Timings and estimates are rough."
        )
    if spread > UNSTEADY:
        return (
            f"Step times vary by {spread:.0%} on this machine, perhaps because other programs use it: timings and "
            f"estimates are rough."
        )
    return None


def time_range(seconds: float, others: OtherPrograms, spread: float, threads: int) -> tuple[float, float]:
    """From the time on a machine that has nothing else to do, to the slower ones of the timings."""
    return seconds * min(others.own_cores / threads, 1 / (1 + spread)), seconds * (1 + spread)


def _busy_seconds() -> float | None:
    """Seconds that the cores of this process have worked since the system started, for whatever program."""
    with suppress(OSError, ValueError, IndexError, AttributeError):
        mine = {f"cpu{number}" for number in os.sched_getaffinity(0)}
        ticks = 0
        for line in Path("/proc/stat").read_text().splitlines():
            name, *counts = line.split()
            if name in mine:
                user, nice, system, _idle, _iowait, *rest = map(int, counts)
                ticks += user + nice + system + sum(rest[:3])  # interrupts and what another guest took
        return ticks / os.sysconf("SC_CLK_TCK")
    return None
