"""The launcher for Ray clusters: a job is a task that sends back events, and its files where they are not shared."""

import json
import os
import secrets
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from seqlab.comparison.execution.cluster.connection import (
    NO_TOKEN,
    Demand,
    alive_nodes,
    connected,
    count_places,
    offer,
)
from seqlab.comparison.execution.cluster.node import PROOF, Errand, Node, describe, run_on_node, versions
from seqlab.comparison.execution.cluster.transfer import Upload, read_inputs
from seqlab.comparison.execution.jobs import LOGS, Job
from seqlab.comparison.execution.launcher import Launcher
from seqlab.comparison.execution.process import ENDS, STOP_TIMEOUT, Event
from seqlab.comparison.execution.progress import ProgressView
from seqlab.errors import SeqlabError, UsageError
from seqlab.storage import storage_errors, write_atomic
from seqlab.wording import counted, ended

DESCRIBE_TIMEOUT = 120.0  # seconds for a node to start a process
SAID_EVERY = 30.0  # seconds between two lines that nothing runs yet
MAX_WAIT = 600  # seconds in which no job of ours has run


@dataclass
class RayTask:
    """A job in the hands of Ray."""

    job: Job
    upload: Upload
    host: str = ""  # of the node, once it has started
    node: str = ""  # its id, since nodes may share a host
    ended: bool = False


class RayLauncher(Launcher):
    """Jobs as tasks of a cluster, or of a Ray instance on this machine that ends with this process."""

    def __init__(self, directory: Path, address: str | None, view: ProgressView):
        super().__init__(directory, view)
        self._address = address
        self._held = ExitStack()
        self._ray: Any = None
        self._tasks: dict[Any, RayTask] = {}  # by their streams of events
        self._last: list[tuple[Job, Event]] = []  # heard while stopping
        self._jobs: Sequence[Job] = ()
        self._unshared: set[str] = set()  # hosts that do not see the folder
        self._inputs: list[Any] = []  # a reference to what they need
        self._said: set[str] = set()
        self._since = self._said_at = 0.0  # nothing has run since then

    def __enter__(self) -> Self:
        folder = self.directory.resolve()
        log = folder / LOGS / "ray.log"
        with storage_errors(log, 0):
            log.parent.mkdir(parents=True, exist_ok=True)
            stream = self._held.enter_context(log.open("a", encoding="utf-8"))
        with self._held:
            self._held.enter_context(redirect_stdout(stream))  # Ray prints what happens to its workers
            self._ray = self._held.enter_context(connected(self._address, folder / LOGS))
            self._held = self._held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with self._held:
            self.stop()

    def places(self, threads: int, device: str) -> int:
        return count_places(self._ray, Demand(threads, device))

    def has_room(self, running: int) -> bool:
        return True  # Ray has a queue

    def run(self, jobs: Sequence[Job], what: str) -> None:
        self._jobs = [job for job in jobs if not job.is_done(self.directory)]
        for device in {job.settings["train"]["device"] for job in self._jobs}:
            self.places(self.threads, device)
        if self._jobs:
            self._look_at_nodes()
        self._since = self._said_at = time.monotonic()
        super().run(jobs, what)

    def _look_at_nodes(self) -> None:
        """Ask all nodes what they are like, before the first job."""
        ray = self._ray
        strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        task = ray.remote(num_cpus=0, max_retries=0)(describe)
        asked = {
            task.options(scheduling_strategy=strategy(node["NodeID"], soft=False)).remote(self._errand()): node
            for node in alive_nodes(ray)
        }
        for answer, node in asked.items():
            try:
                self._check(Node(**json.loads(ray.get(answer, timeout=DESCRIBE_TIMEOUT))))
            except ray.exceptions.RayError as error:
                raise SeqlabError(
                    f"the node {offer(node)} cannot run jobs: {_first_line(error)} Is seqlab {versions()['seqlab']} "
                    f"installed there, in the environment in which Ray was started?"
                ) from None

    def _check(self, node: Node) -> None:
        """Refuse a node that would compute something else or is open to everybody; say what differs."""
        ours = versions()
        if node.versions["seqlab"] != ours["seqlab"]:
            raise UsageError(
                f"the node {node.host} has seqlab {node.versions['seqlab']}, this machine {ours['seqlab']}: install "
                f"the same version on both."
            )
        if self._address is not None and node.authentication != "token":
            raise UsageError(f"the node {node.host} obeys commands that have no token: {NO_TOKEN}")
        for name, version in node.versions.items():
            if version != ours[name]:
                self._say_once(
                    f"{node.host} has {name} {version}, this machine {ours[name]}: results may be rounded otherwise"
                )
        if not node.is_shared:
            self._unshared.add(node.host)
            self._say_once(
                f"{node.host} does not share '{self.directory}': texts are sent there, finished runs are sent back, "
                f"and a run that is stopped begins again unless the same node continues it"
            )

    def _say_once(self, message: str) -> None:
        if message not in self._said:
            self._said.add(message)
            self.view.log(f"note: {message}.")

    def _errand(self) -> str:
        directory = self.directory.resolve()
        proof = directory / PROOF
        if not proof.is_file():
            write_atomic(proof, secrets.token_hex(16).encode())
        paths, plugins = [path for path in sys.path if path], os.environ.get("SEQLAB_PLUGINS", "")
        errand = Errand(str(directory), str(Path.cwd()), proof.read_text(), self.threads, paths, plugins)
        return json.dumps(asdict(errand))

    def start(self, job: Job) -> None:
        if self._unshared and not self._inputs:
            self._inputs = [self._ray.put(read_inputs(self._jobs, " and ".join(sorted(self._unshared))))]
        demand = Demand(self.threads, job.settings["train"]["device"])
        # a task that Ray repeated by itself would send its events twice: Launcher counts and repeats
        task = self._ray.remote(num_returns="streaming", max_retries=0, scheduling_strategy="SPREAD")(run_on_node)
        stream = task.options(num_cpus=demand.threads, num_gpus=demand.gpus, name=job.place).remote(
            json.dumps(vars(job)), self._errand(), self._inputs
        )
        self._tasks[stream] = RayTask(job, Upload(job, self.directory))

    def hear(self, seconds: float) -> list[tuple[Job, Event]]:
        heard, self._last = self._last, []
        if self._tasks:
            ready, _ = self._ray.wait([*self._tasks], num_returns=len(self._tasks), timeout=seconds)
            for stream in ready:
                heard += [(self._tasks[stream].job, event) for event in self._events(stream)]
            self._tasks = {stream: task for stream, task in self._tasks.items() if not task.ended}
            self._watch()
        elif not heard:
            time.sleep(seconds)
        return heard

    def _events(self, stream: Any) -> list[Event]:
        """What a task has sent; the last event of a task that was lost says so."""
        task, events, errors = self._tasks[stream], list[Event](), self._ray.exceptions
        try:
            while not task.ended and self._ray.wait([stream], timeout=0)[0]:
                events += self._event(task, self._ray.get(next(stream)))
        except StopIteration:
            events.append({"kind": "died", "message": f"on {task.host}"})
        except errors.TaskCancelledError:
            events += [{"kind": "stopped", "message": "canceled", "code": 143}] if task.host else []
            task.ended = True
        except errors.RayTaskError as error:
            message = f"on {task.host or 'a node'}: {_first_line(error.cause)}"
            events.append({"kind": "failed", "message": message, "code": 1})
        except errors.RayError as error:
            where = f"on {task.host}: " if task.host else ""
            events.append({"kind": "died", "message": where + _first_line(error)})
        task.ended = task.ended or any(event["kind"] in ENDS for event in events)
        return events

    def _event(self, task: RayTask, item: str | bytes) -> list[Event]:
        """What an item of a stream means for the job; parts of files mean nothing yet."""
        if isinstance(item, bytes):
            task.upload.add(item)
            return []
        event: Event = json.loads(item)
        if event["kind"] == "node":
            node = Node(**{name: value for name, value in event.items() if name != "kind"})
            task.host, task.node = node.host, node.id
            self._check(node)
            return []
        if event["kind"] == "file":
            task.upload.announce(event)
            return []
        if event["kind"] == "done":
            task.upload.finish()
        task.ended = event["kind"] in ENDS
        return [event]

    def _watch(self) -> None:
        """Say that nothing runs, and give up after a while."""
        now = time.monotonic()
        if not self._tasks or any(task.host for task in self._tasks.values()):
            self._since = self._said_at = now
            return
        if now - self._said_at < SAID_EVERY:
            return
        self._said_at = now
        free, all_cpus = (
            int(found.get("CPU", 0)) for found in (self._ray.available_resources(), self._ray.cluster_resources())
        )
        waiting = (
            f"{counted(len(self._tasks), 'job')} waiting for {now - self._since:.0f} seconds: {free} of the "
            f"{counted(all_cpus, 'CPU')} of the Ray cluster are free, each job needs {self.threads} on one node"
        )
        if now - self._since > MAX_WAIT:
            raise SeqlabError(f"{waiting}. Repeat the command when the cluster is less busy; what is done is kept.")
        self.view.log(waiting)

    def stop(self) -> None:
        """Cancel all tasks; their worker processes write checkpoints."""
        for stream in self._tasks:
            self._ray.cancel(stream)
        until = time.monotonic() + STOP_TIMEOUT + 5
        while self._tasks and time.monotonic() < until:
            self._last = self.hear(0.2)
        for stream in self._tasks:
            self._ray.cancel(stream, force=True)
        self._tasks = {}

    def after_deaths(self) -> str:
        log = self.directory / LOGS
        return f"Is a machine out of memory? See '{log}' and 'ray logs', then repeat the command."


def _first_line(error: BaseException) -> str:
    """The reason without the stack of the other machine."""
    cause = getattr(error, "cause", None)
    error = cause if isinstance(cause, BaseException) else error
    text = str(error).strip()
    line = text.splitlines()[0] if text else type(error).__name__
    return ended(line)
