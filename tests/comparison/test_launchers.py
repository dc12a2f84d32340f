"""What launchers are asked for and refused, what travels to a node and back, and what a task does there."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick_workers import command_without_drawing

from seqlab.comparison.execution.cluster import connection, node, transfer
from seqlab.comparison.execution.cluster.connection import Demand, check_address, connected
from seqlab.comparison.execution.cluster.node import PROOF, Errand, contents, files_of, run_on_node, work_in_scratch
from seqlab.comparison.execution.cluster.transfer import Upload, read_inputs
from seqlab.comparison.execution.jobs import Job
from seqlab.comparison.execution.launchers import LAUNCHERS
from seqlab.comparison.execution.worker import EventReporter, run_job
from seqlab.comparison.plan.request import ComparisonSettings, build_request
from seqlab.config import resolve
from seqlab.errors import DataError, UsageError

TABLES = {
    "corpus": {"source": ["my.txt"]},
    "backbone": {"name": "rnn", "hidden": 8},
    "model": {"embedding": 8},
    "task": {"window": 16, "batch_size": 4},
    "train": {"steps": 5, "threads": 1, "sample_tokens": 0},
}
JOB = Job("runs/rnn-0", resolve(TABLES).resolved(), "validation", 1.0)
TEXT = "The old cat sat by the sea and saw the red hen.\n" * 40


def test_every_launcher_that_can_be_asked_for_exists() -> None:
    assert set(LAUNCHERS) == {"local", "ray"}
    for name in LAUNCHERS:
        assert ComparisonSettings(launcher=name).launcher == name  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"address": "10.0.0.1:6379"}, "address does nothing without launcher=ray"),
        ({"launcher": "local", "address": "auto"}, "address does nothing without launcher=ray"),
        ({"launcher": "ray", "jobs": 2}, "jobs does nothing with Ray"),
        ({"launcher": "slurm"}, "launcher"),
    ],
)
def test_options_that_do_nothing_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        build_request("my.txt", None, {}, options)


def test_where_runs_are_is_no_part_of_a_plan() -> None:
    local, on_ray = (
        build_request("my.txt", None, {}, options)
        for options in ({"jobs": 2}, {"launcher": "ray", "address": "10.0.0.1:6379"})
    )
    assert local.as_dict() == on_ray.as_dict()


@pytest.mark.parametrize("address", ["", "6379", "ray://10.0.0.1:10001", "10.0.0.1", "10.0.0.1:x", "local"])
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(UsageError, match="is not an address of a Ray cluster"):
        check_address(address)


def test_without_the_extra_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_USAGE_STATS_ENABLED"):
        monkeypatch.setenv(name, "token")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'seqlab\[ray\]'"), connected(None, tmp_path):
        pass


@pytest.mark.parametrize(("mode", "words"), [(None, "there is no token"), ("disabled", "RAY_AUTH_MODE is 'disabled'")])
def test_a_cluster_is_not_used_without_a_token(
    mode: str | None, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_AUTH_MODE"):
        monkeypatch.delenv(name, raising=False)
    if mode is not None:
        monkeypatch.setenv("RAY_AUTH_MODE", mode)
    with pytest.raises(UsageError, match=words) as refused, connected("10.0.0.1:6379", tmp_path):
        pass
    assert "ray get-auth-token --generate" in str(refused.value)
    (tmp_path / connection.TOKEN_FILE).parent.mkdir()
    (tmp_path / connection.TOKEN_FILE).write_text("secret")
    assert connection.has_token()


@given(
    threads=st.integers(1, 8), cpus=st.integers(0, 64), gpus=st.integers(0, 8), device=st.sampled_from(["cpu", "cuda"])
)
def test_a_node_has_places_for_what_fits(threads: int, cpus: int, gpus: int, device: str) -> None:
    places = Demand(threads, device).fits({"CPU": float(cpus), "GPU": float(gpus)})
    enough = [n for n in range(100) if n * threads <= cpus and (device == "cpu" or n <= gpus)]
    assert places == max(enough)


def test_jobs_and_errands_are_the_same_after_a_journey_as_json(tmp_path: Path) -> None:
    assert Job(**json.loads(json.dumps(vars(JOB)))) == JOB
    errand = Errand(str(tmp_path), str(tmp_path), "proof", 3, ["/a b"], "mine:Cell")
    assert Errand(**json.loads(json.dumps(asdict(errand)))) == errand


def test_a_folder_is_shared_where_its_proof_can_be_read(tmp_path: Path) -> None:
    errand = Errand(str(tmp_path), str(tmp_path), "proof", 1)
    assert not errand.is_shared
    (tmp_path / PROOF).parent.mkdir()
    (tmp_path / PROOF).write_text("proof")
    assert errand.is_shared
    assert not replace(errand, proof="other").is_shared and not replace(errand, cwd=str(tmp_path / "no")).is_shared


class Silent(EventReporter):
    def __init__(self) -> None: ...

    def send(self, kind: str, **details: Any) -> None: ...

    def step(self, step: int, loss: float, units_per_second: float) -> None: ...


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """The same job done in this process, by a task on a node that shares the folder, and on one that does not."""
    place = tmp_path_factory.mktemp("launchers")
    found = {name: place / name for name in ("here", "shared", "sent")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(node, "worker_command", lambda folder, _: command_without_drawing(folder))
        patch.setattr("tempfile.tempdir", str(place))
        patch.setenv("SEQLAB_CACHE", str(place / "cache"))
        patch.chdir(place)
        Path("my.txt").write_text(TEXT)
        (found["shared"] / PROOF).parent.mkdir(parents=True)
        (found["shared"] / PROOF).write_text("proof")
        run_job(JOB, found["here"], Silent())
        errand = Errand(str(found["shared"]), str(place), "proof", 1)
        said = [json.loads(item) for item in run_on_node(json.dumps(vars(JOB)), json.dumps(asdict(errand)), [])]
        assert said[0]["kind"] == "node" and said[0]["is_shared"] and said[-1] == {"kind": "done"}
        receive(
            work_in_scratch(json.dumps(vars(JOB)), replace(errand, directory="far"), read_inputs([JOB], "n")),
            found["sent"],
        )
        yield found
        node.stop_worker()


def receive(items: Iterator[str | bytes], folder: Path) -> None:
    """As the launcher does: parts to the upload, which is put in place when the job is done."""
    upload = Upload(JOB, folder)
    for item in items:
        if isinstance(item, bytes):
            upload.add(item)
        elif json.loads(item)["kind"] == "file":
            assert JOB.is_done(folder) or not JOB.path(folder).exists(), "nothing is there before everything is"
            upload.announce(json.loads(item))
    upload.finish()


@pytest.mark.parametrize("way", ["shared", "sent"])
def test_a_task_does_what_a_local_worker_does(way: str, folders: dict[str, Path]) -> None:
    here, there = (JOB.path(folders[name]) for name in ("here", way))
    assert JOB.is_done(folders[way])
    assert (there / "model.safetensors").read_bytes() == (here / "model.safetensors").read_bytes()
    scores = [json.loads((run / "scores.json").read_bytes()) for run in (here, there)]
    assert scores[0].pop("peak_memory") and scores[1].pop("peak_memory") and scores[0] == scores[1]
    names = [{path.name for path in run.iterdir()} - {".lock"} for run in (here, there)]
    assert names[0] == names[1]


def test_a_run_that_was_done_meanwhile_is_kept(folders: dict[str, Path]) -> None:
    before = (JOB.path(folders["sent"]) / "scores.json").stat().st_mtime_ns
    files = files_of(folders["here"], JOB.place)
    receive(contents(files, folders["here"]), folders["sent"])
    assert (JOB.path(folders["sent"]) / "scores.json").stat().st_mtime_ns == before


@pytest.mark.parametrize("name", ["runs/rnn-1/x.json", "../x.json", "runs/rnn-0/../../x", "/etc/x", "runs/rnn-0", "x"])
def test_files_that_belong_elsewhere_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not part of that run"):
        Upload(JOB, tmp_path).announce({"kind": "file", "name": name, "size": 1})


def test_more_than_was_announced_is_refused(tmp_path: Path) -> None:
    upload = Upload(JOB, tmp_path)
    upload.announce({"kind": "file", "name": "runs/rnn-0/x.json", "size": 1})
    with pytest.raises(DataError, match="more than it announced"):
        upload.add(b"ab")


def test_texts_that_cannot_be_sent_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.txt").write_text(TEXT)
    assert read_inputs([JOB, JOB], "node") == {"my.txt": TEXT.encode()}
    for source in (str(tmp_path / "my.txt"), "../my.txt"):
        far = replace(JOB, settings={**JOB.settings, "corpus": {"source": [source]}})
        with pytest.raises(UsageError, match="only files below the working directory are sent"):
            read_inputs([far], "node")
    monkeypatch.setattr(transfer, "MAX_SENT", 10)
    with pytest.raises(UsageError, match="at most 10 bytes are sent"):
        read_inputs([JOB], "node")
    built_in = replace(JOB, settings={**JOB.settings, "corpus": {"source": ["toy-words"]}})
    assert read_inputs([built_in], "node") == {}
