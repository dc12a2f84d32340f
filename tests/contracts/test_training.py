"""Learning: gradients, dropout, seeds, saved weights."""

from pathlib import Path
from typing import Any

import pytest
import torch
from contract_variants import (
    INPUTS,
    Variant,
    equal_states,
    every_carrying,
    every_causal,
    every_reading_ahead,
    every_simple_causal,
    every_simple_reading_ahead,
    every_variant,
    mask_of,
    some_state,
    vectors,
)
from torch import nn
from torch.nn.functional import cross_entropy

from seqlab.config import ModelSettings, RunSettings, resolve
from seqlab.errors import UsageError
from seqlab.models.language_model import LanguageModel
from seqlab.models.masked_language_model import MaskedModel
from seqlab.models.parameter_count import refuse_unfit
from seqlab.runs import tensors
from seqlab.runs.checkpoint import load_weights, weights_of

HALF = 0.5


@every_variant
@pytest.mark.parametrize("ragged", [False, True])
def test_every_parameter_gets_a_gradient(variant: Variant, ragged: bool):
    backbone, kept_BT = variant.build(), mask_of([6, 3, 1] if ragged else [6, 6, 6], 6)
    x_BTD = vectors(3, 6, INPUTS).requires_grad_()
    y_BTH, after = backbone(x_BTD, some_state(backbone, 3), kept_BT if ragged else None)
    # in what comes out or, as a pooler is, in the state
    states = sum(leaf.square().sum() for leaf in after.tensors() if leaf.requires_grad)
    ((y_BTH * vectors(*y_BTH.shape, seed=1))[kept_BT].sum() + states).backward()
    assert x_BTD.grad is not None
    for name, parameter in backbone.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        assert parameter.grad.abs().sum() > 0, name
    assert (x_BTD.grad[kept_BT] != 0).any(1).all()
    assert not x_BTD.grad[~kept_BT].any()


@every_carrying
def test_the_gradient_reaches_the_state_that_was_given(variant: Variant):
    backbone = variant.build()
    state = some_state(backbone, 2).map(lambda leaf: leaf.requires_grad_() if leaf.is_floating_point() else leaf)
    backbone(vectors(2, 4, INPUTS), state)[0].square().sum().backward()
    leaves = [leaf for leaf in state.tensors() if leaf.requires_grad]
    assert leaves
    assert all(leaf.grad is not None and leaf.grad.abs().sum() > 0 for leaf in leaves)


def language_model(variant: Variant, vocab_size: int = 7, seed: int = 0, **changes: Any) -> LanguageModel:
    backbone = variant.build(seed, **changes)
    return LanguageModel(ModelSettings(embedding=INPUTS), backbone, vocab_size)


def train(model: LanguageModel, tokens_BT: torch.Tensor, steps: int, lr: float = 0.01) -> float:
    """The loss of the next tokens before the last step."""
    optimizer, loss = torch.optim.Adam(model.parameters(), lr=lr), torch.tensor(torch.inf)
    for _ in range(steps):
        logits_BTV, _ = model(tokens_BT[:, :-1])
        loss = cross_entropy(logits_BTV.flatten(0, 1), tokens_BT[:, 1:].flatten())
        if loss < 0.05:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss.detach())


@every_simple_causal
def test_four_examples_can_be_learnt_by_heart(variant: Variant):
    tokens_BT = torch.randint(7, (4, 7), generator=torch.Generator().manual_seed(0))
    tokens_BT[:, 0] = torch.arange(4)
    assert train(language_model(variant, hidden=32), tokens_BT, steps=200) < 0.05


@every_causal
def test_the_same_seed_gives_the_same_bits(variant: Variant):
    tokens_BT = torch.randint(7, (3, 6), generator=torch.Generator().manual_seed(1))
    trained = []
    for seed in (3, 3, 4):
        model = language_model(variant, seed=seed, dropout=HALF).train()
        train(model, tokens_BT, steps=2)
        trained.append(nn.utils.parameters_to_vector(model.parameters()))
    assert torch.equal(trained[0], trained[1])
    assert not torch.equal(trained[0], trained[2])


@every_reading_ahead
def test_what_reads_ahead_is_no_language_model(variant: Variant):
    with pytest.raises(UsageError, match="reads ahead"):
        refuse_unfit(settings_for(variant, "language"))
    refuse_unfit(settings_for(variant, "masked"))


@every_simple_causal
def test_what_does_not_read_ahead_fills_no_gaps(variant: Variant):
    with pytest.raises(UsageError, match="never sees what comes after"):
        refuse_unfit(settings_for(variant, "masked"))


def settings_for(variant: Variant, task: str) -> RunSettings:
    backbone = {"name": variant.name, **variant.having().model_dump()}
    return resolve({"corpus": {"source": ["none"]}, "task": {"name": task}, "backbone": backbone})


@every_simple_reading_ahead
def test_a_hidden_token_can_be_learnt_by_heart(variant: Variant):
    """What stands after the gap tells what was in it."""
    tokens_BT = torch.tensor([[1, 0, 2], [1, 5, 3], [1, 6, 4], [1, 2, 5]])
    model = MaskedModel(ModelSettings(embedding=INPUTS), variant.build(hidden=32), 7)
    hidden_BT = tokens_BT.clone()
    hidden_BT[:, 1] = model.mask
    optimizer, loss = torch.optim.Adam(model.parameters(), lr=0.01), torch.tensor(torch.inf)
    for _ in range(200):
        loss = cross_entropy(model(hidden_BT)[0][:, 1], tokens_BT[:, 1])
        if loss < 0.05:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.05


@every_variant
def test_saving_and_loading_is_exact(variant: Variant):
    saved, loaded = variant.build(seed=1), variant.build(seed=2)
    x_BTD = vectors(2, 5, INPUTS)
    y_BTH, state = saved(x_BTD)
    assert not torch.equal(loaded(x_BTD)[0], y_BTH)
    content = tensors.to_bytes(weights_of(saved))
    load_weights(loaded, tensors.from_bytes(content, Path("weights"), weights_of(loaded)))
    z_BTH, other = loaded(x_BTD)
    assert torch.equal(z_BTH, y_BTH)
    assert equal_states(other, state)
    assert tensors.to_bytes(weights_of(loaded)) == content


@every_variant
def test_dropout_is_for_training_only(variant: Variant):
    x_BTD = vectors(2, 6, INPUTS)
    without, dropping = variant.build(), variant.build(dropout=HALF)
    assert torch.equal(dropping(x_BTD)[0], without(x_BTD)[0])
    dropping.train()
    if variant.has_dropout:
        assert not torch.equal(dropping(x_BTD)[0], dropping(x_BTD)[0])
