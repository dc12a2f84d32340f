"""How far two runs are apart: their losses step by step, and their weights."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file

from seqlab.runs.checkpoint import checkpoints


def losses(run: Path) -> list[float]:
    """The training losses and validation losses, in their order."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [line.get("loss", line.get("validation_loss")) for line in lines]


def norms(run: Path) -> list[float]:
    """Of the gradients, step by step: Adam's updates would not show that all are too large."""
    lines = (json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines())
    return [line["norm"] for line in lines if "norm" in line]


def apart(run: Path, other: Path) -> tuple[float, float]:
    """The largest difference of losses, and of weights in the newest checkpoint."""
    first, second = losses(run), losses(other)
    of_losses = max(abs(a - b) for a, b in zip(first, second, strict=True))
    newest = (checkpoints(one / "checkpoints")[-1] / "weights.safetensors" for one in (run, other))
    return of_losses, tensors_apart(*newest)


def dtype_of(run: Path) -> torch.dtype:
    return next(iter(load_file(run / "model.safetensors").values())).dtype


def tensors_apart(first: Path, second: Path) -> float:
    """The largest difference of two files of tensors."""
    one, other = load_file(first), load_file(second)
    assert one.keys() == other.keys()
    return max(float((one[name] - other[name]).abs().max()) for name in one)
