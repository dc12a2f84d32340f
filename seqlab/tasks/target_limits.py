"""How long a translation may get: limits that are not set follow from the training pairs, with room for longer ones."""

import math

import numpy as np

from seqlab.config import RunSettings
from seqlab.tasks.dataset import ExampleDataset, Log
from seqlab.tasks.example_settings import LONGEST_TARGET, ROOM, ROOM_FACTOR, TranslateSettings
from seqlab.wording import counted, split_in_words


def fit_target_limits(settings: RunSettings, dataset: ExampleDataset, log: Log) -> RunSettings:
    """Settings with both limits; says how many targets are beyond them."""
    task, train = settings.task.settings_as(TranslateSettings), dataset.splits["train"]
    read_N = train.longest_N <= task.max_length
    targets_N = train.target_lengths_N[read_N] - 1  # with the end token, without the begin token
    ratios_N = targets_N / np.maximum(1, train.input_lengths_N[read_N])
    fitted: dict[str, float] = {}
    if task.max_target_length is None:
        fitted["task.max_target_length"] = min(LONGEST_TARGET, math.ceil(ROOM_FACTOR * targets_N.max()) + ROOM)
    if task.max_target_ratio is None:
        fitted["task.max_target_ratio"] = min(LONGEST_TARGET, round(ROOM_FACTOR * float(ratios_N.max()), 2))
    if fitted:
        settings = settings.with_values(**fitted)
        task = settings.task.settings_as(TranslateSettings)
        which = "" if len(fitted) > 1 else f"{next(iter(fitted))}, which was not set, is "
        log(
            f"a translation may have {task.max_target_length:,} tokens, and {task.max_target_ratio:g} for each "
            f"source token plus {ROOM}: {which}{ROOM_FACTOR} times the most in training"
        )
    beyond = _beyond_limit(dataset, task)
    if beyond:
        log(f"targets that are longer than a translation may be, so that none is like them: {', '.join(beyond)}")
    return settings


def _beyond_limit(dataset: ExampleDataset, task: TranslateSettings) -> list[str]:
    """How many targets have more tokens than the translations of their sources may have; those that are left out of
    training aside."""
    found = []
    for name, split in dataset.splits.items():
        read = split.up_to(task.max_length)
        limits = [task.target_limit(length) for length in read.input_lengths_N.tolist()]
        longer_N = read.target_lengths_N - 1 > np.array(limits)  # the begin token is not written
        if longer_N.any():
            longest = read.target_lengths_N[longer_N].max() - 1
            examples = counted(len(read), f"{split_in_words(name)} example")
            found.append(f"{longer_N.sum():,} of {examples} (up to {longest:,} tokens)")
    return found
