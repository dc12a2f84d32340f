"""Feeds tokens to a model, each of them once, within the longest context that it can hold.

When a model's context is full, it re-reads the last half of it and grows from there (context overflow). So the context
after a text depends on the text alone, not on where the prompt ended. All decoders feed a model through this module.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from seqlab.contracts import AutoregressiveModel, State, TensorTree
from seqlab.decode.engines.compiled import CompiledEngine, EngineState
from seqlab.errors import UsageError

S = TypeVar("S", bound=State)


def context_length(length: int, limit: int | None) -> int:
    """How many of the last tokens of a text of this length a model with this limit has in its context."""
    if limit is None or length <= limit:
        return length
    half = _half(limit)
    return half + (length - limit - 1) % (limit - half + 1)


def next_logits(
    model: AutoregressiveModel,
    sequences: Sequence[Sequence[int]],
    state: State | None,
    source: TensorTree | None,
    rows: Sequence[int],
) -> tuple[np.ndarray, State]:
    """The logits_BV after each text. `state` has seen all but the last token of each; without one, prefill.

    `rows` are their rows in `source`. Sequences that overflow the context are prefilled again, the others take a step.
    """
    assert not (isinstance(model, nn.Module) and model.training), "put the model in eval mode before decoding"
    prefilled: list[int] = []
    stepped: list[int] = []
    for i, sequence in enumerate(sequences):
        (prefilled if state is None or _overflows(len(sequence), model.limit) else stepped).append(i)
    outputs: list[tuple[Tensor, State]] = []
    if state is not None and stepped:
        tokens_B = torch.tensor([sequences[i][-1] for i in stepped], device=state.lengths_B.device)
        outputs.append(model.step(tokens_B, select_rows(state, stepped)))
    if prefilled:
        chosen = [rows[i] for i in prefilled]
        source = None if source is None else source.map(lambda leaf: leaf[chosen])
        outputs.append(_prefill(model, [sequences[i] for i in prefilled], source))
    logits_BV, state = outputs[0] if len(outputs) == 1 else _merge(outputs, np.argsort(stepped + prefilled).tolist())
    return logits_BV.double().cpu().numpy(), state


def prepare_block(
    engine: CompiledEngine, sequences: Sequence[Sequence[int]], state: EngineState | None, max_tokens: int
) -> tuple[EngineState, int]:
    """A state that has seen all but the last token of each text, and how many tokens may follow in one block.

    There are at most `max_tokens`, and none of them makes a text overflow its context."""
    limit = engine.limit
    prefilled = [i for i, sequence in enumerate(sequences) if state is None or _overflows(len(sequence), limit)]
    if prefilled:
        for i in prefilled:
            engine.checked_tokens(np.array(sequences[i][-1:]))  # the others by `prefill`
        fresh = engine.prefill([sequences[i][-context_length(len(sequences[i]), limit) : -1] for i in prefilled])
        if state is not None and len(prefilled) < len(sequences):
            kept = [i for i in range(len(sequences)) if i not in prefilled]
            joined = EngineState.concat([select_rows(state, kept), fresh])
            fresh = select_rows(joined, np.argsort(kept + prefilled).tolist())
        state = fresh
    assert state is not None
    steps = 1
    while steps < max_tokens and not any(_overflows(len(sequence) + steps, limit) for sequence in sequences):
        steps += 1
    return engine.with_capacity(state, steps), steps


def select_rows(state: S, rows: Sequence[int]) -> S:
    """The state of the given rows; the same object if they are all rows in order."""
    if list(rows) == list(range(len(state.lengths_B))):
        return state
    return state.select(torch.tensor(rows, device=state.lengths_B.device))


def check_prompt(prompt: Sequence[int]) -> list[int]:
    """The prompt as a list. An empty one is refused: a model predicts only after at least one token."""
    if len(prompt) == 0:
        raise UsageError("a prompt is empty: give at least one token, such as the begin token or a line break.")
    return [int(token) for token in prompt]


def _prefill(
    model: AutoregressiveModel, sequences: Sequence[Sequence[int]], source: TensorTree | None
) -> tuple[Tensor, State]:
    contexts = [sequence[-context_length(len(sequence), model.limit) :] for sequence in sequences]
    tokens_BT = torch.zeros(len(contexts), max(map(len, contexts)), dtype=torch.long)
    for tokens_T, context in zip(tokens_BT, contexts, strict=True):
        tokens_T[: len(context)] = torch.tensor(context)
    weight = next(model.parameters(), None) if isinstance(model, nn.Module) else None
    device = torch.device("cpu") if weight is None else weight.device
    lengths_B = torch.tensor([len(context) for context in contexts], device=device)
    return model.read(tokens_BT.to(device), lengths_B, source)


def _merge(outputs: Sequence[tuple[Tensor, State]], order: list[int]) -> tuple[Tensor, State]:
    logits, states = zip(*outputs, strict=True)
    return torch.cat(logits)[order], select_rows(State.concat(states), order)


def _half(limit: int) -> int:
    return max(1, limit // 2)


def _overflows(length: int, limit: int | None) -> bool:
    return limit is not None and length > limit and context_length(length, limit) == _half(limit)
