"""What a backward pass keeps, in closed form, against the tensors that torch saves for it."""

import pytest
import torch

from seqlab.precision import lstm_rounds, training_precision
from seqlab.recomputation import recomputation
from seqlab.registry import BACKBONES
from seqlab.testing.activations import kept_bytes
from seqlab.testing.cases import ArchitectureCase, cases, vectors

CASES = [case for name in BACKBONES for case in cases(BACKBONES.load(name))]
BATCH, LENGTH, INPUTS, HIDDEN = 3, 40, 24, 64
WITHIN = 0.06


@pytest.mark.parametrize("recompute", [False, True], ids=["kept", "recomputed"])
@pytest.mark.parametrize("precision", ["float32", "bf16"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_activations_are_the_tensors_that_torch_saves(case: ArchitectureCase, precision: str, recompute: bool) -> None:
    if precision == "bf16" and case.settings.option("reset", "after") == "before":
        pytest.skip("autocast rounds parts of a matrix anew in every step: docs/limits.md")
    if precision == "bf16" and not lstm_rounds():
        pytest.skip("this processor's LSTM kernel has no bfloat16 form")
    backbone = case.build(inputs=INPUTS, hidden=HIDDEN).train()
    settings = backbone.settings
    x_BTD = vectors(BATCH, LENGTH, INPUTS).requires_grad_() * 1.0

    def forward() -> torch.Tensor:
        with training_precision(precision, x_BTD.device), recomputation(recompute):
            return backbone(x_BTD)[0]

    kept, _ = kept_bytes(forward, backbone.parameters())
    again = settings.recomputed_bytes(INPUTS, LENGTH, precision) if recompute else 0
    expected = settings.activation_bytes(INPUTS, LENGTH, precision) - again
    assert expected * BATCH == pytest.approx(kept, rel=WITHIN)
