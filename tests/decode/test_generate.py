import copy
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from decode_fakes import Hashing, Numbers, TinyGru, hashing
from hypothesis import given
from hypothesis import strategies as st

from seqlab.contracts import AutoregressiveModel
from seqlab.decode.context import context_length
from seqlab.decode.generate import Generation, begin, continue_from, generate, stream
from seqlab.decode.rules import DecodingRules
from seqlab.decode.sampling import SamplingSettings, sample
from seqlab.errors import UsageError
from seqlab.kernels.uniform import uniforms

PROMPTS = [[1, 2, 3], [4], [5, 0, 1, 2, 3, 4, 5], [2, 2]]
PENALISED = SamplingSettings(temperature=0.9, top_k=5, top_p=0.9, repetition_penalty=1.3, seed=7)


def recount(
    model: Hashing, prompt: Sequence[int], length: int, settings: SamplingSettings, sequence: int, start: int = 0
) -> list[int]:
    """One row, each token from the whole context anew, without a state."""
    text = list(prompt)
    for position in range(length):
        context = text[-context_length(len(text), model.limit) :]
        logits_V = model.table_NV[model.hash_of(context, start)].numpy()
        number = uniforms(settings.seed, np.array([sequence]), np.array([position]))
        text.append(int(sample(logits_V[None], settings, number, [set(text)])[0]))
    return text[len(prompt) :]


def same(a: Generation, b: Generation) -> bool:
    """Equal in everything that was generated."""
    return (a.sequences, a.tokens, a.logprobs, a.finished) == (b.sequences, b.tokens, b.logprobs, b.finished)


def test_prompt_and_tokens_are_fed_once_each_and_the_last_token_not_yet():
    model = hashing(6)
    (tokens,) = generate(model, [[1, 2, 3]], 5).tokens
    assert model.reads == [[[1, 2, 3]]]
    assert model.steps == [[token] for token in tokens[:-1]]


@pytest.mark.parametrize("limit", [None, 1, 2, 5, 8])
def test_rows_are_what_they_would_be_alone_and_without_a_state(limit: int | None):
    model = hashing(6, limit=limit)
    rows = generate(model, PROMPTS, 30, PENALISED, first_sequence=10).tokens
    assert rows == [recount(model, prompt, 30, PENALISED, 10 + row) for row, prompt in enumerate(PROMPTS)]


@given(
    limit=st.none() | st.integers(1, 9),
    prompts=st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=12), min_size=1, max_size=4),
    cuts=st.lists(st.integers(0, 8), min_size=1, max_size=4),
    seed=st.integers(0, 99),
)
def test_resuming_is_as_good_as_not_stopping(limit: int | None, prompts: list[list[int]], cuts: list[int], seed: int):
    settings = SamplingSettings(repetition_penalty=1.2, seed=seed)
    rules = DecodingRules(end=4, banned=[0])
    whole = generate(hashing(5, limit=limit), prompts, sum(cuts), settings, rules=rules)
    model = hashing(5, limit=limit)
    parts = generate(model, prompts, cuts[0], settings, rules=rules)
    for cut in cuts[1:]:
        parts = continue_from(model, parts, cut)
    assert same(parts, whole)


def test_resuming_twice_gives_the_same_twice():
    model = hashing(6)
    start = generate(model, PROMPTS, 3, PENALISED, rules=DecodingRules(end=1))
    before = copy.deepcopy(start)
    first = continue_from(model, start, 9)
    assert sum(first.finished) > sum(start.finished), "a row ends while it is continued"
    assert same(continue_from(model, start, 9), first)
    assert same(start, before)
    assert start.seen == before.seen and start.finished == before.finished


def test_a_tiny_gru_does_the_same_in_a_batch_alone_and_in_parts():
    model = TinyGru(9).eval()
    whole = generate(model, PROMPTS, 40, PENALISED)
    assert continue_from(model, generate(model, PROMPTS, 25, PENALISED), 15).tokens == whole.tokens
    for row, prompt in enumerate(PROMPTS):
        alone = generate(model, [prompt], 40, PENALISED, first_sequence=row)
        assert alone.tokens == [whole.tokens[row]]
        assert alone.logprobs[0] == pytest.approx(whole.logprobs[row], abs=1e-12)


def test_sequence_number_and_seed_decide_the_random_numbers():
    model = hashing(6)
    same_prompt = generate(model, [[1]] * 3, 20).tokens
    assert same_prompt[0] != same_prompt[1] != same_prompt[2]
    assert generate(model, [[1]], 20, first_sequence=2).tokens == same_prompt[2:]
    assert generate(model, [[1]], 20, SamplingSettings(seed=1)).tokens != same_prompt[:1]


def test_log_probabilities_are_the_models_own():
    model = hashing(6)
    done = generate(model, PROMPTS, 12, PENALISED, rules=DecodingRules(banned=[0, 3]))
    for prompt, tokens, logprobs in zip(PROMPTS, done.tokens, done.logprobs, strict=True):
        expected = [model.logprobs([*prompt, *tokens[:i]])[token] for i, token in enumerate(tokens)]
        assert logprobs == pytest.approx(expected, abs=1e-12)
        assert not {0, 3} & set(tokens)


def test_the_end_symbol_closes_a_row_and_the_others_go_on():
    model = hashing(6)
    free = generate(model, PROMPTS, 60).tokens
    ended = generate(model, PROMPTS, 60, rules=DecodingRules(end=2))
    for long, row, finished in zip(free, ended.tokens, ended.finished, strict=True):
        assert row == (long[: long.index(2) + 1] if 2 in long else long)
        assert finished == (2 in long)
    assert len({len(row) for row in ended.tokens}) > 1
    assert all(2 not in fed for fed in model.steps[59:])


def test_stop_is_asked_after_every_token():
    calls: list[tuple[int, int]] = []

    def stop(row: int, tokens: Sequence[int]) -> bool:
        calls.append((row, len(tokens)))
        return len(tokens) == row + 2

    done = generate(hashing(6), PROMPTS[:3], 5, rules=DecodingRules(stop=stop))
    assert [len(tokens) for tokens in done.tokens] == [2, 3, 4]
    assert done.finished == [True] * 3
    assert sorted(calls) == [(row, count) for row in range(3) for count in range(1, row + 3)]


def test_a_stream_yields_each_step_and_can_be_left_and_resumed():
    model = hashing(6)
    rules = DecodingRules(end=2)
    whole = generate(model, PROMPTS, 30, rules=rules)
    growing = begin(PROMPTS, rules=rules)
    steps = list(stream(model, growing, 30))
    for row, tokens in enumerate(whole.tokens):
        assert [step[row] for step in steps] == tokens + [None] * (len(steps) - len(tokens))
    assert len(steps) == max(map(len, whole.tokens))
    left = begin(PROMPTS, rules=rules)
    for count, _ in enumerate(stream(model, left, 30), start=1):
        if count == 4:
            break
    assert same(continue_from(model, left, 26), whole)


@pytest.mark.parametrize("limit", [None, 3])
def test_each_row_reads_its_own_source(limit: int | None):
    model = hashing(6, limit=limit)
    settings = SamplingSettings()
    tokens = generate(model, [[1]] * 3, 15, settings, source=Numbers(torch.tensor([7, 70, 40]))).tokens
    assert tokens == [recount(model, [1], 15, settings, row, start) for row, start in enumerate([7, 70, 40])]


def test_rows_of_different_lengths_reach_the_limit_one_by_one():
    model = hashing(6, limit=6)
    generate(model, [[1], [1, 2, 3, 4]], 5)
    assert [len(rows) for rows in model.reads] == [2, 1]
    assert [len(row) for row in model.reads[1]] == [3]
    assert [len(fed) for fed in model.steps] == [2, 2, 1, 2]


def test_no_length_and_no_prompts_ask_nothing_of_the_model():
    model = hashing(6)
    assert generate(model, PROMPTS, 0).tokens == [[], [], [], []]
    assert generate(model, [], 5).tokens == []
    assert not model.reads
    assert same(continue_from(model, generate(model, PROMPTS, 0), 5), generate(model, PROMPTS, 5))


def test_nothing_is_kept_for_gradients():
    model = TinyGru(9).eval()
    state = generate(model, PROMPTS, 3).state
    assert state is not None
    assert not any(leaf.requires_grad for leaf in state.tensors())


def test_a_model_in_training_mode_is_our_own_mistake():
    with pytest.raises(AssertionError, match="eval"):
        generate(TinyGru(9), PROMPTS, 3)


def test_what_cannot_be_generated_is_refused():
    model: AutoregressiveModel = hashing(6)
    with pytest.raises(UsageError, match="prompt is empty"):
        generate(model, [[1], []], 3)
    with pytest.raises(UsageError, match="length is -1"):
        generate(model, [[1]], -1)
    with pytest.raises(UsageError, match="sequence number is -1"):
        generate(model, [[1]], 1, first_sequence=-1)
