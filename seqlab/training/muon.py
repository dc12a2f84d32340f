"""Muon (Jordan et al. 2024): the update of a hidden matrix is its momentum, orthogonalized.

A parameter may be a stack of matrices, such as the gates of an LSTM or queries, keys and values: each is orthogonalized
by itself. Whatever is no hidden matrix (embeddings, heads, biases, gains) is updated by AdamW.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.adamw import adamw

from seqlab.contracts import Backbone

MOMENTUM = 0.95
# the polynomial of Newton and Schulz that Jordan et al. found: its slope at 0 is steep, so five steps suffice
SCHULZ, SCHULZ_STEPS = (3.4445, -4.7750, 2.0315), 5
SMALLEST_NORM = 1e-7
# of an orthogonal update beside the root of its longer side: the elements are then as large as those of an update of
# AdamW, whose learning rate therefore fits (Liu et al. 2025)
AS_LARGE_AS_ADAMW = 0.2
EPSILON = 1e-8  # of AdamW


def hidden_matrices(model: nn.Module) -> dict[nn.Parameter, int]:
    """The matrices of all backbones, each with the number of matrices that are stacked in its rows."""
    found: dict[nn.Parameter, int] = {}
    for backbone in model.modules():
        if isinstance(backbone, Backbone):
            blocks = matrix_blocks(backbone)
            found |= {p: blocks[name] for name, p in backbone.named_parameters() if blocks.get(name)}
    return found


def matrix_blocks(backbone: nn.Module) -> dict[str, int]:
    """For each two-dimensional parameter, by name, how many matrices are stacked in its rows; 0 for a table of vectors.

    One, unless the module that has the parameter, or one around it, says otherwise in `matrix_blocks`."""
    blocks = {name: 1 for name, parameter in backbone.named_parameters() if parameter.dim() == 2}
    for prefix, module in backbone.named_modules():
        declared: Mapping[str, int] = getattr(module, "matrix_blocks", {})
        blocks |= {f"{prefix}.{name}" if prefix else name: count for name, count in declared.items()}
    return blocks


class MuonAdamW(torch.optim.Optimizer):
    """Muon for the given matrices and their numbers of blocks, AdamW for the other groups."""

    def __init__(
        self,
        matrices: Mapping[nn.Parameter, int],
        groups: Sequence[dict[str, Any]],
        lr: float,
        beta2: float,
        decay: float,
        dtype: torch.dtype = torch.bfloat16,
    ):
        """`dtype` is that of the iteration, which need not be exact."""
        hidden = {
            "params": list(matrices),
            "blocks": list(matrices.values()),
            "weight_decay": decay,
            "dtype": dtype,
            "state_keys": ("momentum_buffer",),  # what a checkpoint holds for each parameter
        }
        others = [{**group, "state_keys": ("step", "exp_avg", "exp_avg_sq")} for group in groups]
        super().__init__([hidden, *others], {"lr": lr, "betas": (0.9, beta2), "fused": True})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        assert closure is None, "the gradients are there"
        hidden, *others = self.param_groups
        self._update_matrices(hidden)
        for group in others:
            self._update_by_adamw(group)

    def _update_matrices(self, group: dict[str, Any]) -> None:
        """Blocks of the same shape in one batch, whichever parameter they belong to."""
        by_shape: dict[torch.Size, list[tuple[Tensor, Tensor]]] = defaultdict(list)
        for parameter, blocks in zip(group["params"], group["blocks"], strict=True):
            if parameter.grad is None:
                continue
            state = self.state[parameter]
            if not state:
                state["momentum_buffer"] = torch.zeros_like(parameter)
            momentum = state["momentum_buffer"].lerp_(parameter.grad, 1 - MOMENTUM)
            update_NRC = parameter.grad.lerp(momentum, MOMENTUM).unflatten(0, (blocks, -1))  # Nesterov's
            by_shape[update_NRC.shape[1:]].append((parameter, update_NRC))
        for shape, together in by_shape.items():
            rate = group["lr"] * AS_LARGE_AS_ADAMW * max(shape) ** 0.5
            updates_NRC = orthogonalized(torch.cat([update_NRC for _, update_NRC in together]), group["dtype"])
            parts = updates_NRC.split([len(update_NRC) for _, update_NRC in together])
            for (parameter, _), part_NRC in zip(together, parts, strict=True):
                parameter.mul_(1 - group["lr"] * group["weight_decay"])
                parameter.add_(part_NRC.reshape(parameter.shape), alpha=-rate)

    def _update_by_adamw(self, group: dict[str, Any]) -> None:
        parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
        for parameter in parameters:
            if not self.state[parameter]:
                step = torch.zeros((), dtype=torch.float32, device=parameter.device)
                moments = {key: torch.zeros_like(parameter) for key in ("exp_avg", "exp_avg_sq")}
                self.state[parameter] = {"step": step, **moments}
        if not parameters:
            return
        states = [self.state[parameter] for parameter in parameters]
        adamw(
            parameters,
            [parameter.grad for parameter in parameters],
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            max_exp_avg_sqs=[],
            state_steps=[state["step"] for state in states],
            fused=True,
            amsgrad=False,
            beta1=group["betas"][0],
            beta2=group["betas"][1],
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            eps=EPSILON,
            maximize=False,
        )


def orthogonalized(x_NRC: Tensor, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    """Each matrix with all its singular values between about 0.7 and 1.2, by the iteration of Newton and Schulz. Such
    an update need not be exact, so bfloat16 will do."""
    a, b, c = SCHULZ
    tall = x_NRC.shape[1] > x_NRC.shape[2]
    x_NRC = (x_NRC.transpose(1, 2) if tall else x_NRC).to(dtype)
    x_NRC = x_NRC / torch.linalg.matrix_norm(x_NRC, keepdim=True).clamp(min=SMALLEST_NORM)
    for _ in range(SCHULZ_STEPS):
        gram_NRR = x_NRC @ x_NRC.transpose(1, 2)
        x_NRC = torch.baddbmm(x_NRC, torch.baddbmm(gram_NRR, gram_NRR, gram_NRR, beta=b, alpha=c), x_NRC, beta=a)
    return x_NRC.transpose(1, 2) if tall else x_NRC
