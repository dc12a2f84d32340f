"""Memory before and while training: settings that stay inside a limit, and a sentence where memory does not suffice.

The global batch stays as it is: it is divided into equal batches whose gradients are summed. Where rows depend on each
other, the texts of a contrastive batch are encoded in chunks; a batch whose rows carry state stays whole. Where that
is not enough, the inside of layers is computed again, which takes a third more time.
"""

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch

from seqlab.config import BatchShape, RunSettings
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.errors import TrainingFailed, UsageError
from seqlab.models.parameter_count import in_units
from seqlab.runs.machine import free_memory, resident_memory
from seqlab.tasks.dataset import AnyDataset
from seqlab.training.footprint import Footprint, footprint
from seqlab.training.memory_limit import MemoryLimit

ALLOCATOR_SHARE = 0.25  # of a limit: for evaluations, compiled kernels, and blocks too small for the next tensor
KEPT = 2.0  # times the estimate: the highest peak where freed memory stays for the next step (benchmarks/memory.py)
# what torch says on a CPU, whose error has no class of its own
CPU_ALLOCATION = re.compile(r"can't allocate memory|not enough memory|could not create a memory", re.IGNORECASE)


def largest_shape(settings: RunSettings, dataset: AnyDataset) -> BatchShape:
    """The largest batch that training takes from the data."""
    task, train = settings.task.settings, dataset.splits["train"]
    if not isinstance(train, ExampleSplit):
        return task.batch_shape
    read_N = train.longest_N <= task.sequence_length
    if not read_N.any():
        return task.batch_shape
    return task.shape_within(int(train.input_lengths_N[read_N].max()), int(train.target_lengths_N[read_N].max()))


def of_process(limit: MemoryLimit, settings: RunSettings) -> MemoryLimit:
    """The limit with what the process has already, if it computes on the CPU."""
    on_cpu = limit.size is not None and torch.device(settings.train.device).type == "cpu"
    return replace(limit, held=resident_memory() or 0) if on_cpu else limit


def fit_memory(
    settings: RunSettings, dataset: AnyDataset, limit: MemoryLimit, log: Callable[[str], None]
) -> RunSettings:
    """Settings that fit into the limit, or into the free memory, if that is asked for; otherwise the settings as they
    are, with a warning if they do not fit."""
    estimate = _estimate(settings, dataset)
    available = free_memory() if limit.size is None else limit.size - limit.held
    if available is None:
        if limit.asked:
            raise UsageError("this system does not say how much memory is free: give a limit, such as --memory 2GB.")
        return settings
    whose = f"{in_units(available)} are free here"
    if limit.size is not None:
        whose = f"{in_units(limit.size)} are the limit"
        whose += f", {in_units(limit.held)} of which the process has before training" if limit.held else ""
    if not limit.asked:
        if estimate.peak > available:
            log(f"training needs {in_words(estimate)}, and {whose}: --fit changes the settings so that it fits")
        return _returning(settings, estimate, available, log)
    if available <= 0:
        raise UsageError(f"{whose}: nothing is left for training. Give more (--memory).")
    usable = int(available * (1 - ALLOCATOR_SHARE))
    ways = _ways(settings, dataset)
    chosen = next(filter(None, (_divided(way, dataset, usable) for way in ways)), None)
    if chosen is None:
        least = _estimate(_smallest(ways[-1]), dataset)
        raise UsageError(
            f"even {_least(ways[-1])}, training needs {in_words(least)}, and {whose}; {1 - ALLOCATOR_SHARE:.0%} of "
            f"the rest are used. Make the model smaller (--hidden, --layers, --vocab-size), or use --optimizer sgd, "
            f"which keeps fewer moments."
        )
    fitted = _estimate(chosen, dataset)
    log(f"--fit: {_described(settings, chosen)}; it needs {in_words(fitted)}; {whose}")
    return _returning(chosen, fitted, available, log)


def in_words(estimate: Footprint) -> str:
    """An estimate with its parts."""
    phase, parts = estimate.largest_phase
    sizes = ", ".join(f"{name} {in_units(size)}" for name, size in parts.items() if size)
    return f"about {in_units(estimate.peak)} of memory {phase} ({sizes})"


@contextmanager
def memory_errors(settings: RunSettings, dataset: AnyDataset, folder: str) -> Iterator[None]:
    """TrainingFailed, with the estimate, where memory does not suffice."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        is_memory = isinstance(error, MemoryError | torch.OutOfMemoryError) or CPU_ALLOCATION.search(str(error))
        if not is_memory:
            raise
        estimate = _estimate(settings, dataset)
        raise TrainingFailed(
            f"there is not enough memory: training needs {in_words(estimate)}. Divide the batch with --fit, or make "
            f"the batch or the model smaller. Nothing is lost: the last checkpoint is in '{folder}'."
        ) from error


def _estimate(settings: RunSettings, dataset: AnyDataset) -> Footprint:
    return footprint(settings, dataset.vocabulary.sizes, largest_shape(settings, dataset))


def _returning(settings: RunSettings, estimate: Footprint, available: int, log: Callable[[str], None]) -> RunSettings:
    """The settings; freed memory goes back at once where keeping it could take more than there is."""
    on_cpu = torch.device(settings.train.device).type == "cpu"
    if not (settings.train.keep_memory and on_cpu and KEPT * estimate.peak > available):
        return settings
    log("freed memory is returned at once (train.keep_memory=false), which is slower: kept, it could take too much")
    return settings.with_values(**{"train.keep_memory": False})


def _ways(settings: RunSettings, dataset: AnyDataset) -> list[RunSettings]:
    """The settings, and with the inside of layers computed again, if that needs less memory."""
    again = settings.with_values(**{"train.recompute": True})
    fewer = _estimate(again, dataset).activations < _estimate(settings, dataset).activations
    return [settings, again] if fewer else [settings]


def _divided(settings: RunSettings, dataset: AnyDataset, usable: int) -> RunSettings | None:
    """The settings in the fewest parts that fit; None if none do."""
    for parts in _possible_parts(settings):
        candidate = _in_parts(settings, parts)
        if _estimate(candidate, dataset).peak <= usable:
            return candidate
    return None


def _possible_parts(settings: RunSettings) -> list[int]:
    """The numbers of equal parts that a batch can have, from one on."""
    task, most = settings.task.settings, 4096 // settings.train.accumulate
    if task.option("batching", "windows") == "stream":
        return [1]  # rows carry their state from batch to batch, so fewer rows would be another training
    if task.has("cache_batch"):
        return [2**power for power in range(int(math.log2(task.batch_size)) + 1)]
    if task.option("batch_tokens", None) is not None:
        return [2**power for power in range(13) if 2**power <= most]
    return [parts for parts in range(1, task.batch_size + 1) if task.batch_size % parts == 0 and parts <= most]


def _in_parts(settings: RunSettings, parts: int) -> RunSettings:
    task = settings.task.settings
    if parts == 1:
        return settings
    if task.has("cache_batch"):
        return settings.with_values(**{"task.cache_batch": max(1, task.batch_size // parts)})
    accumulate = {"train.accumulate": settings.train.accumulate * parts}
    tokens = task.option("batch_tokens", None)
    if tokens is not None:
        return settings.with_values(**{"task.batch_tokens": max(1, tokens // parts), **accumulate})
    return settings.with_values(**{"task.batch_size": task.batch_size // parts, **accumulate})


def _smallest(settings: RunSettings) -> RunSettings:
    return _in_parts(settings, _possible_parts(settings)[-1])


def _least(settings: RunSettings) -> str:
    again = " and with the inside of layers computed again (train.recompute)" if settings.train.recompute else ""
    if settings.task.settings.option("batching", "windows") == "stream":
        return f"as it is{again}, and task.batching=stream cannot divide a batch, whose rows carry their state"
    return f"in the smallest parts of a batch{again}"


def _described(before: RunSettings, after: RunSettings) -> str:
    if after == before:
        return "the batch fits as it is"
    if not after.train.recompute or before.train.recompute:
        return _parts_described(before, after)
    again = "the inside of layers is computed again for the gradient (train.recompute=true), which takes longer"
    whole = after == before.with_values(**{"train.recompute": True})
    return f"{'the batch stays whole' if whole else _parts_described(before, after)}, and {again}"


def _parts_described(before: RunSettings, after: RunSettings) -> str:
    task, parts = after.task.settings, after.train.accumulate // before.train.accumulate
    if task.has("cache_batch"):
        return f"{task.option('cache_batch', None)} texts are encoded at a time (task.cache_batch)"
    of = "tokens" if task.option("batch_tokens", None) is not None else "sequences"
    return (
        f"a batch of {before.task.settings.batch_tokens_or_size:,} {of} is taken in {parts} parts of "
        f"{task.batch_tokens_or_size:,} (train.accumulate={after.train.accumulate})"
    )
