"""How processes find each other after torchrun has started them again.

torchrun keeps one store of keys for all attempts, and torch would read what the processes of an earlier attempt wrote
there: they wait for connections that are gone. So the processes of an attempt first agree on a name of their own.
"""

import secrets
import time
from typing import Protocol

from seqlab.distributed.world import World
from seqlab.storage import sha256

PAUSE = 0.02  # seconds between two looks


class KeyStore(Protocol):
    """What torch's stores have."""

    def set(self, key: str, value: str, /) -> None: ...
    def get(self, key: str, /) -> bytes: ...
    def check(self, keys: list[str], /) -> bool: ...


def agree_on_name(store: KeyStore, world: World, seconds: float) -> str:
    """A name that all processes of this attempt have, and no other attempt has; TimeoutError without the others.

    Each process shows a number of its own. The writer puts all numbers into one name, and says that it holds when
    every process has answered with it: a number of an earlier attempt gets no answer."""
    own, until = secrets.token_hex(8), time.monotonic() + seconds
    store.set(f"number {world.rank}", own)
    while time.monotonic() < until:
        if world.is_writer:
            numbers = [_read(store, f"number {rank}") for rank in range(world.size)]
            store.set("name", " ".join(numbers))
        name = _read(store, "name")
        if len(name.split()) == world.size and name.split()[world.rank] == own:
            store.set(f"answer {world.rank}", name)
            if world.is_writer and all(_read(store, f"answer {rank}") == name for rank in range(world.size)):
                store.set("holds", name)
            if _read(store, "holds") == name:
                return sha256(name.encode())[:16]
        time.sleep(PAUSE)
    raise TimeoutError(f"not all of {world.size} processes have come")


def _read(store: KeyStore, key: str) -> str:
    return store.get(key).decode() if store.check([key]) else "-"
