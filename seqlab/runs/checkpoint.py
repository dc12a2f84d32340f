"""Checkpoints: everything that training needs to go on as if it had never stopped.

`checkpoints/step-N/` holds weights, optimiser and carried state as safetensors, and the rest as JSON in the manifest.
It is written under another name, seen to the disk and renamed, so that the newest one is always whole.
"""

import os
import re
import shutil
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from seqlab.contracts import State
from seqlab.errors import DataError
from seqlab.runs import manifest, tensors
from seqlab.runs.storage import sha256, storage_errors, sync_directory, write_through

KEPT = 2
WEIGHTS, OPTIMISER, CARRY = "weights.safetensors", "optimiser.safetensors", "carry.safetensors"


def save_checkpoint(
    directory: Path,
    step: int,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    carry: State | None,
    progress: dict[str, Any],
) -> Path:
    """Write `directory/step-N`, then drop all but the newest few."""
    contents = {WEIGHTS: tensors.to_bytes(weights_of(model)), OPTIMISER: tensors.to_bytes(_flat(optimiser))}
    if carry is not None:
        contents[CARRY] = tensors.to_bytes({str(i): leaf for i, leaf in enumerate(carry.tensors())})
    hashes = {name: [sha256(content)] for name, content in contents.items()}
    contents[manifest.NAME] = manifest.manifest(hashes, progress)
    final = directory / f"step-{step}"
    temporary = directory / f".step-{step}.{os.getpid()}.tmp"
    with storage_errors(final, sum(map(len, contents.values()))):
        try:
            temporary.mkdir(parents=True, exist_ok=True)
            for name, content in contents.items():
                write_through(temporary / name, content)
            sync_directory(temporary)
            if final.exists():  # the same step again, after a signal: the bits are the same too
                shutil.rmtree(final)
            temporary.rename(final)
            sync_directory(directory)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    for old in checkpoints(directory)[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)
    return final


def checkpoints(directory: Path) -> list[Path]:
    """The complete ones, oldest first. What an interrupted save left behind has another name."""
    numbered = [(re.fullmatch(r"step-(\d{1,18})", path.name), path) for path in directory.glob("step-*")]
    return [path for _, path in sorted((int(match[1]), path) for match, path in numbered if match)]


def load_checkpoint(
    path: Path, model: nn.Module, optimiser: torch.optim.Optimizer, start: State | None
) -> tuple[State | None, dict[str, Any]]:
    """Put a checkpoint's content into model and optimiser; return the carried state and the progress.

    Every file is verified before any tensor is used. `start` is a state of the right structure."""
    files, progress = manifest.read_manifest(path)
    contents = {name: manifest.verified(path, name) for name in files}
    for name in (WEIGHTS, OPTIMISER):
        if name not in contents:
            raise DataError(f"'{path / name}' is missing from the manifest.")
    weights = tensors.from_bytes(contents[WEIGHTS], path / WEIGHTS, weights_of(model))
    moments = tensors.from_bytes(contents[OPTIMISER], path / OPTIMISER)
    carry = None
    if CARRY in contents and start is not None:
        carry = _carried(contents[CARRY], path / CARRY, start)
    put_weights(model, weights)
    _unflat(optimiser, moments, path / OPTIMISER)
    return carry, progress


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Each trained tensor once: a tied one appears under its first name."""
    return dict(model.named_parameters())


def put_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])


def _flat(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    flat = {}
    for index, values in optimiser.state_dict()["state"].items():
        flat |= {f"{index}.{key}": value for key, value in values.items() if value is not None}
    return flat


def _unflat(optimiser: torch.optim.Optimizer, flat: dict[str, Tensor], path: Path) -> None:
    content = optimiser.state_dict()
    parameters = [p for group in optimiser.param_groups for p in group["params"]]
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in flat.items():
        index, _, key = name.partition(".")
        if not index.isdigit() or int(index) >= len(parameters):
            raise DataError(f"'{path}' does not fit the model: there is no parameter for '{name}'.")
        if tensor.numel() != 1 and tensor.shape != parameters[int(index)].shape:
            raise DataError(f"'{path}' does not fit the model: '{name}' has shape {list(tensor.shape)}.")
        state.setdefault(int(index), {})[key] = tensor
    optimiser.load_state_dict({**content, "state": state})


def _carried(content: bytes, path: Path, start: State) -> State:
    stored = tensors.from_bytes(content, path)
    leaves = [stored.get(str(i)) for i in range(len(start.tensors()))]
    if any(leaf is None for leaf in leaves) or len(stored) != len(leaves):
        raise DataError(f"'{path}' does not fit the model: it carries {len(stored)} tensors, expected {len(leaves)}.")
    remaining = iter(leaves)
    return start.map(lambda _: next(remaining))  # pyright: ignore[reportArgumentType, reportReturnType]
