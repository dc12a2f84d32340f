"""Promises about reading a source: padding, the summary, empty sources, and what attention sees."""

import torch
from torch import Tensor

from seqlab.backbones.attention_decoder import is_started
from seqlab.contracts import Memory
from seqlab.testing.cases import INPUTS, SOURCES, ArchitectureCase, mask_of, same, same_state, vectors
from seqlab.testing.promises import Promises, require

decoding: Promises[ArchitectureCase] = Promises()
LENGTH = 5
TARGETS = [LENGTH, 1, 0, 3]


def _with_values(memory: Memory, at_BS: Tensor) -> Memory:
    """Other values at these positions, the same summary."""
    other_BSH = vectors(*memory.values_BSH.shape, seed=123)
    return Memory(torch.where(at_BS[:, :, None], other_BSH, memory.values_BSH), memory.mask_BS, memory.summary_BH)


@decoding("start_shapes are the shapes of the start state's floating-point tensors, or none")
def start_shapes(case: ArchitectureCase) -> None:
    inner = ArchitectureCase(case.cls, case.settings, case.changes).build()
    declared = case.settings.start_shapes(INPUTS)
    tensors = [tuple(leaf.shape[1:]) for leaf in inner.start(2).tensors() if is_started(leaf)]
    require(not declared or list(declared) == tensors, f"{list(declared)} are declared, the tensors have {tensors}")


@decoding("a decoder starts from a memory, declares so, and refuses to start without one")
def needs_a_memory(case: ArchitectureCase) -> None:
    backbone = case.build()
    require(backbone.reads_memory and backbone.causal, "reads_memory and causal have to be true")
    for attempt in (lambda: backbone.start(2), lambda: backbone(vectors(2, 3, INPUTS))):
        try:
            attempt()
        except AssertionError:
            continue
        raise ValueError("it ran without a memory")


@decoding("a padded source equals the source alone")
def padded_sources(case: ArchitectureCase) -> None:
    backbone, x_BTD, lengths = case.build(), vectors(len(TARGETS), LENGTH, INPUTS), SOURCES[: len(TARGETS)]
    start = backbone.start(len(TARGETS), case.source(lengths, longest=7))
    y_BTH, after = backbone(x_BTD, start, mask_of(TARGETS, LENGTH))
    states = []
    for row, (length, target) in enumerate(zip(lengths, TARGETS, strict=True)):
        state = backbone.start(1, case.source([length]))
        if target:
            z_1TH, state = backbone(x_BTD[row : row + 1, :target], state)
            same(y_BTH[row, :target], z_1TH[0], f"a source of {length} in 7")
        states.append(state)
    same_state(after, type(after).concat(states), "the states")


@decoding("the content of a source's padding does not matter")
def source_padding_content(case: ArchitectureCase) -> None:
    backbone, x_BTD, memory = case.build(), vectors(4, LENGTH, INPUTS), case.source(SOURCES[:4])
    other = _with_values(memory, ~memory.mask_BS)
    y_BTH, z_BTH = (backbone(x_BTD, backbone.start(4, source))[0] for source in (memory, other))
    require(torch.equal(y_BTH, z_BTH), "the outputs changed")


@decoding("every position of a source matters to its row, and to no other")
def source_positions(case: ArchitectureCase) -> None:
    backbone, x_BTD, memory = case.build(), vectors(2, LENGTH, INPUTS), case.source([3, 2])
    y_BTH, _ = backbone(x_BTD, backbone.start(2, memory))
    for row, position in memory.mask_BS.nonzero().tolist():
        at_BS = torch.zeros_like(memory.mask_BS)
        at_BS[row, position] = True
        z_BTH, _ = backbone(x_BTD, backbone.start(2, _with_values(memory, at_BS)))
        moved_BT = (z_BTH != y_BTH).any(2)
        require(not moved_BT[1 - row].any(), f"position {position} of row {row} changed the other row")
        seen = moved_BT[row].all() if case.attends else not moved_BT[row].any()
        require(seen, f"position {position} of row {row} changed {int(moved_BT[row].sum())} of {LENGTH} outputs")


@decoding("the summary matters exactly where a start state is computed from it")
def summaries(case: ArchitectureCase) -> None:
    backbone, x_BTD, memory = case.build(), vectors(2, LENGTH, INPUTS), case.source([3, 2])
    other = Memory(memory.values_BSH, memory.mask_BS, memory.summary_BH + torch.tensor([[1.0], [0.0]]))
    y_BTH, z_BTH = (backbone(x_BTD, backbone.start(2, source))[0] for source in (memory, other))
    require(torch.equal(y_BTH[1], z_BTH[1]), "the summary of one row changed another")
    require(torch.equal(y_BTH[0], z_BTH[0]) != case.uses_summary, f"changed: {case.uses_summary} was expected")


@decoding("a source gets gradients where it is kept, and only there")
def source_gradients(case: ArchitectureCase) -> None:
    backbone, memory = case.build(), case.source(SOURCES[:4])
    memory.values_BSH.requires_grad_()
    memory.summary_BH.requires_grad_()
    y_BTH, _ = backbone(vectors(4, LENGTH, INPUTS), backbone.start(4, memory))
    (y_BTH * vectors(*y_BTH.shape, seed=1)).sum().backward()
    values_grad, summary_grad = memory.values_BSH.grad, memory.summary_BH.grad
    reached = summary_grad is not None and bool((summary_grad != 0).any(1).all())
    require(reached == case.uses_summary, f"the summary's gradient is {summary_grad}")
    require((values_grad is not None) == case.attends, f"the values' gradient is {values_grad}")
    if values_grad is not None:
        require((values_grad[memory.mask_BS] != 0).any(1).all(), "a kept position got none")
        require(not values_grad[~memory.mask_BS].any(), "a padded position got one")


@decoding("an empty source is read as nothing, without NaN in outputs or gradients")
def empty_sources(case: ArchitectureCase) -> None:
    backbone = case.build()
    for sources in ([0, 3], [0, 0]):
        state = backbone.start(2, case.source(sources, longest=3))
        y_BTH, _ = backbone(vectors(2, 2, INPUTS), state)
        y_BH, _ = backbone.step(vectors(2, INPUTS), state)
        require(torch.isfinite(y_BTH).all() and torch.isfinite(y_BH).all(), "an output is not finite")
        backbone.zero_grad()
        y_BTH.square().sum().backward()
        finite = [torch.isfinite(p.grad).all() for p in backbone.parameters() if p.grad is not None]
        require(all(finite), "a gradient is not finite")
