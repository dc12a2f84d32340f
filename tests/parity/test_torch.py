"""Our stacks against torch's own modules with the same weights."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from parity_cases import (
    BATCH,
    DTYPES,
    HIDDEN,
    INPUTS,
    LENGTHS,
    Case,
    assert_parity,
    everything,
    make_case,
    named,
    random,
    spread,
)
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from seqlab.backbones.recurrent import Gru, Lstm, Recurrent, Rnn, reverse
from seqlab.backbones.recurrent_settings import GruSettings, LstmSettings, RecurrentSettings, RnnSettings

STACKS: dict[str, tuple[type[Recurrent], RecurrentSettings, Callable[..., nn.RNNBase], dict[str, Any]]] = {
    "rnn-tanh": (Rnn, RnnSettings(hidden=HIDDEN), nn.RNN, {}),
    "rnn-relu": (Rnn, RnnSettings(hidden=HIDDEN, activation="relu"), nn.RNN, {"nonlinearity": "relu"}),
    "gru": (Gru, GruSettings(hidden=HIDDEN), nn.GRU, {}),
    "lstm": (Lstm, LstmSettings(hidden=HIDDEN), nn.LSTM, {}),
}
KINDS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def pair(name: str, dtype: torch.dtype, inputs: int = INPUTS, **options: Any) -> tuple[Recurrent, nn.RNNBase]:
    """One of ours and one of torch's, with the same weights."""
    backbone_class, settings, module_class, others = STACKS[name]
    ours = backbone_class(settings.model_copy(update=options), inputs).to(dtype)
    spread(ours)
    shape = {"num_layers": ours.settings.layers, "bidirectional": ours.settings.bidirectional}
    theirs = module_class(inputs, HIDDEN, batch_first=True, dtype=dtype, **shape, **others)
    put(theirs, list(ours.parameters()))
    return ours, theirs


@torch.no_grad()
def put(module: nn.RNNBase, weights: Sequence[Tensor]) -> None:
    for parameter, value in zip(theirs_of(module), weights, strict=True):
        parameter.copy_(value)


def theirs_of(module: nn.RNNBase) -> list[nn.Parameter]:
    """Layer by layer, forward before backward, which is the order of our cells."""
    ends = [f"_l{layer}{end}" for layer in range(module.num_layers) for end in ("", "_reverse")]
    ends = [end for end in ends if hasattr(module, f"weight_ih{end}")]
    return [getattr(module, kind + end) for end in ends for kind in KINDS]


def run_ours(backbone: Recurrent, case: Case, starts: list[Tensor] | None) -> dict[str, Tensor]:
    state = backbone.start(BATCH)
    leaves = {"input": case.x_BTD, **named(backbone.parameters(), "weight")}
    if starts is not None:
        # per cell h, and c where there is one; torch keeps all h together and all c together
        own = iter([start[cell] for cell in range(len(starts[0])) for start in starts])
        state = state.map(lambda leaf: next(own) if leaf.is_floating_point() else leaf)
        leaves |= named(starts, "start")
    y_BTH, after = backbone(case.x_BTD, state if starts else None, case.mask_BT)
    assert after.lengths_B.tolist() == case.lengths
    per_cell = list(zip(*(cell.tensors() for cell in after.cells), strict=True))
    return everything(y_BTH, case, named([torch.stack(leaf) for leaf in per_cell], "state"), leaves)


def run_theirs(module: nn.RNNBase, case: Case, starts: list[Tensor] | None) -> dict[str, Tensor]:
    start = None if starts is None else tuple(starts) if len(starts) == 2 else starts[0]
    leaves = {"input": case.x_BTD, **named(theirs_of(module), "weight")} | named(starts or [], "start")
    if case.mask_BT is None:
        y_BTH, last = module(case.x_BTD, start)
    else:
        packed = pack_padded_sequence(case.x_BTD, torch.tensor(case.lengths), batch_first=True, enforce_sorted=False)
        packed_y, last = module(packed, start)
        y_BTH, _ = pad_packed_sequence(packed_y, batch_first=True)
    return everything(y_BTH, case, named(last if isinstance(last, tuple) else [last], "state"), leaves)


def make_starts(module: nn.RNNBase, dtype: torch.dtype) -> list[Tensor]:
    """An initial state in torch's shape: of every layer and direction."""
    cells, kinds = len(theirs_of(module)) // len(KINDS), 2 if module.mode == "LSTM" else 1
    return [random(cells, BATCH, HIDDEN, seed=20 + kind, dtype=dtype).requires_grad_() for kind in range(kinds)]


@pytest.mark.parametrize("implementation", ["fused", "plain"])
@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", STACKS)
def test_one_layer(name: str, dtype: torch.dtype, length: int, ragged: bool, started: bool, implementation: str):
    ours, theirs = pair(name, dtype, implementation=implementation)
    case, starts = make_case(length, ragged, dtype), make_starts(theirs, dtype) if started else None
    assert_parity(run_ours(ours, case, starts), run_theirs(theirs, case, starts))


@pytest.mark.parametrize("implementation", ["fused", "plain"])
@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("layers, bidirectional", [(2, False), (1, True), (2, True), (3, True)])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", STACKS)
def test_stacked_and_in_both_directions(
    name: str, dtype: torch.dtype, layers: int, bidirectional: bool, ragged: bool, started: bool, implementation: str
):
    ours, theirs = pair(name, dtype, layers=layers, bidirectional=bidirectional, implementation=implementation)
    case, starts = make_case(7, ragged, dtype), make_starts(theirs, dtype) if started else None
    assert_parity(run_ours(ours, case, starts), run_theirs(theirs, case, starts))


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("name", STACKS)
def test_residual_layers_add_to_their_input(name: str, bidirectional: bool):
    ours, _ = pair(name, torch.float64, layers=3, bidirectional=bidirectional, residual=True)
    expected_BTD = x_BTD = random(BATCH, 7, INPUTS, seed=0, dtype=torch.float64)
    given_BTH, _ = ours(x_BTD)
    weights = list(ours.parameters())
    per_layer = len(weights) // 3
    for layer in range(3):
        _, theirs = pair(name, torch.float64, inputs=expected_BTD.shape[2], bidirectional=bidirectional)
        put(theirs, weights[layer * per_layer : (layer + 1) * per_layer])
        y_BTH = theirs(expected_BTD)[0]
        expected_BTD = y_BTH + expected_BTD if layer else y_BTH
    assert_parity({"output": given_BTH}, {"output": expected_BTD})


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5))
def test_each_row_is_reversed_by_its_own_length(lengths: list[int]):
    x_BT1 = torch.arange(len(lengths) * 6).view(len(lengths), 6, 1)
    expected = [[*row[:n][::-1], *row[n:]] for row, n in zip(x_BT1[:, :, 0].tolist(), lengths, strict=True)]
    assert reverse(x_BT1, torch.arange(6) < torch.tensor(lengths)[:, None])[:, :, 0].tolist() == expected


def test_without_padding_all_is_reversed():
    x_BTD = torch.arange(12).view(2, 3, 2)
    assert reverse(x_BTD, None)[:, :, 0].tolist() == [[4, 2, 0], [10, 8, 6]]
