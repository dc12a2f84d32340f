"""Checkpoints: everything that training needs to go on as if it had never stopped.

`checkpoints/step-N/` holds weights, optimizer and carried state as safetensors, and the rest as JSON in the manifest.
It is written under another name, seen to the disk and renamed, so that the newest one is always whole.
"""

import copy
import os
import re
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from seqlab.contracts import State
from seqlab.runs import manifest, tensors
from seqlab.storage import sha256, storage_errors, sync_directory, write_through

M = TypeVar("M", bound=nn.Module)
KEPT = 2
# what an optimizer keeps of each parameter that it has moved
MOMENTS = {
    torch.optim.Adam: ("step", "exp_avg", "exp_avg_sq"),
    torch.optim.AdamW: ("step", "exp_avg", "exp_avg_sq"),
    torch.optim.SGD: ("momentum_buffer",),
    torch.optim.RMSprop: ("step", "square_avg"),
}
WEIGHTS, OPTIMISER, CARRY = "weights.safetensors", "optimizer.safetensors", "carry.safetensors"


def save_checkpoint(
    directory: Path,
    step: int,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    carry: State | None,
    progress: dict[str, Any],
    needed: Collection[Path] = (),
) -> Path:
    """Write `directory/step-N`, then drop all but the newest few and those that are still needed."""
    contents = {WEIGHTS: tensors.to_bytes(weights_of(model)), OPTIMISER: tensors.to_bytes(_flat(optimizer))}
    if carry is not None:
        contents[CARRY] = tensors.to_bytes({str(i): leaf for i, leaf in enumerate(carry.tensors())})
    hashes = {name: [sha256(content)] for name, content in contents.items()}
    contents[manifest.NAME] = manifest.manifest(hashes, progress)
    final = directory / f"step-{step}"
    temporary = directory / f".step-{step}.{os.getpid()}.tmp"
    for left in directory.glob(".step-*.tmp"):  # by a save or a removal that was killed
        shutil.rmtree(left, ignore_errors=True)
    with storage_errors(final, sum(map(len, contents.values()))):
        try:
            temporary.mkdir(parents=True)
            for name, content in contents.items():
                write_through(temporary / name, content)
            sync_directory(temporary)
            if final.exists():  # the same step again: a finished run that is to go on
                _remove(final)
            temporary.rename(final)
            sync_directory(directory)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    for old in checkpoints(directory)[:-KEPT]:
        if old not in needed:
            with suppress(OSError):
                _remove(old)
    return final


def _remove(path: Path) -> None:
    """Take the name away first, so that one half removed is never taken for whole."""
    nameless = path.with_name(f".{path.name}.{os.getpid()}.old.tmp")
    path.rename(nameless)
    shutil.rmtree(nameless, ignore_errors=True)


def checkpoints(directory: Path) -> list[Path]:
    """The complete ones, oldest first. What an interrupted save left behind has another name."""
    numbered = [(re.fullmatch(r"step-(\d{1,18})", path.name), path) for path in directory.glob("step-*")]
    return [path for _, path in sorted((int(match[1]), path) for match, path in numbered if match)]


def step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix("step-"))


def averaged(model: M, others: Collection[Path]) -> M:
    """A copy of the model whose weights are the mean of its own and those of the given checkpoints."""
    mean = copy.deepcopy(model)
    own = weights_of(mean)
    with torch.no_grad():
        for path in others:
            weights = tensors.from_bytes(manifest.read_verified(path, WEIGHTS), path / WEIGHTS, own)
            for name, parameter in own.items():
                parameter.add_(weights[name].to(parameter.device))
        for parameter in own.values():
            parameter.div_(len(others) + 1)
    return mean


def read_progress(path: Path) -> dict[str, Any]:
    """What `save_checkpoint` was given as the progress."""
    return manifest.read_manifest(path)[1]


def load_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, start: State | None
) -> State | None:
    """Put a checkpoint's content into model and optimizer; return the carried state.

    Every file is verified before any tensor is used. `start` is the state before a first batch, None where the next
    batch needs none; what grows with the text, such as keys and values, has no extent in it yet."""
    files, _ = manifest.read_manifest(path)
    names = [WEIGHTS, OPTIMISER, *([CARRY] if CARRY in files else [])]
    contents = {name: manifest.read_verified(path, name) for name in names}
    weights = tensors.from_bytes(contents[WEIGHTS], path / WEIGHTS, weights_of(model))
    present = tensors.check_header(contents[OPTIMISER], path / OPTIMISER).keys()
    moments = tensors.from_bytes(contents[OPTIMISER], path / OPTIMISER, _expected(optimizer, present))
    carry = None
    if CARRY in contents and start is not None:
        numbered = {str(i): leaf for i, leaf in enumerate(start.tensors())}
        leaves = tensors.from_bytes(contents[CARRY], path / CARRY, numbered)
        remaining = iter([leaves[name] for name in numbered])
        carry = start.map(lambda leaf: next(remaining).to(leaf.device))
    load_weights(model, weights)
    _unflat(optimizer, moments)
    return carry


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Each trained tensor once: a tied one appears under its first name."""
    return dict(model.named_parameters())


def load_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])


def _flat(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    flat = {}
    for index, values in optimizer.state_dict()["state"].items():
        flat |= {f"{index}.{key}": value for key, value in values.items() if value is not None}
    return flat


def _expected(optimizer: torch.optim.Optimizer, present: Collection[str]) -> dict[str, Tensor]:
    """Tensors like those that belong in the file: of each parameter either all that is kept, or nothing."""
    kept = next(keys for kind, keys in MOMENTS.items() if isinstance(optimizer, kind))
    expected: dict[str, Tensor] = {}
    for index, parameter in enumerate(p for group in optimizer.param_groups for p in group["params"]):
        own = {f"{index}.{key}": torch.zeros(()) if key == "step" else parameter for key in kept}
        if not own.keys().isdisjoint(present):
            expected |= own
    return expected


def _unflat(optimizer: torch.optim.Optimizer, flat: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in flat.items():
        index, _, key = name.partition(".")
        state.setdefault(int(index), {})[key] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
