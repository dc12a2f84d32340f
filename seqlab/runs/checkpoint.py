"""Checkpoints: everything that training needs to continue as if it had never stopped.

`checkpoints/step-N/` holds weights, optimizer and carried state as safetensors, and the rest as JSON in the manifest.
It is written under a temporary name, synced and renamed, so the newest one is always complete.
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
from seqlab.distributed.sharding import copy_into, divided_like, whole
from seqlab.runs import manifest, tensors
from seqlab.storage import refuse_link, sha256, storage_errors, sync_directory, write_through

M = TypeVar("M", bound=nn.Module)
KEPT_CHECKPOINTS = 2
# the state that an optimizer has for each parameter, where its groups do not say: `state_keys`
OPTIMIZER_STATE = {
    torch.optim.Adam: ("step", "exp_avg", "exp_avg_sq"),
    torch.optim.AdamW: ("step", "exp_avg", "exp_avg_sq"),
    torch.optim.SGD: ("momentum_buffer",),
    torch.optim.RMSprop: ("step", "square_avg"),
}
STEP = torch.zeros((), dtype=torch.float32)  # how an optimizer counts its steps
WEIGHTS, OPTIMIZER, CARRY = "weights.safetensors", "optimizer.safetensors", "carry.safetensors"


def save_checkpoint(
    directory: Path,
    step: int,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    carry: State | None,
    progress: dict[str, Any],
    needed: Collection[Path] = (),
    writes: bool = True,
) -> Path:
    """Write `directory/step-N`, then remove all but the newest two and those in `needed`.

    `writes`: False in a process that leaves it to another, and only adds its part of tensors that are sharded."""
    final = directory / f"step-{step}"
    weights = {name: whole(weight) for name, weight in weights_of(model).items()}
    moments = _optimizer_tensors(optimizer)
    if not writes:
        return final
    refuse_link(directory)
    contents = {WEIGHTS: tensors.to_bytes(weights), OPTIMIZER: tensors.to_bytes(moments)}
    if carry is not None:
        contents[CARRY] = tensors.to_bytes({str(i): leaf for i, leaf in enumerate(carry.tensors())})
    hashes = {name: [sha256(content)] for name, content in contents.items()}
    contents[manifest.NAME] = manifest.manifest(hashes, progress)
    temporary = directory / f".step-{step}.{os.getpid()}.tmp"
    for leftover in directory.glob(".step-*.tmp"):  # a save or a removal was killed
        shutil.rmtree(leftover, ignore_errors=True)
    with storage_errors(final, sum(map(len, contents.values()))):
        try:
            temporary.mkdir(parents=True)
            for name, content in contents.items():
                write_through(temporary / name, content)
            sync_directory(temporary)
            if final.exists():  # the same step again: --more on a finished run
                _remove(final)
            temporary.rename(final)
            sync_directory(directory)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    for old in checkpoints(directory)[:-KEPT_CHECKPOINTS]:
        if old not in needed:
            with suppress(OSError):
                _remove(old)
    return final


def _remove(path: Path) -> None:
    """Rename it first: a checkpoint that is only half removed must not look complete."""
    renamed = path.with_name(f".{path.name}.{os.getpid()}.old.tmp")
    path.rename(renamed)
    shutil.rmtree(renamed, ignore_errors=True)


def checkpoints(directory: Path) -> list[Path]:
    """All complete checkpoints, oldest first; an interrupted save leaves only a temporary name."""
    numbered = [(re.fullmatch(r"step-(\d{1,18})", path.name), path) for path in directory.glob("step-*")]
    return [path for _, path in sorted((int(match[1]), path) for match, path in numbered if match)]


def step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix("step-"))


def averaged(model: M, others: Collection[Path]) -> M:
    """A copy of the model with the mean of its weights and those of the given checkpoints."""
    mean = copy.deepcopy(model)
    parameters = weights_of(mean)
    with torch.no_grad():
        for path in others:
            weights = tensors.from_bytes(manifest.read_verified(path, WEIGHTS), path / WEIGHTS, parameters)
            for name, parameter in parameters.items():
                parameter.add_(weights[name].to(parameter.device))
        for parameter in parameters.values():
            parameter.div_(len(others) + 1)
    return mean


def read_progress(path: Path) -> dict[str, Any]:
    """The progress that `save_checkpoint` stored."""
    return manifest.read_manifest(path)[1]


def verify_checkpoint(path: Path) -> dict[str, bytes]:
    """Its files; an error if one is missing or damaged."""
    files, _ = manifest.read_manifest(path)
    names = [WEIGHTS, OPTIMIZER, *([CARRY] if CARRY in files else [])]
    return {name: manifest.read_verified(path, name) for name in names}


def load_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, start: State | None
) -> State | None:
    """Load a checkpoint into model and optimizer; return the carried state.

    Every file is verified before any tensor is used. `start` is the state before the first batch, or None if the next
    batch starts with a fresh state; tensors that grow with the text, such as a KV cache, have length 0 in it."""
    contents = verify_checkpoint(path)
    weights = tensors.from_bytes(contents[WEIGHTS], path / WEIGHTS, weights_of(model))
    present = tensors.read_header(contents[OPTIMIZER], path / OPTIMIZER).keys()
    moments = tensors.from_bytes(contents[OPTIMIZER], path / OPTIMIZER, _expected(optimizer, present))
    carry = None
    if CARRY in contents and start is not None:
        numbered = {str(i): leaf for i, leaf in enumerate(start.tensors())}
        leaves = tensors.from_bytes(contents[CARRY], path / CARRY, numbered)
        remaining = iter([leaves[name] for name in numbered])
        carry = start.map(lambda leaf: next(remaining).to(leaf.device))
    load_weights(model, weights)
    _load_optimizer(optimizer, moments)
    return carry


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Every parameter once: tied weights appear under their first name."""
    return dict(model.named_parameters())


def load_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    for name, parameter in model.named_parameters():
        copy_into(parameter, weights[name])


def _optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    flat = {}
    for index, values in optimizer.state_dict()["state"].items():
        flat |= {f"{index}.{key}": whole(value) for key, value in values.items() if value is not None}
    return flat


def _expected(optimizer: torch.optim.Optimizer, present: Collection[str]) -> dict[str, Tensor]:
    """Tensors shaped like those in the file: for each parameter all entries of its state, or none."""
    common = next((keys for cls, keys in OPTIMIZER_STATE.items() if isinstance(optimizer, cls)), ())
    groups = [(p, group.get("state_keys", common)) for group in optimizer.param_groups for p in group["params"]]
    expected: dict[str, Tensor] = {}
    for index, (parameter, keys) in enumerate(groups):
        state = {f"{index}.{key}": STEP if key == "step" else parameter for key in keys}
        if not state.keys().isdisjoint(present):
            expected |= state
    return expected


def _load_optimizer(optimizer: torch.optim.Optimizer, flat: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for name, tensor in flat.items():
        index, _, key = name.partition(".")
        part = tensor if key == "step" else divided_like(tensor, parameters[int(index)])
        state.setdefault(int(index), {})[key] = part
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
