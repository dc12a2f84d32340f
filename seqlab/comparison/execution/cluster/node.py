"""What runs on a node of a cluster: the task gives a job to a worker process there, and sends on what that says.

Only JSON and the bytes of files travel. The worker process is the one of the local launcher, so that results are the
same; a Ray worker keeps it from one task to the next. Light to import: the Ray worker itself never loads torch.
"""

import hashlib
import json
import os
import platform
import queue
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from typing import Any

import seqlab
from seqlab.comparison.execution.process import (
    ENDS,
    STOP_TIMEOUT,
    Event,
    WorkerProcess,
    next_events,
    worker_command,
)
from seqlab.errors import StorageError

POLL = 0.2  # seconds between two looks at whether the task was canceled
CHUNK = 1 << 24  # bytes of a file that travel at once
MAX_UPLOAD = 1 << 32  # bytes of a run that is sent back
PACKAGES = ("torch", "numpy")  # that compute; other versions may round differently
Item = str | bytes  # an event as JSON, or a part of the file that the last event announced


@dataclass(frozen=True)
class Errand:
    """What a node needs to know besides the job."""

    directory: str  # of the comparison, on the machine of the command
    cwd: str  # there, too: relative paths of texts start here
    proof: str  # content of the file PROOF in the directory: who can read it shares the folder
    threads: int
    paths: list[str] = field(default_factory=list)  # where the command imports from
    plugins: str = ""  # what the user allows to be imported

    @property
    def is_shared(self) -> bool:
        """Whether this machine sees the folders of the command."""
        try:
            return Path(self.directory, PROOF).read_text() == self.proof and Path(self.cwd).is_dir()
        except OSError:
            return False

    @property
    def scratch(self) -> Path:
        """A folder here that stands for that of the comparison; the same whenever the command is repeated."""
        name = hashlib.sha256(f"{self.directory}\n{self.cwd}".encode()).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"seqlab-{os.getuid()}" / name


PROOF = "locks/shared"


@dataclass(frozen=True)
class Node:
    """What a node says of itself before it works."""

    host: str
    id: str  # in the cluster
    is_shared: bool
    authentication: str  # RAY_AUTH_MODE of its processes
    versions: dict[str, str]


def versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "seqlab": seqlab.__version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "none"
    return found


def node_id() -> str:
    import ray

    return ray.get_runtime_context().get_node_id() if ray.is_initialized() else ""


def describe(errand: str) -> str:
    """A task that only says what the node is like, as JSON."""
    shared = Errand(**json.loads(errand)).is_shared
    return json.dumps(asdict(Node(platform.node(), node_id(), shared, os.environ.get("RAY_AUTH_MODE", ""), versions())))


def run_on_node(job: str, errand: str, inputs: list[Any]) -> Iterator[Item]:
    """The task: what happens to a job, and its files if the node does not share the folder of the comparison.

    inputs: a reference to the files that the job reads, by their paths; empty if all nodes share the folders.
    """
    yield json.dumps({"kind": "node", **json.loads(describe(errand))})
    given = Errand(**json.loads(errand))
    if given.is_shared:
        yield from work(job, given, Path(given.directory), Path(given.cwd))
        return
    if not inputs:
        yield json.dumps({"kind": "taken"})  # it joined after the others; the command sends the files next time
        return
    import ray

    yield from work_in_scratch(job, given, ray.get(inputs[0]))


def work_in_scratch(job: str, errand: Errand, inputs: dict[str, bytes]) -> Iterator[Item]:
    """Work where nothing is shared: lay out what the job reads, and send back what it wrote."""
    folder, cwd, place = errand.scratch, errand.scratch / "cwd", json.loads(job)["place"]
    make_private(folder.parent)
    for name, content in inputs.items():
        lay_out(cwd / name, content)
    done = json.dumps({"kind": "done"})
    for event in work(job, errand, folder / "comparison", cwd):
        if event != done:
            yield event
            continue
        files = files_of(folder / "comparison", place)
        total = sum(path.stat().st_size for path in files)
        if total > MAX_UPLOAD:
            message = f"a node sends back {MAX_UPLOAD:,} bytes at most, and it has {total:,}."
            hint = "Share the folder with the nodes."
            yield json.dumps({"kind": "failed", "message": f"{message} {hint}", "code": StorageError.exit_code})
            return
        yield from contents(files, folder / "comparison")
        yield done
        for path in files:
            path.unlink(missing_ok=True)


def make_private(folder: Path) -> None:
    """A folder for this user alone, in a place where everybody may write."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise StorageError(f"'{folder}' belongs to somebody else: remove it, or set TMPDIR before Ray is started.")


def lay_out(path: Path, content: bytes) -> None:
    """Write a file unless it is there; another task may be doing the same."""
    if path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(content)
    temporary.replace(path)


def files_of(directory: Path, place: str) -> list[Path]:
    """What a job has written: its run, or that it failed."""
    failure = (directory / place).with_suffix(".failed")
    run = [path for path in sorted((directory / place).rglob("*")) if path.is_file() and path.name != ".lock"]
    return [*run, failure] if failure.is_file() else run


def contents(files: list[Path], directory: Path) -> Iterator[Item]:
    """File by file: an event with name and size, then the content in parts."""
    for path in files:
        name = PurePosixPath(path.relative_to(directory)).as_posix()
        yield json.dumps({"kind": "file", "name": name, "size": path.stat().st_size})
        with path.open("rb") as stream:
            while part := stream.read(CHUNK):
                yield part


_kept: dict[str, tuple[WorkerProcess, "queue.SimpleQueue[Event]"]] = {}  # the worker process of this Ray worker


def stop_worker() -> None:
    """Let it write a checkpoint and exit."""
    for process, _ in _kept.values():
        process.terminate()
        process.close(time.monotonic() + STOP_TIMEOUT)
    _kept.clear()


def work(job: str, errand: Errand, directory: Path, cwd: Path) -> Iterator[str]:
    """Let a worker process do the job, and yield its events, the last one of the kinds ENDS."""
    process, heard = _worker(errand, directory, cwd)
    process.send(job)
    ended = False
    try:
        while not ended:
            for event in next_events(heard, POLL):
                ended = event["kind"] in ENDS
                yield json.dumps(event)
                if ended:
                    break
    finally:  # canceled: with a checkpoint
        if not ended:
            stop_worker()


def _worker(errand: Errand, directory: Path, cwd: Path) -> tuple[WorkerProcess, "queue.SimpleQueue[Event]"]:
    key = json.dumps([str(directory), str(cwd), errand.threads, os.environ.get("CUDA_VISIBLE_DEVICES")])
    if key not in _kept or not _kept[key][0].alive:
        stop_worker()
        heard: queue.SimpleQueue[Event] = queue.SimpleQueue()
        log = directory / "logs" / f"worker-{platform.node()}-{os.getpid()}.log"
        if errand.plugins:
            os.environ["SEQLAB_PLUGINS"] = errand.plugins
        command = worker_command(directory, errand.paths if errand.is_shared else [])
        _kept[key] = WorkerProcess(command, log, errand.threads, heard.put, cwd), heard
    return _kept[key]
