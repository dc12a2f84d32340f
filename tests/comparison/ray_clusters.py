"""Ray clusters on this machine, each in a process of its own, and commands that use them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# nodes as requested; then it obeys: "hold" takes a CPU, "remove" ends the last node
PROGRAM = """
import os, sys, time
import ray
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
nodes = [cluster.add_node(num_cpus=int(cpus)) for cpus in sys.argv[1:]]
print(cluster.address, flush=True)
for line in sys.stdin:
    if line.strip() == "remove":
        cluster.remove_node(nodes.pop(), allow_graceful=False)
    if line.strip() == "hold":
        ray.init(address=cluster.address, log_to_driver=False)
        @ray.remote(num_cpus=1)
        def hold():
            time.sleep(600)
        held = hold.remote()
        while ray.available_resources().get("CPU", 0) >= 1:
            time.sleep(0.1)
    print("obeyed", flush=True)
"""
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0123456789abcdef" * 4}
COMPARE = [
    *("compare", "my.txt", "--launcher", "ray", "--out", "c", "--archs", "rnn", "--seeds", "2", "--match", "none"),
    *("--budget", "steps=40", "--tune", "0", "--window", "16", "--batch-size", "4", "--embedding", "8"),
    *("--set", "train.sample_tokens=0", "--set", "train.threads=1", "--set", "backbone.hidden=8"),
]


@dataclass(frozen=True)
class Cluster:
    address: str
    process: subprocess.Popen[str]

    def tell(self, word: str) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(word, file=self.process.stdin, flush=True)
        while (line := self.process.stdout.readline()) and line != "obeyed\n":
            pass


@contextmanager
def cluster(*cpus: int, authentication: dict[str, str] = TOKEN) -> Iterator[Cluster]:
    """A head without CPUs, and a node with each number of CPUs."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, cpus)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0", **authentication},
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    try:
        address = next(line for line in process.stdout if line[:1].isdigit()).strip()
        yield Cluster(address, process)
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()


def start_command(folder: Path, *words: str, first: str = "", **environment: str) -> subprocess.Popen[str]:
    """A command of seqlab, after the lines `first`."""
    program = f"{first}\nfrom seqlab.comparison import report\nreport.write_figures = lambda *_: None\n"
    program += "from seqlab.__main__ import main\nmain()"
    return subprocess.Popen(
        [sys.executable, "-c", program, *words], cwd=folder, env={**os.environ, **environment},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def outcome(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit code, and what was printed."""
    printed, _ = process.communicate(timeout=300)
    assert "Traceback" not in printed, printed
    return process.returncode, printed
