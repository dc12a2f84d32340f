"""torch's kernels against the plain loop over the same equations and weights."""

import pytest
import torch
from parity_cases import BATCH, DTYPES, FUSED, LENGTHS, assert_parity, everything, make_case, named, random, spread

from seqlab.cells.cell import unroll


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", FUSED)
def test_fused_is_unrolled(name: str, dtype: torch.dtype, length: int, ragged: bool, started: bool):
    cell = FUSED[name]().to(dtype).train(started)  # the kernels have a mode for inference, and gradients in both
    spread(cell)
    case = make_case(length, ragged, dtype, empty=True)
    state = cell.start(BATCH)
    leaves = {"input": case.x_BTD, **dict(cell.named_parameters())}
    if started:
        shapes = [leaf.shape for leaf in state.tensors()]
        starts = [random(*shape, seed=9 + i, dtype=dtype).requires_grad_() for i, shape in enumerate(shapes)]
        remaining = iter(starts)
        state = state.map(lambda _: next(remaining))
        leaves |= named(starts, "start")
    fused, plain = cell.fused(case.x_BTD, state, case.mask_BT), unroll(cell, case.x_BTD, state, case.mask_BT)
    assert cell.has_fused
    assert_parity(
        everything(fused[0], case, named(fused[1].tensors(), "state"), leaves),
        everything(plain[0], case, named(plain[1].tensors(), "state"), leaves),
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", FUSED)
def test_fused_keeps_the_state_of_an_empty_row_bit_by_bit(name: str, dtype: torch.dtype):
    """However large it is: what was remembered passes through the padding untouched."""
    cell = FUSED[name]().to(dtype)
    spread(cell)
    state = cell.start(3).map(lambda leaf: 30 * random(*leaf.shape, seed=1, dtype=dtype))
    nothing_BT = torch.zeros(3, 40, dtype=torch.bool)
    _, after = cell.fused(100 * random(3, 40, cell.inputs, seed=2, dtype=dtype), state, nothing_BT)
    assert all(torch.equal(a, b) for a, b in zip(after.tensors(), state.tensors(), strict=True))
