"""The public contract suite over every registered architecture: registering one is enough to have it tested."""

import math
import subprocess
import sys

import pytest
import torch
from torch.nn.functional import cross_entropy

from seqlab.config import ModelSettings, resolve
from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.models.language_model import LanguageModel
from seqlab.models.masked_language_model import MaskedLanguageModel
from seqlab.models.parameter_count import refuse_unfit, token_parameters
from seqlab.registry import BACKBONES
from seqlab.runs.load import build_model
from seqlab.testing.architecture import architecture_checks
from seqlab.testing.cases import INPUTS, SOURCES, ArchitectureCase, cases, mask_of, same, vectors
from seqlab.testing.models import run_settings
from seqlab.testing.promises import Check

CHECKS = [pair for name in BACKBONES for pair in architecture_checks(BACKBONES.load(name))]
CASES = [case for name in BACKBONES for case in cases(BACKBONES.load(name))]
DECODERS = [case for case, _ in CHECKS if case.memory is not None]
every_case = pytest.mark.parametrize("case", CASES, ids=str)


@pytest.mark.parametrize(("case", "checks"), CHECKS, ids=[str(case) for case, _ in CHECKS])
def test_promises(case: ArchitectureCase, checks: list[Check[ArchitectureCase]]) -> None:
    for check in checks:
        check(case)


@every_case
@pytest.mark.parametrize("tie_embeddings", [False, True])
def test_parameters_of_token_models(case: ArchitectureCase, tie_embeddings: bool) -> None:
    model_type = LanguageModel if case.settings.causal else MaskedLanguageModel
    for embedding in (case.settings.width, case.settings.width + 3):
        settings = ModelSettings(embedding=embedding, tie_embeddings=tie_embeddings)
        model = model_type(settings, case.build(inputs=embedding), 11)
        count = token_parameters(settings, case.settings, 11, symbols=model_type.symbols)
        total, core = (sum(p.numel() for p in module.parameters()) for module in (model, model.backbone))
        assert count.embedding == model.embedding.weight.numel()
        assert count.core + count.positions == core
        assert (count.output, count.total) == (total - core - count.embedding, total)


@pytest.mark.parametrize("embedding", [64, 256])
@pytest.mark.parametrize("vocab_size", [65, 2000])
@pytest.mark.parametrize("name", list(BACKBONES))
def test_a_tied_model_starts_as_uncertain_as_a_uniform_guess(name: str, vocab_size: int, embedding: int) -> None:
    task = "language" if BACKBONES.settings(name)().causal else "masked"
    tables = {"corpus": {"source": ["none"]}, "task": {"name": task}, "backbone": {"name": name, "hidden": embedding}}
    model = build_model(resolve({**tables, "model": {"embedding": embedding, "tie_embeddings": True}}), vocab_size)
    tokens_BT = torch.randint(vocab_size, (8, 33), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        logits_BTV, _ = model(tokens_BT[:, :-1])
    loss = cross_entropy(logits_BTV.flatten(0, 1), tokens_BT[:, 1:].flatten())
    assert loss == pytest.approx(math.log(vocab_size), rel=0.1)


@every_case
def test_a_trace_records_inner_values(case: ArchitectureCase) -> None:
    backbone, trace = case.build(), Trace()
    backbone(vectors(2, 4, INPUTS), None, None, trace)
    assert "layer" in {backbone.records[name].kind for name in trace.names}


@pytest.mark.parametrize("case", DECODERS, ids=str)
def test_a_trace_records_the_weights_over_the_source(case: ArchitectureCase) -> None:
    backbone, trace, length = case.build(), Trace(), 3
    backbone(vectors(4, length, INPUTS), case.start(backbone, 4), None, trace)
    names = [name for name, recorded in backbone.records.items() if recorded.kind == "source attention"]
    assert len(names) == (case.settings.layers if case.decoder is None else int(case.attends))
    for name in names:
        weights_BTS = trace[name][:, :, 0]
        assert weights_BTS.shape == (4, length, max(SOURCES[:4]))
        same(weights_BTS.sum(2), torch.ones(4, length), "attention weights")
        assert torch.equal(weights_BTS != 0, mask_of(SOURCES[:4], max(SOURCES[:4]))[:, None].expand_as(weights_BTS))


@every_case
def test_a_task_that_does_not_suit_is_refused(case: ArchitectureCase) -> None:
    if case.settings.causal:
        with pytest.raises(UsageError, match="never sees what comes after"):
            refuse_unfit(run_settings(case, "masked"))
    else:
        with pytest.raises(UsageError, match="reads ahead"):
            refuse_unfit(run_settings(case, "language"))
        refuse_unfit(run_settings(case, "masked"))


@pytest.mark.parametrize("name", list(BACKBONES))
def test_the_settings_are_those_of_the_class(name: str) -> None:
    assert BACKBONES.load(name).Settings is BACKBONES.settings(name)
    assert BACKBONES.about(name)


def test_settings_import_without_torch() -> None:
    program = (
        "import sys; from seqlab.registry import BACKBONES\n"
        "for name in BACKBONES: BACKBONES.settings(name)().core_parameters(8)\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
