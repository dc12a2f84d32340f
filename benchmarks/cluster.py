"""A comparison's runs on a Ray cluster of four nodes, simulated on this machine: is a node idle while runs wait?

Run `python -m benchmarks.cluster` (with the extra `ray`). Every node has one CPU; runs are small and differ in length.
A node is used from the first event of a run on it to the last; its share counts until the last run is handed out,
because after that there is nothing left to do for a node that is free, and until the end beside it. The four nodes
share the cores of this machine, so that the seconds say nothing about four machines; the shares do.
"""

import os
import secrets
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from seqlab.comparison.execution.cluster.connection import import_ray
from seqlab.comparison.execution.cluster.launcher import RayLauncher, RayTask
from seqlab.comparison.execution.jobs import Job
from seqlab.comparison.execution.process import ENDS, Event
from seqlab.comparison.execution.progress import ProgressView
from seqlab.config import build_settings
from seqlab.threads import available_cores

NODES, RUNS = 4, 60
STEPS = (40, 80, 160)  # of every third run


def jobs() -> list[Job]:
    def job(number: int) -> Job:
        steps = STEPS[number % len(STEPS)]
        train = {"steps": steps, "threads": 1, "evaluate_every": steps, "sample_tokens": 0, "seed": number}
        tables = {
            "corpus": {"source": ["toy-words"]},
            "backbone": {"name": "gru", "hidden": 32},
            "task": {"window": 32, "batch_size": 16},
            "train": train,
        }
        return Job(f"runs/gru-{number}", build_settings(tables, []).resolved(), "validation", float(steps))

    return [job(number) for number in range(RUNS)]


class WatchedLauncher(RayLauncher):
    """Notes when every run begins and ends, and in which process: each node has one."""

    spans: dict[str, list[tuple[float, float]]]

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.spans, self._began = defaultdict(list), dict[str, float]()

    def _event(self, task: RayTask, item: str | bytes) -> list[Event]:
        events = super()._event(task, item)
        if task.node not in ("", None):
            self._began.setdefault(task.job.place, time.perf_counter())
        if any(event["kind"] in ENDS for event in events):
            self.spans[task.node].append((self._began[task.job.place], time.perf_counter()))
        return events


def used(spans: list[tuple[float, float]], first: float, last: float) -> float:
    """The share of the time in which something ran."""
    return sum(max(0.0, min(end, last) - max(begin, first)) for begin, end in spans) / (last - first)


def main() -> None:
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    import_ray()
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(NODES):
        cluster.add_node(num_cpus=1)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "comparison"
        (folder / "locks").mkdir(parents=True)
        with WatchedLauncher(folder, cluster.address, ProgressView()) as launcher:
            launcher.run(jobs(), "runs")
    cluster.shutdown()
    spans = launcher.spans
    everything = [span for of_node in spans.values() for span in of_node]
    first, end = min(begin for begin, _ in everything), max(end for _, end in everything)
    handed_out = max(begin for begin, _ in everything)
    sizes = f"{RUNS} runs of {min(STEPS)} to {max(STEPS)} steps"
    print(f"{sizes} on {NODES} nodes, {available_cores()} cores: {end - first:.0f} s")
    for name, of_node in sorted(spans.items()):
        shares = (
            f"{used(of_node, first, handed_out):6.1%} until the last run began, {used(of_node, first, end):6.1%} in all"
        )
        print(f"node {name[:8]}: {len(of_node):3} runs, used {shares}")


if __name__ == "__main__":
    main()
