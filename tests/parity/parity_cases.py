"""Two ways to compute one thing, compared in outputs, final states and every gradient."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from seqlab.cells.cell import RecurrentCell
from seqlab.cells.gru import GruCell
from seqlab.cells.lstm import LstmCell
from seqlab.cells.rnn import RnnCell

INPUTS, HIDDEN, BATCH = 5, 6, 4
TOLERANCES = {torch.float64: 1e-10, torch.float32: 1e-5}  # of max(1, max|expected|); never to be loosened
DTYPES = list(TOLERANCES)
LENGTHS = [1, 7, 33]

FUSED: dict[str, Callable[[], RecurrentCell]] = {
    "rnn-tanh": lambda: RnnCell(INPUTS, HIDDEN, "tanh"),
    "rnn-relu": lambda: RnnCell(INPUTS, HIDDEN, "relu"),
    "rnn-sigmoid": lambda: RnnCell(INPUTS, HIDDEN, "sigmoid"),
    "gru-after": lambda: GruCell(INPUTS, HIDDEN, "after"),
    "lstm": lambda: LstmCell(INPUTS, HIDDEN),
}


@dataclass(frozen=True)
class Case:
    """Inputs of one comparison. Without padding, `mask_BT` is None; a row may be empty if `empty` is true."""

    x_BTD: Tensor
    lengths: list[int]
    mask_BT: Tensor | None

    @property
    def kept_BT(self) -> Tensor:
        return torch.arange(self.x_BTD.shape[1]) < torch.tensor(self.lengths)[:, None]


def make_case(length: int, ragged: bool, dtype: torch.dtype, empty: bool = False) -> Case:
    x_BTD = random(BATCH, length, INPUTS, seed=0, dtype=dtype).requires_grad_()
    lengths = [length, 1, max(1, length // 2), 0 if empty else max(1, length - 1)] if ragged else [length] * BATCH
    mask_BT = torch.arange(length) < torch.tensor(lengths)[:, None] if ragged else None
    return Case(x_BTD, lengths, mask_BT)


def random(*shape: int, seed: int, dtype: torch.dtype) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def spread(module: torch.nn.Module) -> None:
    """Weights well apart from where they start, so that no gate hides another."""
    for index, parameter in enumerate(module.parameters()):
        parameter.data = random(*parameter.shape, seed=100 + index, dtype=parameter.dtype) * 0.5


def everything(
    y_BTH: Tensor, case: Case, states: Mapping[str, Tensor], leaves: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Outputs at kept positions, final states, and the gradients of a random weighing of both."""
    kept_BTH = y_BTH * case.kept_BT[:, :, None]
    results = {"output": kept_BTH, **{f"final {name}": state for name, state in states.items()}}
    weighed = [
        (value * random(*value.shape, seed=index, dtype=value.dtype)).sum()
        for index, value in enumerate(results.values())
    ]
    gradients = torch.autograd.grad(torch.stack(weighed).sum(), list(leaves.values()))
    return results | {f"gradient of {name}": gradient for name, gradient in zip(leaves, gradients, strict=True)}


def assert_parity(actual: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    assert list(actual) == list(expected)
    for name, tensor in expected.items():
        assert actual[name].shape == tensor.shape, name
        assert actual[name].dtype == tensor.dtype, name
        allowed = TOLERANCES[tensor.dtype] * max(1.0, float(tensor.detach().abs().max()))
        off = float((actual[name] - tensor).detach().abs().max())
        assert off <= allowed, f"{name} is off by {off}"


def named(tensors: Iterable[Tensor], name: str) -> dict[str, Tensor]:
    return {f"{name} {index}": tensor for index, tensor in enumerate(tensors)}
