"""Comparisons on real Ray clusters: nodes that share nothing, nodes that are lost, busy, too small or open to all."""

import json
import time
from pathlib import Path

import pytest
from planning_cases import TEXT
from ray_clusters import COMPARE, TOKEN, cluster, outcome, start_command

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(autouse=True)
def text(tmp_path: Path) -> Path:
    path = tmp_path / "my.txt"
    path.write_text(TEXT)
    return path


def weights(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.glob("c/runs/*/model.safetensors"))]


def scores(folder: Path) -> list[dict[str, object]]:
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("c/runs/*/scores.json"))]
    return [{key: value for key, value in score.items() if key != "peak_memory"} for score in found]


def test_nodes_that_share_nothing_send_runs_back_and_get_the_same(tmp_path: Path) -> None:
    # the command proves the folder by another file than the nodes look for
    apart = "import seqlab.comparison.execution.cluster.launcher as launcher; launcher.PROOF = 'locks/elsewhere'"
    folders = [tmp_path / name for name in ("here", "there")]
    for folder in folders:
        folder.mkdir()
        (folder / "my.txt").write_text(TEXT)
    local = [word for word in COMPARE if word not in ("--launcher", "ray")]
    assert outcome(start_command(folders[0], *local))[0] == 0
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    places = {"TMPDIR": str(scratch), "RAY_TMPDIR": "/tmp"}  # Ray needs a short one
    code, printed = outcome(start_command(folders[1], *COMPARE, first=apart, **places))
    assert code == 0, printed
    assert "does not share 'c'" in printed
    assert weights(folders[1]) == weights(folders[0]) and len(weights(folders[0])) == 2
    assert scores(folders[1]) == scores(folders[0])
    files = [sorted(path.name for path in (folder / "c" / "runs" / "rnn-0").iterdir()) for folder in folders]
    assert files[1] == [name for name in files[0] if name != ".lock"]
    assert list(scratch.rglob("my.txt")) and not list(scratch.rglob("model.safetensors"))
    absolute = [str(folders[1] / "my.txt") if word == "my.txt" else word for word in COMPARE]
    absolute[absolute.index("c")] = "d"
    code, printed = outcome(start_command(folders[1], *absolute, first=apart, **places))
    assert code == 2 and "only files below the working directory are sent" in printed


def test_a_lost_node_is_replaced_by_another(tmp_path: Path) -> None:
    longer = [word.replace("steps=40", "steps=3000") for word in COMPARE]
    with cluster(1, 1) as ray:
        process = start_command(tmp_path, *longer, "--address", ray.address, **TOKEN)
        until = time.monotonic() + 120
        while len(list(tmp_path.glob("c/runs/*/metrics.jsonl"))) < 2 and time.monotonic() < until:
            time.sleep(0.2)
        ray.tell("remove")
        code, printed = outcome(process)
    assert code == 0, printed
    assert "attempt 2 of 5" in printed and "2/2  runs/" in printed


def test_a_cluster_that_is_busy_is_said_and_not_waited_for_without_end(tmp_path: Path) -> None:
    soon = "import seqlab.comparison.execution.cluster.launcher as launcher; "
    soon += "launcher.SAID_EVERY, launcher.MAX_WAIT = 1.0, 4"
    with cluster(1) as ray:
        ray.tell("hold")
        began = time.monotonic()
        code, printed = outcome(start_command(tmp_path, *COMPARE, "--address", ray.address, first=soon, **TOKEN))
    assert code == 1 and "2 jobs waiting for" in printed and "0 of the 1 CPU" in printed, printed
    assert "Repeat the command when the cluster is less busy" in printed and time.monotonic() - began < 120


def test_a_cluster_that_is_too_small_is_refused(tmp_path: Path) -> None:
    with cluster(1) as ray:
        larger = [word.replace("train.threads=1", "train.threads=3") for word in COMPARE]
        code, printed = outcome(start_command(tmp_path, *larger, "--address", ray.address, **TOKEN))
        assert code == 2 and "a run needs 3 CPUs on one node" in printed and "(1 CPU, 0 GPUs)" in printed, printed
        wrong = {**TOKEN, "RAY_AUTH_TOKEN": "f" * 64}
        code, printed = outcome(start_command(tmp_path, *COMPARE, "--address", ray.address, **wrong))
        assert code == 1 and "cannot connect to the Ray cluster" in printed, printed


def test_a_cluster_without_tokens_is_refused(tmp_path: Path) -> None:
    with cluster(1, authentication={"RAY_AUTH_MODE": "disabled"}) as ray:
        code, printed = outcome(start_command(tmp_path, *COMPARE, "--address", ray.address, **TOKEN))
    assert code == 2 and "obeys commands that have no token" in printed, printed
