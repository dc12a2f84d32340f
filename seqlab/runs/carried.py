"""The state that training carries from batch to batch, of which each process has its own rows."""

from pathlib import Path

import torch

from seqlab.contracts import State
from seqlab.distributed.group import gather_bytes
from seqlab.distributed.world import joined
from seqlab.runs import tensors


def gather_state(state: State | None) -> State | None:
    """The state with the rows of all processes, on those that have one; a process without rows has none."""
    if joined().size == 1:
        return state
    named = {} if state is None else {str(at): leaf for at, leaf in enumerate(state.tensors())}
    gathered = gather_bytes(tensors.to_bytes(named) if named else b"")
    if state is None:
        return None
    expected = {name: leaf[:0] for name, leaf in named.items()}  # any number of rows
    parts = [tensors.from_bytes(content, Path("the carried state"), expected) for content in gathered if content]
    joint = iter([torch.cat([part[name] for part in parts]) for name in named])
    return state.map(lambda leaf: next(joint).to(leaf.device))
