"""One pass over a sequence, against the same in steps, in chunks, in padded rows."""

import pytest
import torch
from contract_variants import (
    INPUTS,
    Variant,
    assert_close,
    assert_states_close,
    equal_states,
    every_causal,
    every_reading_ahead,
    every_variant,
    mask_of,
    some_state,
    vectors,
)

from seqlab.contracts import Backbone, State, Trace
from seqlab.errors import UsageError

LENGTH = 9
RAGGED = [LENGTH, 1, 0, 6]


@every_variant
def test_shapes(variant: Variant):
    backbone = variant.build()
    y_BTH, state = backbone(vectors(3, LENGTH, INPUTS))
    assert y_BTH.shape == (3, LENGTH, backbone.width)
    assert state.lengths_B.tolist() == [LENGTH] * 3
    start = backbone.start(3)
    assert start.lengths_B.tolist() == [0] * 3
    for leaf, at_start in zip(state.tensors(), start.tensors(), strict=True):
        assert (len(leaf), leaf.dtype) == (3, at_start.dtype)


@every_variant
def test_no_state_means_the_start(variant: Variant):
    backbone, x_BTD = variant.build(), vectors(3, LENGTH, INPUTS)
    (y_BTH, state), (z_BTH, other) = backbone(x_BTD), backbone(x_BTD, backbone.start(3))
    assert torch.equal(y_BTH, z_BTH)
    assert equal_states(state, other)


@every_causal
def test_nothing_is_known_of_what_comes_later(variant: Variant):
    backbone, x_BTD = variant.build(), vectors(2, LENGTH, INPUTS)
    y_BTH, _ = backbone(x_BTD)
    for t in range(1, LENGTH):
        changed_BTD = x_BTD.clone()
        changed_BTD[:, t] = 10 * vectors(2, INPUTS, seed=t)
        z_BTH, _ = backbone(changed_BTD)
        assert torch.equal(z_BTH[:, :t], y_BTH[:, :t])
        assert not torch.equal(z_BTH[:, t], y_BTH[:, t])


@every_reading_ahead
def test_what_is_not_causal_reads_ahead_and_takes_no_steps(variant: Variant):
    backbone, x_BTD = variant.build(), vectors(2, LENGTH, INPUTS)
    changed_BTD = x_BTD.clone()
    changed_BTD[:, -1] += 1
    assert not torch.equal(backbone(changed_BTD)[0][:, 0], backbone(x_BTD)[0][:, 0])
    with pytest.raises(UsageError, match="token by token"):
        backbone.step(x_BTD[:, 0], backbone.start(2))


@every_causal
@pytest.mark.parametrize("carried", [False, True])
def test_step_by_step_is_one_pass(variant: Variant, carried: bool):
    backbone, x_BTD = variant.build(), vectors(3, LENGTH, INPUTS)
    state = some_state(backbone, 3) if carried else backbone.start(3)
    y_BTH, after = backbone(x_BTD, state)
    for t in range(LENGTH):
        y_BH, state = backbone.step(x_BTD[:, t], state)
        assert_close(y_BH, y_BTH[:, t])
    assert_states_close(state, after)


@every_causal
@pytest.mark.parametrize("cuts", [[1], [4, 5]], ids=str)
@pytest.mark.parametrize("ragged", [False, True])
def test_chunks_with_the_state_carried_are_one_pass(variant: Variant, cuts: list[int], ragged: bool):
    backbone, x_BTD = variant.build(), vectors(len(RAGGED), LENGTH, INPUTS)
    mask_BT = mask_of(RAGGED, LENGTH)
    kept_BT = mask_BT if ragged else torch.ones_like(mask_BT)
    state = some_state(backbone, len(RAGGED))
    y_BTH, after = backbone(x_BTD, state, mask_BT if ragged else None)
    for first, last in zip([0, *cuts], [*cuts, LENGTH], strict=True):
        chunk = slice(first, last)
        z_BTH, state = backbone(x_BTD[:, chunk], state, mask_BT[:, chunk] if ragged else None)
        assert_close(z_BTH[kept_BT[:, chunk]], y_BTH[:, chunk][kept_BT[:, chunk]])
    assert_states_close(state, after)


def row_by_row(backbone: Backbone, x_BTD: torch.Tensor, before: State, lengths: list[int]) -> tuple[list, State]:
    """Each row alone and without padding. A row of nothing stays where it was."""
    outputs, states = [], []
    for row, length in enumerate(lengths):
        own = before.select(torch.tensor([row]))
        y_1TH, after = backbone(x_BTD[row : row + 1, :length], own) if length else (None, own)
        outputs.append(y_1TH)
        states.append(after)
    return outputs, type(before).concat(states)


@every_variant
@pytest.mark.parametrize("carried", [False, True])
@pytest.mark.parametrize("lengths", [RAGGED, [2, 1, 3, 1], [0, 0, 0, 0]], ids=str)
def test_padded_rows_are_as_if_alone(variant: Variant, carried: bool, lengths: list[int]):
    backbone, x_BTD = variant.build(), vectors(len(lengths), LENGTH, INPUTS)
    before = some_state(backbone, len(lengths)) if carried else backbone.start(len(lengths))
    y_BTH, after = backbone(x_BTD, before if carried else None, mask_of(lengths, LENGTH))
    outputs, expected = row_by_row(backbone, x_BTD, before, lengths)
    assert y_BTH.shape == (len(lengths), LENGTH, backbone.width)
    for row, (length, z_1TH) in enumerate(zip(lengths, outputs, strict=True)):
        if length:
            assert_close(y_BTH[row, :length], z_1TH[0])
    assert_states_close(after, expected)
    empty = torch.tensor([row for row, length in enumerate(lengths) if not length], dtype=torch.long)
    assert equal_states(after.select(empty), before.select(empty))


@every_variant
def test_what_stands_in_the_padding_does_not_matter(variant: Variant):
    backbone, x_BTD, mask_BT = variant.build(), vectors(len(RAGGED), LENGTH, INPUTS), mask_of(RAGGED, LENGTH)
    other_BTD = torch.where(mask_BT[:, :, None], x_BTD, 100 * vectors(*x_BTD.shape, seed=1))
    (y_BTH, state), (z_BTH, other) = backbone(x_BTD, None, mask_BT), backbone(other_BTD, None, mask_BT)
    assert torch.equal(y_BTH[mask_BT], z_BTH[mask_BT])
    assert equal_states(state, other)


@every_variant
def test_a_mask_that_keeps_all_changes_nothing(variant: Variant):
    backbone, x_BTD = variant.build(), vectors(3, LENGTH, INPUTS)
    (y_BTH, state), (z_BTH, other) = backbone(x_BTD), backbone(x_BTD, None, mask_of([LENGTH] * 3, LENGTH))
    assert_close(z_BTH, y_BTH)
    assert_states_close(other, state)


@every_variant
@pytest.mark.parametrize("ragged", [False, True])
def test_a_trace_shows_the_plain_form_and_changes_nothing(variant: Variant, ragged: bool):
    backbone, plain = variant.build(), variant.build(implementation="plain")
    x_BTD, mask_BT = vectors(len(RAGGED), LENGTH, INPUTS), mask_of(RAGGED, LENGTH) if ragged else None
    kept_BT = mask_of(RAGGED if ragged else [LENGTH] * len(RAGGED), LENGTH)
    trace = Trace()
    y_BTH, state = backbone(x_BTD, None, mask_BT, trace)
    assert trace.values
    assert all(not value.requires_grad for values in trace.values.values() for value in values)
    z_BTH, other = plain(x_BTD, None, mask_BT)
    assert torch.equal(y_BTH[kept_BT], z_BTH[kept_BT])
    assert equal_states(state, other)
    untraced_BTH, untraced = backbone(x_BTD, None, mask_BT)
    assert_close(y_BTH[kept_BT], untraced_BTH[kept_BT])
    assert_states_close(state, untraced)


@every_causal
def test_a_trace_of_a_step_changes_nothing(variant: Variant):
    backbone, x_BD, trace = variant.build(), vectors(3, INPUTS), Trace()
    state = some_state(backbone, 3)
    (y_BH, after), (z_BH, traced) = backbone.step(x_BD, state), backbone.step(x_BD, state, trace)
    assert trace.values
    assert_close(z_BH, y_BH)
    assert_states_close(traced, after)
