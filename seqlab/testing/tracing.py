"""Promises about looking inside: what a trace changes, what is recorded in it, and what it can replace."""

from functools import partial

import torch
from torch import Tensor

from seqlab.contracts import Backbone, Recorded, State, Trace
from seqlab.testing.cases import INPUTS, ArchitectureCase, mask_of, same, same_state, vectors
from seqlab.testing.promises import Promises, require

tracing: Promises[ArchitectureCase] = Promises()
LENGTH = 5
RAGGED = [LENGTH, 1, 0, 4]
AXES = {"gate": 3, "state": 3, "layer": 3, "heads": 4, "scores": 4, "attention": 4, "source attention": 4, "pooling": 2}


@tracing("a trace changes no output and no state, and runs the plain implementation where there is one")
def traces(case: ArchitectureCase) -> None:
    backbone, x_BTD = case.build(), vectors(len(RAGGED), LENGTH, INPUTS)
    plain = case.build(implementation="plain")
    for mask_BT in (None, mask_of(RAGGED, LENGTH)):
        kept_BT = torch.ones(len(RAGGED), LENGTH, dtype=torch.bool) if mask_BT is None else mask_BT
        start = case.start(backbone, len(RAGGED))
        y_BTH, state = backbone(x_BTD, start, mask_BT, Trace())
        z_BTH, other = backbone(x_BTD, start, mask_BT)
        same(y_BTH[kept_BT], z_BTH[kept_BT], "with a trace")
        same_state(state, other, "with a trace")
        if case.settings.has("implementation"):
            z_BTH, other = plain(x_BTD, case.start(plain, len(RAGGED)), mask_BT)
            require(torch.equal(y_BTH[kept_BT], z_BTH[kept_BT]), "a trace did not run the plain implementation")
    if backbone.causal:
        state = case.later(backbone, 3)
        (y_BH, after), (z_BH, traced) = (backbone.step(vectors(3, INPUTS), state, t) for t in (None, Trace()))
        same(z_BH, y_BH, "a step with a trace")
        same_state(traced, after, "a step with a trace")


@tracing("forward and step record what `records` declares, with batch and time first and as many axes as its kind has")
def declared_is_recorded(case: ArchitectureCase) -> None:
    backbone, x_BTD, whole = case.build(), vectors(3, LENGTH, INPUTS), Trace()
    start = case.start(backbone, 3)
    backbone(x_BTD, start, None, whole)
    _require_declared(backbone, whole, LENGTH)
    if backbone.causal:
        step = Trace()
        backbone.step(x_BTD[:, 0], start, step)
        _require_declared(backbone, step, 1)
        for name in backbone.records:
            seen = step[name].shape[-1]  # of keys, one that comes later is not there yet
            same(step[name], whole[name][:, :1, ..., :seen], f"'{name}' in a step")


def _require_declared(backbone: Backbone, trace: Trace, length: int) -> None:
    declared, recorded = set(backbone.records), set(trace.names)
    require(declared >= recorded, f"it recorded {sorted(recorded - declared)}, which `records` does not declare")
    require(declared <= recorded, f"`records` declares {sorted(declared - recorded)}, which it did not record")
    for name, about in backbone.records.items():
        _require_kind(name, about, trace[name], length)


def _require_kind(name: str, about: Recorded, value: Tensor, length: int) -> None:
    require(about.kind in AXES, f"'{name}' is of the kind '{about.kind}': expected one of {', '.join(AXES)}")
    fits = value.shape[:2] == (3, length) and value.dim() == AXES[about.kind]
    require(fits, f"'{name}' ({about.kind}) has the shape {tuple(value.shape)}: batch 3, time {length}")
    if about.kind == "gate":
        require(bool(((value >= 0) & (value <= 1)).all()), f"the gate '{name}' leaves the range from 0 to 1")
    if about.kind in ("attention", "source attention"):
        same(value.sum(-1), torch.ones(value.shape[:-1]), f"the sums of '{name}'")


@tracing(
    "the model computes on with what `record` returns: a replaced value changes the output, its own value does not"
)
def replaced(case: ArchitectureCase) -> None:
    backbone, x_BTD, trace = case.build(), vectors(2, 3, INPUTS), Trace()
    run = partial(_run, backbone, x_BTD, case.start(backbone, 2))
    y_BTH = run(trace)
    itself = Trace({name: trace[name] for name in backbone.records})
    require(torch.equal(run(itself), y_BTH), "every value in its own place changed the output")
    for name in backbone.records:
        other = Trace({name: lambda value: value + vectors(*value.shape, seed=5)})
        require(not torch.equal(run(other), y_BTH), f"another value in the place of '{name}' changed nothing")


def _run(backbone: Backbone, x_BTD: Tensor, start: State, trace: Trace) -> Tensor:
    with torch.no_grad():
        return backbone(x_BTD, start, None, trace)[0]
