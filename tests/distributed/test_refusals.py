"""What several processes cannot do is refused, in words."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from seqlab import api
from seqlab.config import RunSettings, build_settings
from seqlab.distributed.group import ProcessLost
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


@pytest.mark.parametrize("command", ["train", "compare"])
def test_one_process_has_nothing_to_divide(seqlab: Callable[..., Any], tmp_path: Path, command: str) -> None:
    (tmp_path / "my.txt").write_text("the cat sat on the mat. " * 40, encoding="utf-8")
    answer = seqlab(command, str(tmp_path / "my.txt"), "--set", "train.shard=true", "--out", str(tmp_path / "run"))
    assert answer.code == 2 and "train.shard" in answer.err
    assert ("and there is one" if command == "train" else "trains each run in one process") in answer.err


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


@pytest.mark.parametrize("rank", ["0", "1"])
@pytest.mark.parametrize("words", [["train", "my.txt", "--stepz", "5"], ["--stepz"]])
def test_one_process_says_an_unknown_option(
    seqlab: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, rank: str, words: list[str]
) -> None:
    for name, value in {**TWO, "RANK": rank, "LOCAL_RANK": rank}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("seqlab.__main__.OWN_ERROR", 0)  # nobody ends this process meanwhile
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    answer = seqlab(*words)
    if rank == "1":  # which prints into nothing
        sys.stdout.close()
    assert answer.code == 2
    assert answer.err.startswith("process 1: error: No such option" if rank == "1" else "error: No such option")
    assert answer.err.count("\n") == 1


def test_what_to_do_about_a_lost_process(
    seqlab: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Before there is a checkpoint, nothing can be resumed: the other process may only have refused the command."""

    def lose(*_: object) -> None:
        raise ProcessLost(RuntimeError("Connection closed by peer"))

    (tmp_path / "my.txt").write_text("the cat sat on the mat. " * 40, encoding="utf-8")
    words = ["train", str(tmp_path / "my.txt"), "--arch", "rnn", "--hidden", "8", "--steps", "2"]
    words += ["--set", "train.sample_tokens=0", "--out", str(tmp_path / "run")]
    with monkeypatch.context() as patch:
        patch.setattr("seqlab.training.session.check_trainable", lose)
        answer = seqlab(*words)
    assert answer.code == 70 and "Its own message says why." in answer.err and "resume" not in answer.err
    monkeypatch.setattr("seqlab.training.session.finish", lose)  # after the last step, and its checkpoint
    answer = seqlab(*words)
    assert answer.code == 70 and f"start 'seqlab resume {tmp_path / 'run'}' with torchrun" in answer.err


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
