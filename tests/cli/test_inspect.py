"""seqlab inspect."""

import json
from pathlib import Path
from typing import Any

import pytest
from small_runs import SMALL, small_run, train_small
from torch import Tensor

from seqlab.api import Run
from seqlab.backbones.recurrent import Gru
from seqlab.contracts import Recorded


class Silent(Gru):
    """Declares nothing and records nothing."""

    @property
    def records(self) -> dict[str, Recorded]:
        return {}

    def forward(self, x_BTD: Tensor, state: Any = None, mask_BT: Tensor | None = None, trace: Any = None):
        return super().forward(x_BTD, state, mask_BT, None)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return small_run(tmp_path_factory.mktemp("inspected"))


def test_what_a_model_records_is_listed(seqlab: Any, run: Run) -> None:
    answer = seqlab("inspect", str(run.path), "--list")
    assert answer.code == 0
    listed = [line.split()[0] for line in answer.out.splitlines()[1:]]
    assert listed == list(run.model.records) and "layer1.update" in listed
    assert "how much of the past is kept" in answer.out
    described = json.loads(seqlab("inspect", str(run.path), "--list", "--json").out)
    assert described["layer1.update"]["kind"] == "gate"


def test_an_architecture_that_records_nothing_gets_a_sentence(seqlab: Any, tmp_path: Path) -> None:
    (tmp_path / "my.txt").write_text("the cat sat on the mat. " * 40, encoding="utf-8")
    train_small(tmp_path / "my.txt", tmp_path / "run", arch=f"{__name__}:Silent", **{"hidden": SMALL["hidden"]})
    answer = seqlab("inspect", str(tmp_path / "run"), "--list")
    assert answer.code == 0 and "declares nothing that it records" in answer.out
