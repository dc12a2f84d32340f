"""Closed-form counts against the built thing."""

import subprocess
import sys

import pytest
import torch
from contract_variants import INPUTS, SIZES, Variant, every_causal, every_reading_ahead, every_variant, vectors
from torch.utils.flop_counter import FlopCounterMode

from seqlab.config import ModelSettings
from seqlab.models.language_model import LanguageModel
from seqlab.models.masked_language_model import MaskedModel
from seqlab.models.parameter_count import token_parameters
from seqlab.registry import BACKBONES


@every_variant
def test_parameters_of_the_core(variant: Variant):
    for inputs in (1, INPUTS, SIZES["hidden"]):
        backbone = variant.build(inputs=inputs)
        settings = variant.having()
        table = getattr(settings, "position_parameters", 0)
        assert settings.core_parameters(inputs) + table == sum(p.numel() for p in backbone.parameters())


@every_variant
def test_the_settings_know_what_will_be_built(variant: Variant):
    settings, backbone = variant.having(), variant.build()
    assert (settings.width, settings.causal) == (backbone.width, backbone.causal)


@every_causal
@pytest.mark.parametrize("tie_embeddings", [False, True])
@pytest.mark.parametrize("equal", [False, True])
def test_parameters_of_a_language_model(variant: Variant, tie_embeddings: bool, equal: bool):
    width, vocab_size = variant.build().width, 11
    settings = ModelSettings(embedding=width if equal else width + 3, tie_embeddings=tie_embeddings)
    model = LanguageModel(settings, variant.build(inputs=settings.embedding), vocab_size)
    count = token_parameters(settings, variant.having(), vocab_size)
    total = sum(p.numel() for p in model.parameters())
    core = sum(p.numel() for p in model.backbone.parameters())
    assert count.embedding == model.embedding.weight.numel()
    assert count.core + count.positions == core
    assert count.output == total - core - count.embedding
    assert count.total == total


@every_reading_ahead
@pytest.mark.parametrize("tie_embeddings", [False, True])
def test_parameters_of_a_masked_model(variant: Variant, tie_embeddings: bool):
    settings = ModelSettings(embedding=INPUTS, tie_embeddings=tie_embeddings)
    model = MaskedModel(settings, variant.build(), 11)
    assert token_parameters(settings, variant.having(), 11, symbols=1).total == sum(
        p.numel() for p in model.parameters()
    )


@every_variant
def test_operations_are_those_that_torch_counts_in_the_plain_form(variant: Variant):
    backbone, batch, length = variant.build(implementation="plain"), 3, 4
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        backbone(vectors(batch, length, INPUTS))
    assert backbone.flops_per_token(length) * batch * length == counter.get_total_flops()


@every_causal
@pytest.mark.parametrize("tie_embeddings", [False, True])
def test_operations_of_a_language_model(variant: Variant, tie_embeddings: bool):
    model = LanguageModel(
        ModelSettings(embedding=INPUTS, tie_embeddings=tie_embeddings), variant.build(implementation="plain"), 11
    )
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(torch.zeros(3, 4, dtype=torch.long))
    assert model.flops_per_token(4) * 3 * 4 == counter.get_total_flops()


@pytest.mark.parametrize("name", list(BACKBONES))
def test_the_settings_are_those_of_the_class(name: str):
    assert BACKBONES.load(name).Settings is BACKBONES.settings(name)
    assert BACKBONES.about(name)


def test_settings_import_without_torch():
    program = (
        "import sys; from seqlab.registry import BACKBONES\n"
        "for name in BACKBONES: BACKBONES.settings(name)().core_parameters(8)\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
