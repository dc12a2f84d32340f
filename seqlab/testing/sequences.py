"""Promises about passes over a sequence: the whole at once, in steps, in chunks, in padded rows; and about states."""

from typing import Any

import torch
from torch import Tensor, nn

from seqlab.contracts import TensorTree
from seqlab.errors import UsageError
from seqlab.testing.cases import INPUTS, ArchitectureCase, mask_of, same, same_state, vectors
from seqlab.testing.promises import Promises, require

sequences: Promises[ArchitectureCase] = Promises()
LENGTH = 7
RAGGED = [LENGTH, 1, 0, 4]


@sequences("the settings say what is built: width and causal, as BackboneSettings declares them")
def settings_describe_the_module(case: ArchitectureCase) -> None:
    backbone = case.build()
    built, declared = (backbone.width, backbone.causal), (case.settings.width, case.settings.causal)
    require(built == declared, f"the module has (width, causal) = {built}, its settings {declared}")


@sequences("forward gives outputs of (batch, time, width) and a State, batch first, that counts its tokens")
def shapes(case: ArchitectureCase) -> None:
    backbone = case.build()
    start = case.start(backbone, 3)
    y_BTH, state = backbone(vectors(3, LENGTH, INPUTS), start)
    require(y_BTH.shape == (3, LENGTH, backbone.width), f"outputs of {tuple(y_BTH.shape)}, width {backbone.width}")
    counts = (start.lengths_B.tolist(), state.lengths_B.tolist())
    require(counts == ([0] * 3, [LENGTH] * 3), f"lengths_B at the start and after {LENGTH} tokens: {counts}")
    for before, after in zip(start.tensors(), state.tensors(), strict=True):
        kinds = (len(before), before.dtype), (len(after), after.dtype)
        require(kinds[0] == kinds[1], f"a tensor of the state was (rows, dtype) {kinds[0]} and became {kinds[1]}")


@sequences("no state means the start state")
def no_state_is_the_start(case: ArchitectureCase) -> None:
    if case.memory is not None:
        return
    backbone, x_BTD = case.build(), vectors(3, LENGTH, INPUTS)
    (y_BTH, state), (z_BTH, other) = backbone(x_BTD), backbone(x_BTD, backbone.start(3))
    require(torch.equal(y_BTH, z_BTH), "the outputs are not equal")
    same_state(state, other, "the states", exact=True)


@sequences("a causal architecture's output never depends on later inputs, bit by bit; others do and refuse to step")
def causality(case: ArchitectureCase) -> None:
    backbone, x_BTD = case.build(), vectors(2, LENGTH, INPUTS)
    start = case.start(backbone, 2)
    y_BTH, _ = backbone(x_BTD, start)
    if not backbone.causal:
        return _reads_ahead(backbone, x_BTD, y_BTH)
    for t in range(1, LENGTH):
        changed_BTD = x_BTD.clone()
        changed_BTD[:, t] = 10 * vectors(2, INPUTS, seed=t)
        z_BTH, _ = backbone(changed_BTD, start)
        moved_T = (z_BTH != y_BTH).any(2).any(0).tolist()
        require(not any(moved_T[:t]), f"changing input {t} changed output {moved_T.index(True)}")
        require(moved_T[t], f"changing input {t} did not change output {t}")
    return None


def _reads_ahead(backbone: Any, x_BTD: Tensor, y_BTH: Tensor) -> None:
    changed_BTD = x_BTD.clone()
    changed_BTD[:, -1] += 1
    require(not torch.equal(backbone(changed_BTD)[0][:, 0], y_BTH[:, 0]), "the last input does not reach output 0")
    try:
        backbone.step(x_BTD[:, 0], backbone.start(len(x_BTD)))
    except UsageError:
        return
    raise AssertionError("`step` of an architecture that is not causal has to raise UsageError")


@sequences("step by step equals one pass, from the start and from a carried state")
def steps(case: ArchitectureCase) -> None:
    backbone, x_BTD = case.build(), vectors(3, LENGTH, INPUTS)
    for state in (case.start(backbone, 3), case.later(backbone, 3)) if backbone.causal else ():
        y_BTH, after = backbone(x_BTD, state)
        for t in range(LENGTH):
            y_BH, state = backbone.step(x_BTD[:, t], state)
            same(y_BH, y_BTH[:, t], f"output {t}")
        same_state(state, after, "the states")


@sequences("chunks with the state carried equal one pass, padded or not")
def chunks(case: ArchitectureCase) -> None:
    backbone, x_BTD = case.build(), vectors(len(RAGGED), LENGTH, INPUTS)
    for mask_BT in (None, mask_of(RAGGED, LENGTH)) if backbone.causal else ():
        kept_BT = torch.ones(len(RAGGED), LENGTH, dtype=torch.bool) if mask_BT is None else mask_BT
        state = case.later(backbone, len(RAGGED))
        y_BTH, after = backbone(x_BTD, state, mask_BT)
        for chunk in (slice(0, 1), slice(1, 5), slice(5, LENGTH)):
            z_BTH, state = backbone(x_BTD[:, chunk], state, None if mask_BT is None else mask_BT[:, chunk])
            same(z_BTH[kept_BT[:, chunk]], y_BTH[:, chunk][kept_BT[:, chunk]], f"positions {chunk.start}-{chunk.stop}")
        same_state(state, after, "the states")


@sequences("a padded row equals the row alone, and an empty row's state stays as it was")
def padding(case: ArchitectureCase) -> None:
    backbone = case.build()
    for lengths in (RAGGED, [2, 1, 3, 1], [0, 0, 0, 0]):
        x_BTD = vectors(len(lengths), LENGTH, INPUTS)
        for before in (case.start(backbone, len(lengths)), case.later(backbone, len(lengths))):
            y_BTH, after = backbone(x_BTD, before, mask_of(lengths, LENGTH))
            for row, length in enumerate(lengths):
                alone = before.select(torch.tensor([row]))
                mine = after.select(torch.tensor([row]))
                if length:
                    z_1TH, alone = backbone(x_BTD[row : row + 1, :length], alone)
                    same(y_BTH[row, :length], z_1TH[0], f"row of {length} in {LENGTH}")
                same_state(mine, alone, f"state of a row of {length} in {LENGTH}", exact=not length)


@sequences("the content of padding does not matter, and a mask that keeps everything changes nothing")
def padding_content(case: ArchitectureCase) -> None:
    backbone, x_BTD, mask_BT = case.build(), vectors(len(RAGGED), LENGTH, INPUTS), mask_of(RAGGED, LENGTH)
    start = case.start(backbone, len(RAGGED))
    other_BTD = torch.where(mask_BT[:, :, None], x_BTD, 100 * vectors(*x_BTD.shape, seed=1))
    (y_BTH, state), (z_BTH, other) = backbone(x_BTD, start, mask_BT), backbone(other_BTD, start, mask_BT)
    require(torch.equal(y_BTH[mask_BT], z_BTH[mask_BT]), "other numbers in the padding changed the outputs")
    same_state(state, other, "other numbers in the padding", exact=True)
    (y_BTH, state), (z_BTH, other) = backbone(x_BTD, start), backbone(x_BTD, start, torch.ones_like(mask_BT))
    same(z_BTH, y_BTH, "with a mask that keeps everything")
    same_state(other, state, "with a mask that keeps everything")


# --- states ---------------------------------------------------------------------------------------------------------


@sequences("State.select and State.concat commute with a step")
def rows_of_states(case: ArchitectureCase) -> None:
    backbone, x_BD = case.build(), vectors(4, INPUTS)
    if not backbone.causal:
        return
    state, rows_B = case.later(backbone, 4), torch.tensor([2, 0, 2, 3, 1])
    y_BH, after = backbone.step(x_BD, state)
    z_BH, selected = backbone.step(x_BD[rows_B], state.select(rows_B))
    same(z_BH, y_BH[rows_B], "selected rows")
    same_state(selected, after.select(rows_B), "selected rows")
    pieces = [case.later(backbone, 2), case.start(backbone, 1), case.later(backbone, 4).select(torch.tensor([3]))]
    y_BH, after = backbone.step(x_BD, type(state).concat(pieces))
    stepped = [backbone.step(x, piece) for x, piece in zip(x_BD.split([2, 1, 1]), pieces, strict=True)]
    same(torch.cat([y for y, _ in stepped]), y_BH, "concatenated rows")
    same_state(type(state).concat([piece for _, piece in stepped]), after, "concatenated rows")


@sequences("neither forward nor step changes its arguments, and the module keeps nothing of what it read")
def nothing_is_changed(case: ArchitectureCase) -> None:
    for training in (False, True):
        backbone, x_BTD = case.build(dropout=0.5).train(training), vectors(3, 4, INPUTS)
        state, held = case.later(backbone, 3), _held(backbone)
        copies, inputs = state.map(Tensor.clone), x_BTD.clone()
        y_BTH, after = backbone(x_BTD, state, mask_of([4, 1, 0], 4))
        backbone(x_BTD, state)
        if backbone.causal:
            backbone.step(x_BTD[:, 0], state)
        y_BTH.sum().backward()
        given = zip(state.tensors(), copies.tensors(), strict=True)
        require(all(torch.equal(a, b) for a, b in given), "the state that it was given changed")
        require(torch.equal(x_BTD, inputs), "the input changed")
        require(_held(backbone) == held, "an attribute of the module changed: pass it through the State")
        require(not any(leaf.requires_grad for leaf in after.detach().tensors()), "a detached state has a gradient")


def _held(value: Any) -> list[Any]:
    """The names of all attributes and keys below a value, and every tensor."""
    if isinstance(value, Tensor):
        return [id(value)]
    if isinstance(value, nn.Module | TensorTree):
        value = vars(value)
    if isinstance(value, dict):
        return [item for key, inner in value.items() for item in (str(key), *_held(inner))]
    if isinstance(value, list | tuple | set):
        return [item for inner in value for item in ("", *_held(inner))]
    return []


@sequences("state_bytes and memory_bytes are the bytes of the state's tensors, without lengths_B")
def state_size(case: ArchitectureCase) -> None:
    backbone = case.build()
    for length, source in ((1, 3), (6, 5)):
        start = backbone.start(1) if case.memory is None else backbone.start(1, case.source([source]))
        state = backbone(vectors(1, length, INPUTS), start)[1]
        held = sum(leaf.nbytes for leaf in state.tensors() if leaf is not state.lengths_B)
        declared = backbone.state_bytes(length) + (0 if case.memory is None else backbone.memory_bytes(source))
        require(declared == held, f"after {length} tokens {declared} are declared, and the tensors have {held}")
