"""The rows of a process, and what is drawn for them: that of the whole batch."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seqlab.distributed.rows import batch_rows, rand_rows
from seqlab.distributed.world import World, launched
from seqlab.dropout import add_dropped, drop
from seqlab.errors import UsageError
from seqlab.threads import default_threads


@given(total=st.integers(0, 40), size=st.integers(1, 9))
def test_every_row_belongs_to_one_process(total: int, size: int) -> None:
    parts = [World(rank, size).rows(total) for rank in range(size)]
    taken = [row for part in parts for row in range(total)[part.slice]]
    assert taken == list(range(total))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    items = list(range(total))
    assert sorted(item for rank in range(size) for item in World(rank, size).part(items)) == items


@given(rows=st.integers(1, 7), size=st.integers(1, 4), dtype=st.sampled_from([torch.float32, torch.float64]))
def test_dropout_of_rows_is_that_of_the_batch(rows: int, size: int, dtype: torch.dtype) -> None:
    x_BTD = torch.randn(rows, 3, 5, generator=torch.Generator().manual_seed(rows)).to(dtype).requires_grad_()
    for function in (lambda x: drop(x, 0.4), lambda x: add_dropped(x, x, 0.4)):
        torch.manual_seed(1)
        whole = function(x_BTD)
        gradient = torch.autograd.grad(whole.square().sum(), x_BTD)[0]
        for rank in range(size):
            part = World(rank, size).rows(rows)
            if not len(part):
                continue
            torch.manual_seed(1)
            with batch_rows(part):
                own = function(x_BTD[part.slice])
            assert torch.equal(own, whole[part.slice])
            assert torch.equal(torch.autograd.grad(own.square().sum(), x_BTD)[0][part.slice], gradient[part.slice])


def test_dropout_of_rows_in_the_memory_order_of_recurrent_kernels() -> None:
    x_BTD = torch.randn(3, 6, 4).transpose(0, 1)
    torch.manual_seed(1)
    whole = drop(x_BTD, 0.5)
    for rank in range(4):
        part = World(rank, 4).rows(6)
        torch.manual_seed(1)
        with batch_rows(part):
            assert torch.equal(
                drop(x_BTD[part.slice].transpose(0, 1).contiguous().transpose(0, 1), 0.5), whole[part.slice]
            )


def test_uniform_numbers_of_rows_are_those_of_the_batch() -> None:
    torch.manual_seed(1)
    whole = torch.rand(5, 3)
    torch.manual_seed(1)
    with batch_rows(World(1, 2).rows(5)):
        assert np.array_equal(rand_rows((2, 3), torch.device("cpu")), whole[3:])


LAUNCHED = {"RANK": "1", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "x"}


def test_the_world_is_what_torchrun_says(monkeypatch: pytest.MonkeyPatch) -> None:
    assert launched() == World()
    for name, value in {**LAUNCHED, "MASTER_PORT": "1"}.items():
        monkeypatch.setenv(name, value)
    assert launched() == World(1, 4, 1, 2)
    monkeypatch.undo()
    assert launched() == World()


@pytest.mark.parametrize(
    ("name", "value"), [("RANK", "4"), ("RANK", "-1"), ("WORLD_SIZE", "many"), ("LOCAL_RANK", "2")]
)
def test_a_world_that_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    for key, given_value in {**LAUNCHED, "MASTER_PORT": "1", name: value}.items():
        monkeypatch.setenv(key, given_value)
    with pytest.raises(UsageError, match=f"{name}={value}"):
        launched()


def test_processes_divide_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.threads.available_cores", lambda: 12)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("seqlab.threads.launched", lambda: World(0, 8, 0, 4))
    for asked, threads in {None: 3, "1": 3, "2": 2}.items():  # 1 is what torchrun sets
        if asked is not None:
            monkeypatch.setenv("OMP_NUM_THREADS", asked)
        assert real_default_threads() == threads
    monkeypatch.setattr("seqlab.threads.launched", World)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert real_default_threads() == 1


real_default_threads = default_threads  # tests replace it in its module
