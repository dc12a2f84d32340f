"""Reading a source: gradients, closed counts, what a trace shows, saved weights."""

from pathlib import Path
from typing import Any

import pytest
import torch
from contract_variants import (
    INPUTS,
    SIZES,
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
from torch.utils.flop_counter import FlopCounterMode

from seqlab.contracts import State, Trace
from seqlab.runs import tensors
from seqlab.runs.checkpoint import load_weights, weights_of

LENGTH = 5
TARGETS = [LENGTH, 1, 0, 3]


@every_reading
def test_every_parameter_and_the_source_get_a_gradient(reading: Reading):
    backbone, memory = reading.build(), source(SOURCES, reading.memory)
    memory.values_BSH.requires_grad_()
    memory.summary_BH.requires_grad_()
    kept_BT = mask_of([LENGTH, 3, 2, 4], LENGTH)
    y_BTH, _ = backbone(vectors(len(SOURCES), LENGTH, INPUTS), backbone.start(len(SOURCES), memory), kept_BT)
    (y_BTH * vectors(*y_BTH.shape, seed=1))[kept_BT].sum().backward()
    for name, parameter in backbone.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        assert parameter.grad.abs().sum() > 0, name
    values_grad, summary_grad = memory.values_BSH.grad, memory.summary_BH.grad
    assert (summary_grad is not None and bool((summary_grad != 0).any(1).all())) == reading.uses_summary
    if reading.by_summary_alone:
        assert values_grad is None
    else:
        assert values_grad is not None
        assert (values_grad[memory.mask_BS] != 0).any(1).all()
        assert not values_grad[~memory.mask_BS].any()


@every_reading
def test_an_empty_source_is_read_as_nothing(reading: Reading):
    """Neither it nor a gradient is ever not a number, alone and beside others."""
    backbone = reading.build()
    for sources in ([0, 3], [0, 0]):
        memory = source(sources, reading.memory, longest=3)
        state = backbone.start(2, memory)
        y_BTH, _ = backbone(vectors(2, 2, INPUTS), state)
        y_BH, _ = backbone.step(vectors(2, INPUTS), state)
        assert torch.isfinite(y_BTH).all() and torch.isfinite(y_BH).all()
        backbone.zero_grad()
        y_BTH.square().sum().backward()
        assert all(torch.isfinite(p.grad).all() for p in backbone.parameters() if p.grad is not None)


@every_reading
def test_parameters_in_closed_form(reading: Reading):
    for inputs in (1, INPUTS, SIZES["hidden"]):
        assert reading.parameters(inputs) == sum(p.numel() for p in reading.build(inputs=inputs).parameters())


@every_reading
def test_the_size_of_a_state_is_that_of_its_tensors(reading: Reading):
    backbone: Any = reading.build()
    for length, longest in ((1, 3), (6, 5)):
        start = backbone.start(1, source([longest], reading.memory))
        state: State = backbone(vectors(1, length, INPUTS), start)[1]
        held = sum(leaf.nbytes for leaf in state.tensors() if leaf is not state.lengths_B)
        assert backbone.state_bytes(length) + backbone.memory_bytes(longest) == held


@every_reading
def test_operations_are_those_that_torch_counts_in_the_plain_form(reading: Reading):
    """What `start` computes of the source is left out, and the source is as long as the text."""
    batch, length = 3, 2
    backbone, start = started(reading, [length] * batch)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        backbone(vectors(batch, length, INPUTS), start.detach(), None, Trace())
    counted = backbone.flops_per_token(length) * batch * length
    inner = getattr(backbone, "inner", backbone)
    if inner.flops_per_token(1) != inner.flops_per_token(length) and reading.reader and reading.reader.reads_first:
        assert counted > counter.get_total_flops()  # position by position, it looks back at no more than there is
    else:
        assert counted == counter.get_total_flops()


@every_reading
@pytest.mark.parametrize("ragged", [False, True])
def test_a_trace_shows_the_weights_and_changes_nothing(reading: Reading, ragged: bool):
    backbone, start = started(reading)
    plain, plain_start = started(reading, implementation="plain")
    x_BTD, mask_BT = vectors(len(SOURCES), LENGTH, INPUTS), mask_of(TARGETS, LENGTH) if ragged else None
    kept_BT = mask_of(TARGETS if ragged else [LENGTH] * len(SOURCES), LENGTH)
    trace = Trace()
    y_BTH, state = backbone(x_BTD, start, mask_BT, trace)
    z_BTH, untraced = backbone(x_BTD, start, mask_BT)
    assert_close(y_BTH[kept_BT], z_BTH[kept_BT])
    assert_same(state, untraced)
    if "implementation" in type(reading.variant.settings).model_fields:
        z_BTH, other = plain(x_BTD, plain_start, mask_BT)
        assert torch.equal(y_BTH[kept_BT], z_BTH[kept_BT])
        assert equal_states(state, other)
    shown = {name: value for name, value in trace.values.items() if name.endswith(("cross.weights", "reader.weights"))}
    layers = 1 if reading.reader else reading.variant.having().layers
    assert len(shown) == (0 if reading.by_summary_alone else layers)
    for [weights] in shown.values():
        weights_BTS = weights if reading.reader else weights[:, 0]
        assert weights_BTS.shape == (len(SOURCES), LENGTH, max(SOURCES))
        assert_close(weights_BTS.sum(2), torch.ones(len(SOURCES), LENGTH))
        assert torch.equal(weights_BTS != 0, mask_of(SOURCES, max(SOURCES))[:, None].expand_as(weights_BTS))


@every_reading
def test_a_trace_of_a_step_changes_nothing(reading: Reading):
    backbone, start = started(reading)
    x_BD, trace, state = vectors(len(SOURCES), INPUTS), Trace(), further(backbone, start)
    (y_BH, after), (z_BH, traced) = backbone.step(x_BD, state), backbone.step(x_BD, state, trace)
    assert any(name.endswith(("cross.weights", "reader.weights")) for name in trace.values) != reading.by_summary_alone
    assert_close(z_BH, y_BH)
    assert_same(traced, after)


@every_reading
def test_saving_and_loading_is_exact(reading: Reading):
    saved, loaded, memory = reading.build(seed=1), reading.build(seed=2), source(SOURCES, reading.memory)
    x_BTD = vectors(len(SOURCES), LENGTH, INPUTS)
    y_BTH, state = saved(x_BTD, saved.start(len(SOURCES), memory))
    content = tensors.to_bytes(weights_of(saved))
    load_weights(loaded, tensors.from_bytes(content, Path("weights"), weights_of(loaded)))
    z_BTH, other = loaded(x_BTD, loaded.start(len(SOURCES), memory))
    assert torch.equal(z_BTH, y_BTH)
    assert equal_states(other, state)


@every_reading
def test_dropout_is_for_training_only(reading: Reading):
    x_BTD = vectors(len(SOURCES), LENGTH, INPUTS)
    (without, start), (dropping, same_start) = started(reading), started(reading, dropout=0.5)
    assert torch.equal(dropping(x_BTD, same_start)[0], without(x_BTD, start)[0])
    dropping.train()
    if reading.variant.has_dropout:
        assert not torch.equal(dropping(x_BTD, same_start)[0], dropping(x_BTD, same_start)[0])
