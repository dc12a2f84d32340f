"""Sampled or greedy text: many prompts in one batch, streamed token by token, and continued later.

`begin` makes a Generation, `stream` lets it grow; `generate` and `resume` are these two run to the end. How a token
is chosen stands in sampling.py, how tokens reach the model in context.py. An engine grows by several tokens at a time.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from seqlab.contracts import AutoregressiveModel, State
from seqlab.decode.context import checked_prompt, feed, pick, ready
from seqlab.decode.engine import Engine
from seqlab.decode.logits import log_softmax
from seqlab.decode.rules import Rules
from seqlab.decode.sampling import SamplingSettings, choose
from seqlab.decode.uniform import uniforms
from seqlab.errors import UsageError

FEW, MANY = 4, 64  # tokens that an engine writes in one call: for a listener, and for one who waits for all
PATIENCE = 0.05  # seconds that a call may take before it is asked for more at once: nothing stops it half-way


@dataclass
class Generation:
    """What was generated, row by row, and all that is needed to go on."""

    settings: SamplingSettings
    rules: Rules
    source: Any
    sequences: int  # number of the first row; a row's number and its positions decide its random numbers
    texts: list[list[int]]  # prompts and tokens
    tokens: list[list[int]]  # without the prompts
    logprobs: list[list[float]]  # under the model itself: temperature 1, no penalty or filter, banned tokens included
    finished: list[bool]  # by the end symbol or by `stop`, as opposed to cut off at the length
    seen: list[set[int]]  # the tokens of each text
    state: State | None = None  # of the unfinished rows, having seen all but each text's last token; None: unread

    @property
    def live(self) -> list[int]:
        """The rows that are not finished."""
        return [row for row, finished in enumerate(self.finished) if not finished]


def begin(
    prompts: Sequence[Sequence[int]],
    settings: SamplingSettings | None = None,
    *,
    rules: Rules | None = None,
    source: Any = None,
    sequences: int = 0,
) -> Generation:
    """A Generation before its first token. Row r has the sequence number `sequences` + r."""
    if sequences < 0:
        raise UsageError(f"the first sequence number is {sequences}: give 0 or more.")
    texts = [checked_prompt(prompt) for prompt in prompts]
    return Generation(
        settings=settings or SamplingSettings(),
        rules=rules or Rules(),
        source=source,
        sequences=sequences,
        texts=texts,
        tokens=[[] for _ in texts],
        logprobs=[[] for _ in texts],
        finished=[False for _ in texts],
        seen=[set(text) for text in texts],
    )


def stream(
    model: AutoregressiveModel, generation: Generation, length: int, ahead: int = FEW
) -> Iterator[list[int | None]]:
    """Let a Generation grow by at most `length` tokens a row, yielding each row's new token, None where finished.

    The Generation given is changed, and is complete after every step: whoever stops listening can resume it. With an
    engine it may have come up to `ahead` tokens further than what was yielded.
    """
    if length < 0:
        raise UsageError(f"the length is {length}: give the number of tokens to generate, 0 or more.")
    done, at_once = 0, FEW
    while done < length and generation.live:
        if isinstance(model, Engine):
            began = time.perf_counter()
            steps = _run(model, generation, min(length - done, at_once))
            if time.perf_counter() - began < PATIENCE:
                at_once = min(2 * at_once, ahead)
        else:
            steps = [_grow(model, generation)]
        done += len(steps)
        yield from steps


def generate(
    model: AutoregressiveModel,
    prompts: Sequence[Sequence[int]],
    length: int,
    settings: SamplingSettings | None = None,
    *,
    rules: Rules | None = None,
    source: Any = None,
    sequences: int = 0,
) -> Generation:
    """At most `length` tokens after each prompt. What a row gets does not depend on the rows beside it."""
    return _exhaust(model, begin(prompts, settings, rules=rules, source=source, sequences=sequences), length)


def resume(model: AutoregressiveModel, generation: Generation, length: int) -> Generation:
    """At most `length` tokens more, the same as if they had been asked for at once. The one given stays as it is."""
    return _exhaust(model, _copy(generation), length)


def _exhaust(model: AutoregressiveModel, generation: Generation, length: int) -> Generation:
    for _ in stream(model, generation, length, ahead=MANY):
        pass
    return generation


def _copy(generation: Generation) -> Generation:
    return replace(
        generation,
        texts=[list(text) for text in generation.texts],
        tokens=[list(tokens) for tokens in generation.tokens],
        logprobs=[list(logprobs) for logprobs in generation.logprobs],
        finished=list(generation.finished),
        seen=[set(seen) for seen in generation.seen],
    )


@torch.inference_mode()
def _grow(model: AutoregressiveModel, generation: Generation) -> list[int | None]:
    """One token for each unfinished row; rows that it finishes leave the state."""
    live = generation.live
    logits_BV, state = feed(model, [generation.texts[row] for row in live], generation.state, generation.source, live)
    chosen_B = choose(
        logits_BV,
        generation.settings,
        _random(generation, live),
        [generation.seen[row] for row in live],
        generation.rules.banned,
    )
    logprobs_B = log_softmax(logits_BV)[np.arange(len(live)), chosen_B]
    step = _record(generation, live, chosen_B, logprobs_B)
    _go_on_with(generation, live, state)
    return step


def _run(engine: Engine, generation: Generation, most: int) -> list[list[int | None]]:
    """Up to `most` tokens for each unfinished row. What a row writes after its end is thrown away."""
    live = generation.live
    state, steps = ready(engine, [generation.texts[row] for row in live], generation.state, most)
    seen_BV = np.zeros((len(live), engine.vocab_size), np.bool_)
    for seen_V, row in zip(seen_BV, live, strict=True):
        seen_V[list(generation.seen[row])] = True
    tokens_BT, logprobs_BT = engine.run(
        state,
        np.array([generation.texts[row][-1] for row in live]),
        engine.sampling(generation.settings, generation.rules.banned),
        generation.sequences + np.array(live),
        _positions(generation, live),
        seen_BV,
        steps,
    )
    grown = [_record(generation, live, tokens_BT[:, t], logprobs_BT[:, t]) for t in range(steps)]
    _go_on_with(generation, live, state)
    return [step for step in grown if any(token is not None for token in step)]


def _record(generation: Generation, live: list[int], tokens_B: np.ndarray, logprobs_B: np.ndarray) -> list[int | None]:
    """One token more for those of the rows that are not over yet."""
    step: list[int | None] = [None] * len(generation.texts)
    for row, token, logprob in zip(live, tokens_B.tolist(), logprobs_B.tolist(), strict=True):
        if generation.finished[row]:
            continue
        step[row] = token
        generation.texts[row].append(token)
        generation.tokens[row].append(token)
        generation.logprobs[row].append(logprob)
        generation.seen[row].add(token)
        generation.finished[row] = generation.rules.over(row, generation.tokens[row])
    return step


def _go_on_with(generation: Generation, live: list[int], state: State) -> None:
    going = [i for i, row in enumerate(live) if not generation.finished[row]]
    generation.state = pick(state, going) if going else None


def _positions(generation: Generation, rows: list[int]) -> np.ndarray:
    return np.array([len(generation.tokens[row]) for row in rows])


def _random(generation: Generation, rows: list[int]) -> np.ndarray:
    return uniforms(generation.settings.seed, generation.sequences + np.array(rows), _positions(generation, rows))
