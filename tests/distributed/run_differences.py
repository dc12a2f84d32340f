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


def apart(run: Path, other: Path) -> tuple[float, float]:
    """The largest difference of losses, and of weights in the newest checkpoint."""
    first, second = losses(run), losses(other)
    of_losses = max(abs(a - b) for a, b in zip(first, second, strict=True))
    first, second = (load_file(checkpoints(one / "checkpoints")[-1] / "weights.safetensors") for one in (run, other))
    assert first.keys() == second.keys()
    return of_losses, max(float((first[name] - second[name]).abs().max()) for name in first)


def dtype_of(run: Path) -> torch.dtype:
    return next(iter(load_file(run / "model.safetensors").values())).dtype
