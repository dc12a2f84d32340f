"""What several processes cannot do is refused, in words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from seqlab import api
from seqlab.config import RunSettings, build_settings
from seqlab.distributed.world import SHARED, World, working_as
from seqlab.errors import UsageError
from seqlab.training.processes import check_processes

TWO = {
    "RANK": "0",
    "WORLD_SIZE": "2",
    "LOCAL_RANK": "0",
    "LOCAL_WORLD_SIZE": "2",
    "MASTER_ADDR": "x",
    "MASTER_PORT": "1",
}


def settings(**dotted: Any) -> RunSettings:
    changes = {"corpus.source": ["my.txt"], **dotted}
    return build_settings({}, list(changes.items()))


@pytest.mark.parametrize(
    ("dotted", "words"),
    [
        ({"corpus.source": ["-"]}, "standard input"),
        ({"train.device": "mps"}, "train.device is mps"),
        ({"train.offload": True}, "train.offload is for train.shard=true on train.device=cuda"),
        ({"train.shard": True, "train.optimizer": "muon"}, "muon, which needs whole matrices"),
        ({"train.shard": True, "train.precision": "bf16"}, "train.precision=bf16"),
        ({"train.shard": True, "train.seconds": 5.0}, "give --steps or --epochs"),
        ({"train.shard": True, "task.name": "embed"}, "--task embed, whose rows depend on each other"),
        ({"train.shard": True, "task.name": "translate", "task.forcing": "free"}, "task.forcing=free"),
        ({"task.name": "embed", "task.cache_batch": 2}, "task.cache_batch draws other dropout masks"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_settings_that_several_processes_cannot_share(dotted: dict[str, Any], words: str) -> None:
    with working_as(World(0, 2, 0, 2)), pytest.raises(UsageError, match=words):
        check_processes(settings(**dotted), Path("out"))


def test_what_they_can_share() -> None:
    quiet = {
        "task.name": "embed",
        "model.embedding_dropout": 0.0,
        "model.output_dropout": 0.0,
        "task.word_dropout": 0.0,
    }
    with working_as(World(0, 2, 0, 2)):
        check_processes(settings(), None)
        check_processes(settings(**{"train.shard": True, "train.recompute": True}), None)
        check_processes(settings(**quiet, **{"task.cache_batch": 2}), None)


def test_restarts_need_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHELASTIC_MAX_RESTARTS", "3")
    check_processes(settings(), Path("out"))
    with pytest.raises(UsageError, match="name its folder with --out"):
        check_processes(settings(), None)


@pytest.mark.parametrize("command", ["generate", "predict", "audit", "index", "list", "demo", "doctor", "speedrun"])
def test_other_commands_are_refused(seqlab: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    for name, value in TWO.items():
        monkeypatch.setenv(name, value)
    answer = seqlab(command, "run")
    assert answer.code == 2
    assert f"seqlab {command} computes in one process: start it without torchrun" in answer.err
    assert all(shared in answer.err for shared in SHARED)


def test_recomputation_of_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "my.txt").write_text("the cat sat on the mat. " * 40, encoding="utf-8")
    changes = {"train.recompute": True, "backbone.hidden": 8, "train.steps": 1}
    with pytest.raises(UsageError, match=r"train\.recompute does nothing for feedforward"):
        api.train(tmp_path / "my.txt", arch="feedforward", settings=changes, out=tmp_path / "run")


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs: nccl, and offloading to the CPU's memory")
def test_sharded_training_with_offload_on_gpus(tmp_path: Path) -> None:
    from tests.distributed.launching import finished, start_jobs

    changes = {"train.device": "cuda", "train.shard": True, "train.offload": True}
    job = {"do": "train", "folder": str(tmp_path), "case": "lstm language", "precision": "float32", **changes}
    finished(start_jobs(2, [job]))
