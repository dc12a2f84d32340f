"""The processes that compute together, as torchrun starts them. Nothing here needs torch."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from platform import node
from typing import TypeVar

from seqlab.errors import UsageError

T = TypeVar("T")
# what torchrun sets, and what the last two are where another launcher leaves them out
VARIABLES = {"rank": "RANK", "size": "WORLD_SIZE", "local_rank": "LOCAL_RANK", "local_size": "LOCAL_WORLD_SIZE"}
DEFAULTS = {"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"}


@dataclass(frozen=True)
class RowSpan:
    """The rows from `first` up to `last` of a batch of `total` rows."""

    first: int
    last: int
    total: int

    def __len__(self) -> int:
        return self.last - self.first

    @property
    def slice(self) -> slice:
        return slice(self.first, self.last)


@dataclass(frozen=True)
class World:
    """All processes, and the place of this one among them; `local`: among those on this machine."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1

    @property
    def is_writer(self) -> bool:
        """Whether this process writes files, logs and results: one does."""
        return self.rank == 0

    def rows(self, total: int) -> RowSpan:
        """The rows of a batch that this process takes: a contiguous part, at most one row more than others take."""
        share, more = divmod(total, self.size)
        first = self.rank * share + min(self.rank, more)
        return RowSpan(first, first + share + (self.rank < more), total)

    def part(self, items: Sequence[T]) -> Sequence[T]:
        """Every n-th item, beginning with this process's own: neighbors take about the same time."""
        return items[self.rank :: self.size]


ALONE = World()
_joined = ALONE


def launched() -> World:
    """The processes that torchrun has started, by its environment variables; one without it."""
    if not {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"} <= os.environ.keys():
        return ALONE
    values = {field: os.environ.get(name, DEFAULTS.get(name, "")) for field, name in VARIABLES.items()}
    if all(value.isascii() and value.isdigit() for value in values.values()):
        world = World(**{field: int(value) for field, value in values.items()})
        if world.rank < world.size and world.local_rank < world.local_size <= world.size:
            return world
    said = ", ".join(f"{VARIABLES[field]}={value}" for field, value in values.items())
    raise UsageError(f"the environment says {said}, which is no process of several: start seqlab with torchrun.")


def joined() -> World:
    """The processes that share the work that is going on; this one alone unless `share_work` is entered."""
    return _joined


@contextmanager
def working_as(world: World) -> Iterator[World]:
    """While entered, `joined` is this world. `ALONE`: the others do not take part."""
    global _joined
    before, _joined = _joined, world
    try:
        yield world
    finally:
        _joined = before


SHARED = ("train", "resume", "evaluate", "embed", "compare")  # commands whose work several processes share


def refuse_several(command: str) -> None:
    """UsageError for a command that several processes would do several times."""
    if launched().size == 1:
        return
    raise UsageError(
        f"seqlab {command} computes in one process: start it without torchrun. Several processes share the work of "
        f"{', '.join(SHARED[:-1])} and {SHARED[-1]}."
    )


def environment_alone() -> dict[str, str]:
    """The environment of a further process that belongs to none of several."""
    launch = {*VARIABLES.values(), "MASTER_ADDR", "MASTER_PORT", "GROUP_RANK", "ROLE_RANK"}
    return {
        name: value for name, value in os.environ.items() if name not in launch and not name.startswith("TORCHELASTIC_")
    }


def restarts() -> int:
    """How often torchrun has started this process again after one of them failed."""
    given = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    return int(given) if given.isdigit() else 0


def may_restart() -> bool:
    """Whether torchrun will start the processes again if one fails."""
    return os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0").strip() not in ("", "0")


def launch_name() -> str | None:
    """What a restarted process has in common with the one before it: the launch; None without torchrun."""
    name = os.environ.get("TORCHELASTIC_RUN_ID")
    # without a rendezvous all launches are called "none": then it is the agent, which is the parent
    return f"{node()} {os.getppid()}" if name == "none" else name
