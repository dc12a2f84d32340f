"""Promises about parameters and learning: closed counts, gradients, dropout, seeds, saved weights."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.flop_counter import FlopCounterMode

from seqlab.config import ModelSettings
from seqlab.contracts import Trace
from seqlab.models.language_model import LanguageModel
from seqlab.models.masked_language_model import MaskedLanguageModel
from seqlab.runs import tensors
from seqlab.runs.checkpoint import load_weights, weights_of
from seqlab.testing.cases import HIDDEN, INPUTS, ArchitectureCase, mask_of, same_state, vectors
from seqlab.testing.promises import Promises, require

training: Promises[ArchitectureCase] = Promises()
overfitting: Promises[ArchitectureCase] = Promises()
VOCAB_SIZE = 7


@training("core_parameters and position_parameters count the parameters, for any input width")
def parameter_count(case: ArchitectureCase) -> None:
    for inputs in (1, INPUTS, HIDDEN):
        built = sum(parameter.numel() for parameter in case.build(inputs=inputs).parameters())
        declared = case.parameters(inputs)
        require(declared == built, f"for inputs of width {inputs}, {declared} are declared and {built} are built")


@training("flops_per_token is what torch counts in the plain implementation")
def flops(case: ArchitectureCase) -> None:
    batch, length = 3, 4 if case.memory is None else 2
    backbone = case.build(implementation="plain")
    start = None if case.memory is None else backbone.start(batch, case.source([length] * batch)).detach()
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        backbone(vectors(batch, length, INPUTS), start, None, Trace())
    declared, counted = backbone.flops_per_token(length) * batch * length, counter.get_total_flops()
    inner: Any = getattr(backbone, "inner", backbone)
    if case.steps_only and inner.flops_per_token(1) != inner.flops_per_token(length):
        return require(declared > counted, f"{declared} are declared, torch counts {counted}")
    return require(declared == counted, f"{declared} are declared, torch counts {counted}: override flops_per_token")


@training("every parameter gets a finite gradient, and so does every kept input")
def gradients(case: ArchitectureCase) -> None:
    for lengths in ([6, 6, 6], [6, 3, 1]):
        backbone, kept_BT = case.build(), mask_of(lengths, 6)
        x_BTD = vectors(3, 6, INPUTS).requires_grad_()
        start = case.later(backbone, 3) if case.memory is None else case.start(backbone, 3)
        y_BTH, after = backbone(x_BTD, start, None if min(lengths) == 6 else kept_BT)
        # in the output or, as for a pooler, in the state
        states = sum(leaf.square().sum() for leaf in after.tensors() if leaf.requires_grad)
        ((y_BTH * vectors(*y_BTH.shape, seed=1))[kept_BT].sum() + states).backward()
        for name, parameter in backbone.named_parameters():
            require(parameter.grad is not None and parameter.grad.abs().sum() > 0, f"{name} has none")
            require(parameter.grad is not None and torch.isfinite(parameter.grad).all(), f"{name} has one with NaN")
        grad_BTD = x_BTD.grad
        require(grad_BTD is not None and (grad_BTD[kept_BT] != 0).any(1).all(), "a kept input has none")
        require(grad_BTD is not None and not grad_BTD[~kept_BT].any(), "an input in the padding has one")


@training("a state that was given gets a gradient, where the architecture carries one")
def gradient_of_the_state(case: ArchitectureCase) -> None:
    backbone = case.build()
    if not backbone.carries or case.memory is not None:
        return
    state = case.later(backbone, 2).map(lambda leaf: leaf.requires_grad_() if leaf.is_floating_point() else leaf)
    backbone(vectors(2, 4, INPUTS), state)[0].square().sum().backward()
    leaves = [leaf for leaf in state.tensors() if leaf.requires_grad]
    reached = [leaf.grad is not None and bool(leaf.grad.abs().sum() > 0) for leaf in leaves]
    require(reached and all(reached), f"of {len(leaves)} tensors of the state, {sum(reached)} got one")


@training("saved weights load exactly into a new module")
def saved_weights(case: ArchitectureCase) -> None:
    saved, loaded, x_BTD = case.build(seed=1), case.build(seed=2), vectors(2, 5, INPUTS)
    y_BTH, state = saved(x_BTD, case.start(saved, 2))
    require(not torch.equal(loaded(x_BTD, case.start(loaded, 2))[0], y_BTH), "another seed gives the same outputs")
    content = tensors.to_bytes(weights_of(saved))
    load_weights(loaded, tensors.from_bytes(content, Path("weights"), weights_of(loaded)))
    z_BTH, other = loaded(x_BTD, case.start(loaded, 2))
    require(torch.equal(z_BTH, y_BTH), "the outputs are not equal")
    same_state(other, state, "the states", exact=True)
    require(tensors.to_bytes(weights_of(loaded)) == content, "saving again gives other bytes")


@training("dropout acts in training only")
def dropout(case: ArchitectureCase) -> None:
    x_BTD, without, dropping = vectors(2, 6, INPUTS), case.build(), case.build(dropout=0.5)
    same_start, start = case.start(dropping, 2), case.start(without, 2)
    require(torch.equal(dropping(x_BTD, same_start)[0], without(x_BTD, start)[0]), "it acts in evaluation")
    dropping.train()
    twice = [dropping(x_BTD, same_start)[0] for _ in range(2)]
    require(not case.settings.has_dropout or not torch.equal(*twice), "it does nothing in training")


@training("the same seed gives the same bits after training steps")
def seeds(case: ArchitectureCase) -> None:
    if case.memory is not None or not case.settings.causal:
        return
    tokens_BT = torch.randint(VOCAB_SIZE, (3, 6), generator=torch.Generator().manual_seed(1))
    weights: list[Tensor] = []
    for seed in (3, 3, 4):
        model = LanguageModel(ModelSettings(embedding=INPUTS), case.build(seed, dropout=0.5), VOCAB_SIZE).train()
        fit_next_tokens(model, tokens_BT, steps=2)
        weights.append(nn.utils.parameters_to_vector(model.parameters()))
    require(torch.equal(weights[0], weights[1]), "two runs with one seed differ")
    require(not torch.equal(weights[0], weights[2]), "another seed changes nothing")


@overfitting("four examples can be memorized in 400 steps")
def memorizes(case: ArchitectureCase) -> None:
    backbone = case.build(hidden=32)
    if case.settings.causal:
        tokens_BT = torch.randint(VOCAB_SIZE, (4, 7), generator=torch.Generator().manual_seed(0))
        tokens_BT[:, 0] = torch.arange(4)
        loss = fit_next_tokens(LanguageModel(ModelSettings(embedding=INPUTS), backbone, VOCAB_SIZE), tokens_BT, 400)
    else:
        loss = _fit_hidden_tokens(MaskedLanguageModel(ModelSettings(embedding=INPUTS), backbone, VOCAB_SIZE))
    require(loss < 0.05, f"the training loss is {loss:.3f}")


def fit_next_tokens(model: LanguageModel, tokens_BT: Tensor, steps: int) -> float:
    """The training loss before the last step."""
    return _fit(model, steps, lambda: (model(tokens_BT[:, :-1])[0].flatten(0, 1), tokens_BT[:, 1:].flatten()))


def _fit_hidden_tokens(model: MaskedLanguageModel) -> float:
    """What comes after the gap tells what was in it."""
    tokens_BT = torch.tensor([[1, 0, 2], [1, 5, 3], [1, 6, 4], [1, 2, 5]])
    hidden_BT = tokens_BT.clone()
    hidden_BT[:, 1] = model.mask
    return _fit(model, 400, lambda: (model(hidden_BT)[0][:, 1], tokens_BT[:, 1]))


def _fit(model: nn.Module, steps: int, predict: Any) -> float:
    optimizer, loss = torch.optim.Adam(model.parameters(), lr=0.01), torch.tensor(torch.inf)
    for _ in range(steps):
        loss = cross_entropy(*predict())
        if loss < 0.05:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss.detach())
