"""`torchrun -m seqlab`: one of the processes writes and prints; a lost one is replaced, a signal stops all."""

import os
import signal
import time
from pathlib import Path

import pytest

from seqlab.runs.checkpoint import checkpoints, step_of
from tests.distributed.launching import LIMIT, children, ended, torchrun
from tests.distributed.run_differences import apart, losses

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2700)]
TEXT = "".join(f"the {noun} sat by the {place}.\n" for noun in ("cat", "dog", "hen") for place in ("mat", "sea")) * 40
SMALL = ["--hidden", "16", "--embedding", "8", "--window", "16", "--batch-size", "4", "--set", "train.sample_tokens=0"]
OFTEN = ["--set", "train.checkpoint_seconds=0.2", "--steps", "1500", "--dropout", "0.1"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "my.txt").write_text(TEXT, encoding="utf-8")
    return tmp_path


def train(text: Path, out: str, *words: str, restarts: int = 0) -> "list[str]":
    agent = ["--max-restarts", str(restarts)] if restarts else []
    return [*agent, "-m", "seqlab", "train", str(text / "my.txt"), "--out", out, *SMALL, *words]


def wait_for_step(run: Path, step: int) -> None:
    until = time.monotonic() + LIMIT
    while not any(step_of(path) >= step for path in checkpoints(run / "checkpoints")):
        assert time.monotonic() < until, "it does not train"
        time.sleep(0.05)


def test_one_process_writes_and_prints(text: Path) -> None:
    code, out, err = ended(torchrun(2, *train(text, "run", "--steps", "20"), cwd=text))
    assert code == 0, err
    assert out.count("What to type next:") == 1
    assert err.count("on 2 processes with") == 1
    assert len(losses(text / "run")) == 30


def test_a_mistake_is_said_once(text: Path) -> None:
    code, _, err = ended(torchrun(2, *train(text, "run", "--steps", "20", "--arch", "lstn"), cwd=text))
    assert code != 0
    assert err.count("lstn") == 1
    assert "Traceback" not in err.partition("ChildFailedError")[0].partition("Traceback")[0]


def test_an_unknown_option_is_said_once(text: Path) -> None:
    code, _, err = ended(torchrun(2, *train(text, "run", "--stepz", "20"), cwd=text))
    assert code != 0
    assert err.count("stepz") == err.count("error: No such option: --stepz") == 1


def test_a_killed_worker_restarts_and_the_run_ends_equal(text: Path) -> None:
    whole = torchrun(2, *train(text, "whole", *OFTEN), cwd=text)
    assert ended(whole)[0] == 0
    process = torchrun(2, *train(text, "run", *OFTEN, restarts=2), cwd=text)
    wait_for_step(text / "run", 50)
    os.kill(children(process)[-1], signal.SIGKILL)
    code, out, err = ended(process)
    assert code == 0, f"{out}\n{err}"
    assert "has started the processes again (1): resuming 'run'" in err
    assert max(apart(text / "whole", text / "run")) == 0


def test_restarts_need_a_folder(text: Path) -> None:
    words = train(text, "run", "--steps", "20", restarts=1)
    at = words.index("--out")
    code, _, err = ended(torchrun(2, *words[:at], *words[at + 2 :], cwd=text))
    assert code != 0
    assert "name its folder with --out" in err


def test_a_restart_does_not_continue_the_run_of_another_launch(text: Path) -> None:
    assert ended(torchrun(2, *train(text, "run", "--steps", "20"), cwd=text))[0] == 0
    before = (text / "run" / "metrics.jsonl").read_text()
    code, _, err = ended(torchrun(2, *train(text, "run", "--steps", "30", restarts=1), cwd=text))
    assert code != 0
    assert "already contains a run" in err
    assert (text / "run" / "metrics.jsonl").read_text() == before


@pytest.mark.parametrize("rank", [0, 1])
def test_a_signal_to_one_process_stops_all_at_the_same_step(text: Path, rank: int) -> None:
    process = torchrun(2, *train(text, "run", *OFTEN), cwd=text)
    wait_for_step(text / "run", 50)
    os.kill(children(process)[rank], signal.SIGTERM)
    _, _, err = ended(process)
    assert err.count("everything is saved. Continue with: seqlab resume run") == 1, err
    stopped = step_of(checkpoints(text / "run" / "checkpoints")[-1])
    code, out, err = ended(torchrun(2, "-m", "seqlab", "resume", "run", cwd=text))
    assert code == 0, f"{out}\n{err}"
    assert f"resuming after step {stopped} of" in err
    assert ended(torchrun(2, *train(text, "whole", *OFTEN), cwd=text))[0] == 0
    assert max(apart(text / "whole", text / "run")) == 0


def test_processes_share_the_runs_of_a_comparison(text: Path) -> None:
    words = ["compare", "my.txt", "--archs", "rnn,gru", "--seeds", "2", "--match", "params=1k", "--budget", "steps=20"]
    words += ["--tune", "2", "--set", "train.sample_tokens=0", "--set", "task.window=16"]
    code, out, err = ended(torchrun(2, "-m", "seqlab", *words, "--out", "two", cwd=text))
    assert code == 0, err
    assert out.count("What to type next:") == 1
    assert err.count("for everything, in two") == err.count("runs: 4 to do") == err.count("first tokens:") == 1, err
    assert [line.split()[0] for line in err.splitlines() if "  runs/" in line] == ["1/4", "2/4", "3/4", "4/4"], err
    assert {path.name for path in (text / "two" / "logs").iterdir()} == {"worker-0.log", "worker-1-0.log"}
    code, _, err = ended(torchrun(1, "-m", "seqlab", *words, "--jobs", "2", "--out", "one", cwd=text))
    assert code == 0, err
    weights = [
        {path.parent.name: path.read_bytes() for path in (text / name / "runs").glob("*/model.safetensors")}
        for name in ("one", "two")
    ]
    assert weights[0] == weights[1] and len(weights[0]) == 4
