"""Reading a source: every causal architecture, by itself or made to, with sources of different lengths."""

import pytest
import torch
from contract_variants import (
    INPUTS,
    SOURCES,
    Reading,
    assert_close,
    assert_same,
    equal_states,
    every_reading,
    further,
    mask_of,
    source,
    started,
    vectors,
)
from torch import Tensor

from seqlab.contracts import Memory

LENGTH = 5
TARGETS = [LENGTH, 1, 0, 3]


def changed(memory: Memory, at_BS: Tensor) -> Memory:
    """Other values at these positions, the same summary."""
    other_BSH = vectors(*memory.values_BSH.shape, seed=123)
    return Memory(torch.where(at_BS[:, :, None], other_BSH, memory.values_BSH), memory.mask_BS, memory.summary_BH)


@every_reading
def test_shapes_and_what_it_says_of_itself(reading: Reading):
    backbone, start = started(reading)
    assert backbone.reads_memory and backbone.causal
    assert backbone.width == reading.variant.having().width
    assert start.lengths_B.tolist() == [0] * len(SOURCES)
    y_BTH, state = backbone(vectors(len(SOURCES), LENGTH, INPUTS), start)
    assert y_BTH.shape == (len(SOURCES), LENGTH, backbone.width)
    assert state.lengths_B.tolist() == [LENGTH] * len(SOURCES)
    for leaf, at_start in zip(state.tensors(), start.tensors(), strict=True):
        assert (len(leaf), leaf.dtype) == (len(SOURCES), at_start.dtype)


@every_reading
def test_nothing_starts_without_a_memory(reading: Reading):
    backbone = reading.build()
    with pytest.raises(AssertionError):
        backbone.start(2)
    with pytest.raises(AssertionError):
        backbone(vectors(2, 3, INPUTS))


@every_reading
def test_steps_are_one_pass(reading: Reading):
    backbone, state = started(reading)
    state = further(backbone, state)
    x_BTD = vectors(len(SOURCES), LENGTH, INPUTS)
    y_BTH, after = backbone(x_BTD, state)
    for t in range(LENGTH):
        y_BH, state = backbone.step(x_BTD[:, t], state)
        assert_close(y_BH, y_BTH[:, t])
        if reading.reader and reading.reader.reads_first:
            assert torch.equal(y_BH, y_BTH[:, t])
    assert_same(state, after)


@every_reading
@pytest.mark.parametrize("ragged", [False, True])
def test_chunks_with_the_state_carried_are_one_pass(reading: Reading, ragged: bool):
    backbone, state = started(reading)
    state, x_BTD, mask_BT = further(backbone, state), vectors(len(SOURCES), LENGTH, INPUTS), mask_of(TARGETS, LENGTH)
    kept_BT = mask_BT if ragged else torch.ones_like(mask_BT)
    y_BTH, after = backbone(x_BTD, state, mask_BT if ragged else None)
    for chunk in (slice(0, 1), slice(1, 3), slice(3, LENGTH)):
        z_BTH, state = backbone(x_BTD[:, chunk], state, mask_BT[:, chunk] if ragged else None)
        assert_close(z_BTH[kept_BT[:, chunk]], y_BTH[:, chunk][kept_BT[:, chunk]])
    assert_same(state, after)


@every_reading
def test_padded_sources_and_targets_are_as_if_alone(reading: Reading):
    backbone, x_BTD = reading.build(), vectors(len(SOURCES), LENGTH, INPUTS)
    memory = source(SOURCES, reading.memory, longest=7)
    y_BTH, after = backbone(x_BTD, backbone.start(len(SOURCES), memory), mask_of(TARGETS, LENGTH))
    states = []
    for row, (length, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        own = backbone.start(1, source([length], reading.memory))
        if target:
            z_1TH, own = backbone(x_BTD[row : row + 1, :target], own)
            assert_close(y_BTH[row, :target], z_1TH[0])
        states.append(own)
    assert_same(after, type(after).concat(states))


@every_reading
def test_what_stands_in_the_padding_does_not_matter(reading: Reading):
    backbone, x_BTD, mask_BT = reading.build(), vectors(len(SOURCES), LENGTH, INPUTS), mask_of(TARGETS, LENGTH)
    memory = source(SOURCES, reading.memory)
    other_BTD = torch.where(mask_BT[:, :, None], x_BTD, 100 * vectors(*x_BTD.shape, seed=1))
    y_BTH, state = backbone(x_BTD, backbone.start(len(SOURCES), memory), mask_BT)
    z_BTH, other = backbone(other_BTD, backbone.start(len(SOURCES), changed(memory, ~memory.mask_BS)), mask_BT)
    assert torch.equal(y_BTH[mask_BT], z_BTH[mask_BT])
    assert equal_states(state, other)


@every_reading
def test_every_position_of_the_source_matters_to_its_row_alone(reading: Reading):
    backbone, x_BTD = reading.build(), vectors(2, LENGTH, INPUTS)
    memory = source([3, 2], reading.memory)
    y_BTH, _ = backbone(x_BTD, backbone.start(2, memory))
    for row, position in memory.mask_BS.nonzero().tolist():
        at_BS = torch.zeros_like(memory.mask_BS)
        at_BS[row, position] = True
        z_BTH, _ = backbone(x_BTD, backbone.start(2, changed(memory, at_BS)))
        moved_BT = (z_BTH != y_BTH).any(2)
        assert not moved_BT[1 - row].any()
        assert bool(moved_BT[row].all()) != reading.by_summary_alone
        assert bool(moved_BT[row].any()) != reading.by_summary_alone


@every_reading
def test_the_summary_matters_where_a_state_starts_from_it(reading: Reading):
    backbone, x_BTD, memory = reading.build(), vectors(2, LENGTH, INPUTS), source([3, 2], reading.memory)
    other = Memory(memory.values_BSH, memory.mask_BS, memory.summary_BH + torch.tensor([[1.0], [0.0]]))
    y_BTH, z_BTH = (backbone(x_BTD, backbone.start(2, one))[0] for one in (memory, other))
    assert torch.equal(y_BTH[1], z_BTH[1])
    assert torch.equal(y_BTH[0], z_BTH[0]) != reading.uses_summary


@every_reading
def test_nothing_is_known_of_what_comes_later(reading: Reading):
    backbone, state = started(reading)
    x_BTD = vectors(len(SOURCES), LENGTH, INPUTS)
    y_BTH, _ = backbone(x_BTD, state)
    for t in range(1, LENGTH):
        changed_BTD = x_BTD.clone()
        changed_BTD[:, t] = 10 * vectors(len(SOURCES), INPUTS, seed=t)
        z_BTH, _ = backbone(changed_BTD, state)
        assert torch.equal(z_BTH[:, :t], y_BTH[:, :t])
        assert not torch.equal(z_BTH[:, t], y_BTH[:, t])


@every_reading
def test_selecting_rows_commutes_with_a_step(reading: Reading):
    backbone, state = started(reading)
    state, rows_B, x_BD = further(backbone, state), torch.tensor([2, 0, 2, 3, 1]), vectors(len(SOURCES), INPUTS)
    y_BH, after = backbone.step(x_BD, state)
    z_BH, of_selected = backbone.step(x_BD[rows_B], state.select(rows_B))
    assert_close(z_BH, y_BH[rows_B])
    assert_same(of_selected, after.select(rows_B))


@every_reading
def test_joining_rows_of_sources_of_other_lengths_commutes_with_a_step(reading: Reading):
    backbone, x_BD = reading.build(), vectors(4, INPUTS)
    parts = [backbone.start(len(sources), source(sources, reading.memory)) for sources in ([2], [5, 3], [1])]
    parts[1] = further(backbone, parts[1])
    y_BH, after = backbone.step(x_BD, type(parts[0]).concat(parts))
    stepped = [backbone.step(x, part) for x, part in zip(x_BD.split([1, 2, 1]), parts, strict=True)]
    assert_close(torch.cat([y for y, _ in stepped]), y_BH)
    assert_same(type(after).concat([state for _, state in stepped]), after)
    assert after.lengths_B.tolist() == [1, 4, 4, 1]


@every_reading
def test_nothing_that_was_given_is_changed_or_kept_by_the_module(reading: Reading):
    backbone, memory = reading.build(), source(SOURCES, reading.memory)
    held = [(name, id(value)) for module in backbone.modules() for name, value in vars(module).items()]
    given = [memory.values_BSH, memory.mask_BS, memory.summary_BH]
    copies = [tensor.clone() for tensor in given]
    start = backbone.start(len(SOURCES), memory)
    before = start.map(Tensor.clone)
    _, state = backbone(vectors(len(SOURCES), LENGTH, INPUTS), start, mask_of(TARGETS, LENGTH))
    backbone.step(vectors(len(SOURCES), INPUTS), state)
    assert all(torch.equal(a, b) for a, b in zip(given, copies, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(start.tensors(), before.tensors(), strict=True))
    assert held == [(name, id(value)) for module in backbone.modules() for name, value in vars(module).items()]
    assert not any(leaf.requires_grad for leaf in state.detach().tensors())
