"""What a State promises, and that a module keeps nothing besides it."""

from typing import Any

import torch
from contract_variants import (
    INPUTS,
    Variant,
    assert_close,
    assert_states_close,
    every_causal,
    every_variant,
    mask_of,
    some_state,
    vectors,
)
from torch import Tensor, nn

from seqlab.contracts import State, TensorTree


@every_causal
def test_selecting_rows_commutes_with_a_step(variant: Variant):
    backbone, x_BD = variant.build(), vectors(4, INPUTS)
    state, rows_B = some_state(backbone, 4), torch.tensor([2, 0, 2, 3, 1])
    y_BH, after = backbone.step(x_BD, state)
    z_BH, of_selected = backbone.step(x_BD[rows_B], state.select(rows_B))
    assert_close(z_BH, y_BH[rows_B])
    assert_states_close(of_selected, after.select(rows_B))


@every_causal
def test_joining_rows_commutes_with_a_step(variant: Variant):
    backbone, x_BD = variant.build(), vectors(5, INPUTS)
    parts = [some_state(backbone, 2), backbone.start(1), some_state(backbone, 4).select(torch.tensor([3, 1]))]
    y_BH, after = backbone.step(x_BD, type(parts[0]).concat(parts))
    stepped = [backbone.step(x, part) for x, part in zip(x_BD.split([2, 1, 2]), parts, strict=True)]
    assert_close(torch.cat([y for y, _ in stepped]), y_BH)
    assert_states_close(type(after).concat([state for _, state in stepped]), after)
    assert after.lengths_B.tolist() == [4, 4, 1, 4, 4]


@every_causal
def test_joined_rows_part_again(variant: Variant):
    backbone = variant.build()
    one, other = some_state(backbone, 2), some_state(backbone, 3)
    assert_states_close(type(one).concat([one, other]).select(torch.arange(2, 5)), other)


@every_causal
def test_a_step_leaves_its_state_as_it_was(variant: Variant):
    backbone = variant.build()
    state = some_state(backbone, 3)
    before = state.map(Tensor.clone)
    y_BH, after = backbone.step(vectors(3, INPUTS), state)
    backbone.step(y_BH.new_ones(3, INPUTS), after)
    assert all(torch.equal(a, b) for a, b in zip(state.tensors(), before.tensors(), strict=True))


@every_variant
def test_a_pass_leaves_its_state_and_input_as_they_were(variant: Variant):
    backbone, x_BTD = variant.build(), vectors(3, 4, INPUTS)
    state = some_state(backbone, 3)
    before, input_before = state.map(Tensor.clone), x_BTD.clone()
    for mask_BT in (None, mask_of([4, 1, 0], 4)):
        backbone(x_BTD, state, mask_BT)
    assert all(torch.equal(a, b) for a, b in zip(state.tensors(), before.tensors(), strict=True))
    assert torch.equal(x_BTD, input_before)


def kept_within(value: Any) -> list[Any]:
    """The names of all attributes and keys below a value, and every tensor."""
    if isinstance(value, Tensor):
        return [id(value)]
    if isinstance(value, nn.Module | TensorTree):
        value = vars(value)
    if isinstance(value, dict):
        return [item for key, inner in value.items() for item in (str(key), *kept_within(inner))]
    if isinstance(value, list | tuple | set):
        return [item for inner in value for item in ("", *kept_within(inner))]
    return []


@every_variant
def test_a_module_keeps_nothing_of_what_it_read(variant: Variant):
    for training in (False, True):
        backbone = variant.build(dropout=0.5).train(training)
        before = kept_within(backbone)
        y_BTH, state = backbone(vectors(2, 4, INPUTS), None, mask_of([4, 2], 4))
        if backbone.causal:
            backbone.step(vectors(2, INPUTS), state)
        y_BTH.sum().backward()
        assert kept_within(backbone) == before


@every_variant
def test_a_detached_state_ends_the_gradient(variant: Variant):
    state = variant.build()(vectors(2, 4, INPUTS).requires_grad_())[1]
    assert any(leaf.requires_grad for leaf in state.tensors())
    assert not any(leaf.requires_grad for leaf in state.detach().tensors())


@every_variant
def test_the_size_of_a_state_is_that_of_its_tensors(variant: Variant):
    """The count of tokens is bookkeeping, which every architecture has, and is left out."""
    backbone = variant.build()
    for length in (1, 6):
        state: State = backbone(vectors(1, length, INPUTS))[1]
        held = sum(leaf.numel() * leaf.element_size() for leaf in state.tensors() if leaf is not state.lengths_B)
        assert backbone.state_bytes(length) == held
