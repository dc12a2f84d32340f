"""torchrun on two hosts: network namespaces with hostnames and addresses of their own, as two machines have."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.distributed.launching import ROOT, ended
from tests.distributed.run_differences import apart

HOSTS = {"seqlab-first": "10.99.77.1", "seqlab-second": "10.99.77.2"}
TEXT = "".join(f"the {noun} sat by the {place}.\n" for noun in ("cat", "dog", "hen") for place in ("mat", "sea")) * 40
SMALL = ["--hidden", "16", "--window", "16", "--batch-size", "5", "--steps", "30", "--set", "train.threads=1"]


def can_make_hosts() -> bool:
    return os.geteuid() == 0 and all(map(shutil.which, ("ip", "unshare")))


pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not can_make_hosts(), reason="only root can make network namespaces, with 'ip' and 'unshare'"),
]


@pytest.fixture
def hosts() -> Iterator[list[str]]:
    """Two hosts with a cable between them; each finds the other by its name."""
    first, second = HOSTS
    names = "127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in HOSTS.items())
    try:
        for name in HOSTS:
            Path("/etc/netns", name).mkdir(parents=True)
            Path("/etc/netns", name, "hosts").write_text(names, encoding="utf-8")
            ip("netns", "add", name)
        ip("link", "add", "cable0", "netns", first, "type", "veth", "peer", "name", "cable0", "netns", second)
        for name, address in HOSTS.items():
            ip("-n", name, "addr", "add", f"{address}/30", "dev", "cable0")
            for device in ("lo", "cable0"):
                ip("-n", name, "link", "set", device, "up")
        yield list(HOSTS)
    finally:
        for name in HOSTS:
            with suppress(subprocess.CalledProcessError):
                ip("netns", "delete", name)
            shutil.rmtree(Path("/etc/netns", name), ignore_errors=True)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def start(host: str, folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start a program on a host, which has this name."""
    named = ["ip", "netns", "exec", host, "unshare", "--uts", "sh", "-c", f'hostname {host}; exec "$@"', "sh"]
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    return subprocess.Popen(
        [*named, sys.executable, "-P", *words],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_two_hosts_train_what_one_process_trains(hosts: list[str], tmp_path: Path) -> None:
    (tmp_path / "my.txt").write_text(TEXT, encoding="utf-8")
    meeting = ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"{hosts[0]}:29500", "--rdzv-id", "july"]
    agent = ["-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1", *meeting]
    command = ["-m", "seqlab", "train", "my.txt", *SMALL]
    processes = [start(host, tmp_path, *agent, *command, "--out", "two") for host in hosts]
    results = [ended(process) for process in processes]
    assert [code for code, _, _ in results] == [0, 0], results
    assert sorted(out.count("What to type next:") for _, out, _ in results) == [0, 1]  # one of them writes
    code, _, err = ended(start(hosts[0], tmp_path, *command, "--out", "one"))
    assert code == 0, err
    losses, weights = apart(tmp_path / "one", tmp_path / "two")
    assert losses < 1e-4 and weights < 1e-3
