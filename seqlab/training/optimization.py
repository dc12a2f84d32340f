"""Optimizers, learning-rate schedules and gradient clipping."""

import inspect
import math
from collections.abc import Sequence
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn

from seqlab.config import TrainSettings
from seqlab.distributed.sharding import is_sharded, whole
from seqlab.training.muon import MuonAdamW, hidden_matrices

Kind = TypeVar("Kind", bound=torch.optim.Optimizer)
PLATEAU_FACTOR = 0.5
PLATEAU_PATIENCE = 2  # evaluations without improvement before the rate falls


def make_optimizer(model: nn.Module, settings: TrainSettings) -> torch.optim.Optimizer:
    """Build the optimizer; weight decay applies to matrices only, not to biases and gains."""
    hidden = hidden_matrices(model) if settings.optimizer == "muon" else {}
    matrices = [p for p in model.parameters() if p.dim() >= 2 and p not in hidden]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    groups = [
        {"params": matrices, "weight_decay": settings.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    match settings.optimizer:
        case "adam":
            return _uncompiled(torch.optim.Adam)(groups, lr=settings.lr, betas=(0.9, settings.beta2), fused=True)
        case "adamw":
            return _uncompiled(torch.optim.AdamW)(groups, lr=settings.lr, betas=(0.9, settings.beta2), fused=True)
        case "muon":
            dtype = torch.float32 if settings.muon_precision == "float32" else torch.bfloat16
            return _uncompiled(MuonAdamW)(hidden, groups, settings.lr, settings.beta2, settings.weight_decay, dtype)
        case "sgd":
            fused = not any(map(is_sharded, model.parameters()))  # torch's fused kernel takes whole tensors only
            return _uncompiled(torch.optim.SGD)(groups, lr=settings.lr, momentum=settings.momentum, fused=fused)
        case "rmsprop":
            return _uncompiled(torch.optim.RMSprop)(groups, lr=settings.lr, alpha=settings.beta2)


def _uncompiled(kind: type[Kind]) -> type[Kind]:
    """The same optimizer with its methods as they are inside of what keeps torch's compiler from tracing them.

    That would import the compiler, which takes as long as importing torch, and nothing here is compiled."""
    names = "add_param_group", "zero_grad", "state_dict", "load_state_dict"
    methods: dict[str, Any] = {name: inspect.unwrap(getattr(kind, name)) for name in names}
    methods["step"] = torch.no_grad()(inspect.unwrap(kind.step))
    return cast(type[Kind], type(kind.__name__, (kind,), methods))


def warmup_steps(settings: TrainSettings, steps: int) -> int:
    """At most a fifth of the run."""
    return min(settings.warmup, steps // 5)


def learning_rate(
    settings: TrainSettings, step: int, steps: int, plateau: float = 1.0, epoch_steps: float = math.inf
) -> float:
    """The learning rate of a step counted from 0; `plateau` is the current factor of the plateau schedule."""
    warmup = warmup_steps(settings, steps)
    if step < warmup:
        return settings.lr * (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    match settings.schedule:
        case "cosine":
            share = settings.final_lr + (1 - settings.final_lr) * (1 + math.cos(math.pi * done)) / 2
        case "linear":
            share = 1 - (1 - settings.final_lr) * done
        case "plateau":
            share = plateau
        case "decay":  # Zaremba et al. 2014
            share = settings.decay ** max(0, int(step / epoch_steps) + 1 - settings.decay_after)
        case "constant":
            share = 1.0
    return settings.lr * share


def clip(parameters: Sequence[Tensor], settings: TrainSettings) -> float:
    """Clip the gradients in place; return their norm before clipping.

    If the norm is not finite, the gradients stay as they are, so the tensor that caused it can be named."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    norm = whole(torch.nn.utils.get_total_norm(gradients))
    if not bool(torch.isfinite(norm)):
        return float(norm)
    if settings.clip_value is not None:
        torch.nn.utils.clip_grad_value_(parameters, settings.clip_value)
    if settings.clip_norm is not None:
        torch.nn.utils.clip_grads_with_norm_(parameters, settings.clip_norm, norm)
    return float(norm)
