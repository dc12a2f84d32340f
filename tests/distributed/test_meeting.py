"""Processes of one attempt agree on a name, whatever earlier attempts have left in the store."""

from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import pytest

from seqlab.distributed.meeting import agree_on_name
from seqlab.distributed.world import World


class Store:
    """As torch's, in memory."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.lock = Lock()

    def set(self, key: str, value: str, /) -> None:
        with self.lock:
            self.values[key] = value.encode()

    def get(self, key: str, /) -> bytes:
        return self.values[key]

    def check(self, keys: list[str], /) -> bool:
        return all(key in self.values for key in keys)


def names(store: Store, ranks: list[int], size: int, seconds: float) -> list[str]:
    with ThreadPoolExecutor(size) as threads:
        return list(threads.map(lambda rank: agree_on_name(store, World(rank, size), seconds), ranks))


def test_all_have_the_same_name_and_every_attempt_another() -> None:
    store = Store()
    attempts = [names(store, [2, 0, 1], 3, 20) for _ in range(3)]
    assert all(len({*attempt}) == 1 for attempt in attempts)
    assert len({attempt[0] for attempt in attempts}) == 3


@pytest.mark.parametrize("came", [[0], [1], [0, 2]])
def test_an_attempt_that_not_all_came_to_leaves_no_trace(came: list[int]) -> None:
    store = Store()
    names(store, [0, 1, 2], 3, 20)
    with pytest.raises(TimeoutError):
        names(store, came, 3, 0.2)
    assert len({*names(store, [0, 1, 2], 3, 20)}) == 1
