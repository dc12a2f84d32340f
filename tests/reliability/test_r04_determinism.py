"""R4: fresh runs with one seed are the same to the bit, whatever happened before them in the process."""

from pathlib import Path

import pytest
import torch
from reliability_runs import ARCHITECTURES, hard, outcome, train


@pytest.mark.parametrize("documents", ["stream", "lines"])
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_same_seed_gives_the_same_bits(arch: str, documents: str, text: Path, tmp_path: Path) -> None:
    settings = {"documents": documents, "steps": 8, "evaluate_every": 4, **hard(arch)}
    first = train(text, tmp_path / "first", seed=3, **settings)
    torch.rand(17)  # what the program around it draws makes no difference
    second = train(text, tmp_path / "second", seed=3, **settings)
    assert outcome(first) == outcome(second)
    other = train(text, tmp_path / "other", seed=4, **settings)
    assert outcome(first)["model.safetensors"] != outcome(other)["model.safetensors"]


def test_what_is_written_at_evaluations_makes_no_difference(text: Path, tmp_path: Path) -> None:
    silent = train(text, tmp_path / "silent", steps=6, evaluate_every=2, sample_tokens=0)
    talking = train(text, tmp_path / "talking", steps=6, evaluate_every=2, sample_tokens=20)
    assert outcome(silent) == outcome(talking)
