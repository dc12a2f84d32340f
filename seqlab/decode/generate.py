"""Sampled or greedy generation: many prompts in one batch, streamed token by token, and continued later.

`begin` makes a Generation and `stream` extends it; `generate` and `continue_from` run the two to the end. sampling.py
chooses tokens, context.py feeds them to the model. A compiled engine generates several tokens in one call.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from seqlab.contracts import AutoregressiveModel, State, TensorTree
from seqlab.decode.context import check_prompt, next_logits, prepare_block, select_rows
from seqlab.decode.engines.compiled import CompiledEngine, EngineState
from seqlab.decode.logits import log_softmax
from seqlab.decode.rules import DecodingRules
from seqlab.decode.sampling import SamplingSettings, sample
from seqlab.errors import UsageError
from seqlab.kernels.uniform import uniforms

STREAM_BLOCK, BATCH_BLOCK = 4, 64  # most tokens that an engine generates in one call, which cannot be interrupted
FAST_BLOCK = 0.05  # seconds: a block that takes less is doubled


@dataclass
class Generation:
    """The generated tokens, row by row, and everything that is needed to continue."""

    settings: SamplingSettings
    rules: DecodingRules
    source: TensorTree | None
    first_sequence: int  # number of row 0; a row's random numbers depend on its number and position
    sequences: list[list[int]]  # prompts and tokens
    tokens: list[list[int]]  # without the prompts
    logprobs: list[list[float]]  # of the model itself: temperature 1, no penalty or filter, banned tokens included
    finished: list[bool]  # by the end token or by `stop`, not by reaching the length
    seen: list[set[int]]  # the tokens of each sequence
    state: State | None = None  # of the unfinished rows, before each sequence's last token; None: not prefilled

    @property
    def unfinished(self) -> list[int]:
        return [row for row, finished in enumerate(self.finished) if not finished]


def begin(
    prompts: Sequence[Sequence[int]],
    settings: SamplingSettings | None = None,
    *,
    rules: DecodingRules | None = None,
    source: TensorTree | None = None,
    first_sequence: int = 0,
) -> Generation:
    """A Generation before its first token. Row r has the sequence number `first_sequence` + r."""
    if first_sequence < 0:
        raise UsageError(f"the first sequence number is {first_sequence}: give 0 or more.")
    sequences = [check_prompt(prompt) for prompt in prompts]
    return Generation(
        settings=settings or SamplingSettings(),
        rules=rules or DecodingRules(),
        source=source,
        first_sequence=first_sequence,
        sequences=sequences,
        tokens=[[] for _ in sequences],
        logprobs=[[] for _ in sequences],
        finished=[False for _ in sequences],
        seen=[set(sequence) for sequence in sequences],
    )


def stream(
    model: AutoregressiveModel, generation: Generation, length: int, max_block: int = STREAM_BLOCK
) -> Iterator[list[int | None]]:
    """Extend a Generation by at most `length` tokens per row; each step yields one token per row, None if finished.

    It changes the given Generation, which is valid after every step: a caller may stop early and continue later. With
    an engine the Generation may be up to `max_block` tokens further than the steps that were yielded.
    """
    if length < 0:
        raise UsageError(f"the length is {length}: give the number of tokens to generate, 0 or more.")
    done, block = 0, STREAM_BLOCK
    while done < length and generation.unfinished:
        if isinstance(model, CompiledEngine):
            began = time.perf_counter()
            steps = _decode_block(model, generation, min(length - done, block))
            if time.perf_counter() - began < FAST_BLOCK:
                block = min(2 * block, max_block)
        else:
            steps = [_decode_step(model, generation)]
        done += len(steps)
        yield from steps


def generate(
    model: AutoregressiveModel,
    prompts: Sequence[Sequence[int]],
    length: int,
    settings: SamplingSettings | None = None,
    *,
    rules: DecodingRules | None = None,
    source: TensorTree | None = None,
    first_sequence: int = 0,
) -> Generation:
    """Generate at most `length` tokens after each prompt. A row does not depend on the other rows of the batch."""
    return _run(model, begin(prompts, settings, rules=rules, source=source, first_sequence=first_sequence), length)


def continue_from(model: AutoregressiveModel, generation: Generation, length: int) -> Generation:
    """Generate at most `length` more tokens, the same as in one call. The given Generation stays unchanged."""
    return _run(model, _copy(generation), length)


def _run(model: AutoregressiveModel, generation: Generation, length: int) -> Generation:
    for _ in stream(model, generation, length, max_block=BATCH_BLOCK):
        pass
    return generation


def join(groups: Sequence[Generation]) -> Generation:
    """The rows of all groups in order. Several groups lose their states, so that continuing prefills again."""
    if len(groups) == 1:
        return groups[0]
    return replace(
        groups[0],
        sequences=[sequence for group in groups for sequence in group.sequences],
        tokens=[tokens for group in groups for tokens in group.tokens],
        logprobs=[logprobs for group in groups for logprobs in group.logprobs],
        finished=[finished for group in groups for finished in group.finished],
        seen=[seen for group in groups for seen in group.seen],
        state=None,
    )


def _copy(generation: Generation) -> Generation:
    return replace(
        generation,
        sequences=[list(sequence) for sequence in generation.sequences],
        tokens=[list(tokens) for tokens in generation.tokens],
        logprobs=[list(logprobs) for logprobs in generation.logprobs],
        finished=list(generation.finished),
        seen=[set(seen) for seen in generation.seen],
    )


@torch.inference_mode()
def _decode_step(model: AutoregressiveModel, generation: Generation) -> list[int | None]:
    """One token for each unfinished row."""
    rows = generation.unfinished
    sequences = [generation.sequences[row] for row in rows]
    logits_BV, state = next_logits(model, sequences, generation.state, generation.source, rows)
    uniforms_B = uniforms(generation.settings.seed, _sequence_numbers(generation, rows), _positions(generation, rows))
    seen = [generation.seen[row] for row in rows]
    tokens_B = sample(logits_BV, generation.settings, uniforms_B, seen, generation.rules.banned)
    logprobs_B = log_softmax(logits_BV)[np.arange(len(rows)), tokens_B]
    step = _append_tokens(generation, rows, tokens_B, logprobs_B)
    _keep_unfinished(generation, rows, state)
    return step


def _decode_block(engine: CompiledEngine, generation: Generation, max_tokens: int) -> list[list[int | None]]:
    """Up to `max_tokens` tokens for each unfinished row. Tokens after the end of a row are dropped."""
    rows = generation.unfinished
    assert generation.state is None or isinstance(generation.state, EngineState)
    state, steps = prepare_block(engine, [generation.sequences[row] for row in rows], generation.state, max_tokens)
    seen_BV = np.zeros((len(rows), engine.vocab_size), np.bool_)
    for seen_V, row in zip(seen_BV, rows, strict=True):
        seen_V[list(generation.seen[row])] = True
    tokens_BT, logprobs_BT = engine.generate_block(
        state,
        np.array([generation.sequences[row][-1] for row in rows]),
        engine.sampling_parameters(generation.settings, generation.rules.banned),
        _sequence_numbers(generation, rows),
        _positions(generation, rows),
        seen_BV,
        steps,
    )
    block = [_append_tokens(generation, rows, tokens_BT[:, t], logprobs_BT[:, t]) for t in range(steps)]
    _keep_unfinished(generation, rows, state)
    return [step for step in block if any(token is not None for token in step)]


def _append_tokens(
    generation: Generation, rows: list[int], tokens_B: np.ndarray, logprobs_B: np.ndarray
) -> list[int | None]:
    """Append one token to each of the rows that is not finished."""
    step: list[int | None] = [None] * len(generation.sequences)
    for row, token, logprob in zip(rows, tokens_B.tolist(), logprobs_B.tolist(), strict=True):
        if generation.finished[row]:
            continue
        step[row] = token
        generation.sequences[row].append(token)
        generation.tokens[row].append(token)
        generation.logprobs[row].append(logprob)
        generation.seen[row].add(token)
        generation.finished[row] = generation.rules.finishes(row, generation.tokens[row])
    return step


def _keep_unfinished(generation: Generation, rows: list[int], state: State) -> None:
    """Finished rows leave the state."""
    kept = [i for i, row in enumerate(rows) if not generation.finished[row]]
    generation.state = select_rows(state, kept) if kept else None


def _positions(generation: Generation, rows: list[int]) -> np.ndarray:
    return np.array([len(generation.tokens[row]) for row in rows])


def _sequence_numbers(generation: Generation, rows: list[int]) -> np.ndarray:
    return generation.first_sequence + np.array(rows)
