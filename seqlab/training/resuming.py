"""What a stopped run is resumed from, and what is said when it stops."""

import shlex
from collections.abc import Callable
from pathlib import Path

from seqlab.errors import DataError, MissingInput, SeqlabError
from seqlab.registry import with_plugins
from seqlab.runs.checkpoint import checkpoints, step_of, verify_checkpoint
from seqlab.runs.directory import RunDirectory


def newest_checkpoint(directory: RunDirectory, start_step: int, log: Callable[[str], None]) -> Path:
    """The newest one that is intact, of those since `start_step`; damaged ones are logged."""
    again = f"Train it again with --overwrite, or start another run from its weights: --init {directory.path}."
    paths = checkpoints(directory.checkpoints)
    if not paths:
        raise MissingInput(
            f"'{directory.path}' has no checkpoint to resume from: it was stopped before the first, or they were "
            f"removed. {again}"
        )
    damage = ""
    for path in reversed(paths):
        if damage and step_of(path) >= start_step:
            log(f"{damage} Going back to the checkpoint of step {step_of(path)}.")
        elif damage:
            break
        try:
            verify_checkpoint(path)
        except (DataError, MissingInput) as error:
            damage = str(error)
        else:
            return path
    raise DataError(f"{damage} There is no earlier checkpoint to resume from. {again}")


class TrainingInterrupted(SeqlabError):
    """A signal stopped training; there is a checkpoint to resume from."""

    def __init__(self, directory: RunDirectory, step: int, number: int):
        command = f"seqlab resume {shlex.quote(str(directory.path))}"
        super().__init__(f"stopped after step {step}; everything is saved. Continue with: {with_plugins(command)}")
        self.exit_code = 128 + number
