"""R4: fresh runs with one seed are the same to the bit, whatever happened before them in the process."""

from pathlib import Path
from typing import Any

import pytest
import torch
from reliability_runs import outcome, train

from seqlab.registry import BACKBONES

HARD: dict[str, Any] = {"layers": 2, "dropout": 0.3, "accumulate": 2, "steps": 8, "evaluate_every": 4}


@pytest.mark.parametrize("documents", ["stream", "lines"])
@pytest.mark.parametrize("arch", [name for name in BACKBONES if BACKBONES.settings(name)().causal])
def test_the_same_seed_gives_the_same_bits(arch: str, documents: str, text: Path, tmp_path: Path) -> None:
    first = train(text, tmp_path / "first", arch=arch, documents=documents, seed=3, **HARD)
    torch.rand(17)  # what the program around it draws makes no difference
    second = train(text, tmp_path / "second", arch=arch, documents=documents, seed=3, **HARD)
    assert outcome(first) == outcome(second)
    other = train(text, tmp_path / "other", arch=arch, documents=documents, seed=4, **HARD)
    assert outcome(first)["model.safetensors"] != outcome(other)["model.safetensors"]


def test_what_is_written_at_evaluations_makes_no_difference(text: Path, tmp_path: Path) -> None:
    silent = train(text, tmp_path / "silent", steps=6, evaluate_every=2, sample=0)
    talking = train(text, tmp_path / "talking", steps=6, evaluate_every=2, sample=20)
    assert outcome(silent) == outcome(talking)
