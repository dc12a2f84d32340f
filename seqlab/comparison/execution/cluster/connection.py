"""The connection to a Ray cluster: a local one, or that of an address; tokens; what its nodes offer."""

import os
import secrets
import signal
import threading
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqlab.errors import SeqlabError, UsageError
from seqlab.threads import available_cores
from seqlab.wording import counted, ended

OBJECT_STORE = 1 << 28  # bytes; events are small, and large files spill to disk
TOKEN_FILE = Path(".ray") / "auth_token"  # in the home directory; Ray's own place for it
NO_TOKEN = (
    "without a token, everybody who reaches a Ray cluster can run programs on it. Make one with `ray get-auth-token "
    "--generate`, copy ~/.ray/auth_token to every machine of the cluster, and start Ray there with "
    "RAY_AUTH_MODE=token (docs/scale.md has the commands)."
)


def import_ray() -> Any:
    """The package ray; UsageError if it is not installed."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # read when it is imported
    try:
        import ray
    except ImportError:
        raise UsageError("--launcher ray needs the package 'ray': pip install 'seqlab[ray]'.") from None
    return ray


@contextmanager
def connected(address: str | None, safe_folder: Path) -> Iterator[Any]:
    """The package ray while it is connected. `safe_folder` is what Ray's workers may import from, besides packages."""
    if address is not None:
        check_address(address)
    _use_token(address)
    ray = import_ray()
    if ray.is_initialized():
        raise UsageError("this process is connected to Ray already: call ray.shutdown() first, or use another process.")
    options: dict[str, Any] = {"address": address or "local", "log_to_driver": False, "configure_logging": False}
    if address is None:
        options |= {"num_cpus": available_cores(), "include_dashboard": False, "object_store_memory": OBJECT_STORE}
    before = signal.getsignal(signal.SIGTERM)  # Ray sets a handler of its own
    try:
        with chdir(safe_folder):  # Ray lets its workers import from the working directory
            ray.init(**options)
    except Exception as error:  # of many kinds; a machine that is too slow raises no other
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if address is None:
            raise SeqlabError(f"Ray cannot be started on this machine: {ended(reason)}") from None
        raise SeqlabError(
            f"cannot connect to the Ray cluster at '{address}': {ended(reason)} Is it running, is this machine part of "
            f"it ('ray status'), and is the token the same?"
        ) from None
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
    try:
        yield ray
    finally:
        ray.shutdown()


def check_address(address: str) -> None:
    """UsageError for addresses of another kind."""
    host, _, port = address.rpartition(":")
    if address != "auto" and (not host or not port.isdigit() or "/" in host):
        raise UsageError(
            f"'{address}' is not an address of a Ray cluster: expected HOST:PORT as `ray start --head` prints it, such "
            f"as 192.168.0.10:6379, or auto for the cluster that this machine is part of."
        )


def _use_token(address: str | None) -> None:
    """Turn tokens on before Ray reads its environment; UsageError if there is none for a cluster."""
    if address is None:
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # for this process and those it starts
        os.environ["RAY_AUTH_MODE"] = "token"
        # if this process is killed, Ray's helpers look for it so many seconds, a minute by default
        os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", "10")
        return
    mode = os.environ.get("RAY_AUTH_MODE", "token")
    if mode != "token":
        raise UsageError(f"RAY_AUTH_MODE is '{mode}': {NO_TOKEN}")
    if not has_token():
        raise UsageError(f"there is no token for the Ray cluster at '{address}': {NO_TOKEN}")
    os.environ["RAY_AUTH_MODE"] = "token"


def has_token() -> bool:
    path = os.environ.get("RAY_AUTH_TOKEN_PATH")
    return bool(os.environ.get("RAY_AUTH_TOKEN")) or Path(path or Path.home() / TOKEN_FILE).is_file()


@dataclass(frozen=True)
class Demand:
    """What a job takes of a node."""

    threads: int
    device: str

    @property
    def gpus(self) -> int:
        return int(self.device.startswith("cuda"))

    def __str__(self) -> str:
        return f"{counted(self.threads, 'CPU')}{' and a GPU' if self.gpus else ''}"

    def fits(self, resources: dict[str, float]) -> int:
        """How many such jobs these resources of one node are enough for."""
        places = int(resources.get("CPU", 0) // self.threads)
        return min(places, int(resources.get("GPU", 0))) if self.gpus else places


def alive_nodes(ray: Any) -> list[dict[str, Any]]:
    return [node for node in ray.nodes() if node["Alive"]]


def count_places(ray: Any, demand: Demand) -> int:
    """How many jobs run at once; UsageError if there is no node for one."""
    nodes = alive_nodes(ray)
    places = sum(demand.fits(node["Resources"]) for node in nodes)
    if places == 0:
        offers = ", ".join(offer(node) for node in nodes) or "no node at all"
        raise UsageError(
            f"a run needs {demand} on one node of the Ray cluster, which has {offers}. Start a larger node, or set "
            f"train.threads or train.device."
        )
    return places


def offer(node: dict[str, Any]) -> str:
    """What a node has, in words."""
    resources = node["Resources"]
    has = f"{counted(int(resources.get('CPU', 0)), 'CPU')}, {counted(int(resources.get('GPU', 0)), 'GPU')}"
    return f"{node['NodeManagerHostname']} ({has})"
