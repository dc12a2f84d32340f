"""FLOPs in closed form, against torch's own count of what the equations multiply and add."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from seqlab.registry import BACKBONES
from seqlab.testing.cases import INPUTS, ArchitectureCase, cases, vectors

CASES = [case for name in BACKBONES for case in cases(BACKBONES.load(name))]
LENGTH = 8


@pytest.mark.parametrize("case", CASES, ids=str)
def test_flops_are_those_that_torch_counts(case: ArchitectureCase) -> None:
    backbone = case.build(implementation="plain")
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        backbone(vectors(1, LENGTH, INPUTS))
    assert backbone.flops_per_token(LENGTH) * LENGTH == counter.get_total_flops()
