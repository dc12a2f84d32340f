"""Feeding texts to a model, each token once, within the context that it can hold.

A model with a limit holds a text until that is full; with the next token it reads the last half of its limit again
and grows from there. So what it holds depends on the text alone, not on where the prompt ended. Both decoders feed
through `feed`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from seqlab.contracts import AutoregressiveModel, State, TensorTree
from seqlab.decode.engine import Engine
from seqlab.errors import UsageError


def held(length: int, limit: int | None) -> int:
    """How many of its last tokens a model with this limit holds of a text of this length."""
    if limit is None or length <= limit:
        return length
    half = _half(limit)
    return half + (length - limit - 1) % (limit - half + 1)


def feed(
    model: AutoregressiveModel, texts: Sequence[Sequence[int]], state: State | None, source: Any, rows: Sequence[int]
) -> tuple[np.ndarray, State]:
    """The logits_BV after each text, whose last token is new to `state`; without a state, all of it is new.

    `rows` are the texts' rows in `source`. Texts that outgrow the limit are read again while the others take a step.
    """
    assert not (isinstance(model, nn.Module) and model.training), "put the model in eval mode before decoding"
    again: list[int] = []
    on: list[int] = []
    for i, text in enumerate(texts):
        (again if state is None or _outgrows(len(text), model.limit) else on).append(i)
    parts: list[tuple[Tensor, State]] = []
    if state is not None and on:
        tokens_B = torch.tensor([texts[i][-1] for i in on], device=state.lengths_B.device)
        parts.append(model.step(tokens_B, pick(state, on)))
    if again:
        parts.append(_read(model, [texts[i] for i in again], rows_of(source, [rows[i] for i in again])))
    logits_BV, state = parts[0] if len(parts) == 1 else _join(parts, np.argsort(on + again).tolist())
    return logits_BV.double().cpu().numpy(), state


def ready(engine: Engine, texts: Sequence[Sequence[int]], state: State | None, most: int) -> tuple[State, int]:
    """A state that has seen all but the last token of each text, with room for so many tokens as are returned.

    They are at most `most`, and none of them makes a text outgrow the limit."""
    limit = engine.limit
    again = [i for i, text in enumerate(texts) if state is None or _outgrows(len(text), limit)]
    if again:
        tails = [texts[i][-held(len(texts[i]), limit) : -1] for i in again]
        read = engine.read_in(tails)
        if state is not None and len(again) < len(texts):
            on = [i for i in range(len(texts)) if i not in again]
            read = pick(type(read).concat([pick(state, on), read]), np.argsort(on + again).tolist())
        state = read
    assert state is not None
    steps = 1
    while steps < most and not any(_outgrows(len(text) + steps, limit) for text in texts):
        steps += 1
    return engine.with_room(state, steps), steps


def pick(state: State, rows: Sequence[int]) -> State:
    """The state of the given rows; the one given where they are all of its rows in order."""
    if list(rows) == list(range(len(state.lengths_B))):
        return state
    return state.select(torch.tensor(rows, device=state.lengths_B.device))


def rows_of(source: Any, rows: Sequence[int]) -> Any:
    """The given rows of a source: None, a tensor, Leaves, or a tuple of these, batch first."""
    if source is None:
        return None
    if isinstance(source, Tensor):
        return source.index_select(0, torch.tensor(rows, device=source.device))
    if isinstance(source, TensorTree):
        return source.map(lambda leaf: rows_of(leaf, rows))
    assert isinstance(source, tuple), f"a source is a tensor, Leaves or a tuple of these, not {type(source).__name__}"
    return tuple(rows_of(item, rows) for item in source)


def checked_prompt(prompt: Sequence[int]) -> list[int]:
    """The prompt as a list; an empty one is refused, because there is nothing that a first token could follow."""
    if len(prompt) == 0:
        raise UsageError("a prompt is empty: give at least one token, such as the begin symbol or a line break.")
    return [int(token) for token in prompt]


def _read(model: AutoregressiveModel, texts: Sequence[Sequence[int]], source: Any) -> tuple[Tensor, State]:
    tails = [text[-held(len(text), model.limit) :] for text in texts]
    tokens_BT = torch.zeros(len(tails), max(map(len, tails)), dtype=torch.long)
    for tokens_T, tail in zip(tokens_BT, tails, strict=True):
        tokens_T[: len(tail)] = torch.tensor(tail)
    first = next(model.parameters(), None) if isinstance(model, nn.Module) else None
    device = torch.device("cpu") if first is None else first.device
    return model.read(tokens_BT.to(device), torch.tensor([len(tail) for tail in tails], device=device), source)


def _join(parts: Sequence[tuple[Tensor, State]], order: Sequence[int]) -> tuple[Tensor, State]:
    logits_BV = torch.cat([logits for logits, _ in parts])
    states = [state for _, state in parts]
    return rows_of(logits_BV, order), pick(type(states[0]).concat(states), order)


def _half(limit: int) -> int:
    return max(1, limit // 2)


def _outgrows(length: int, limit: int | None) -> bool:
    return limit is not None and length > limit and held(length, limit) == _half(limit)
