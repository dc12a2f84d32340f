import itertools
import math
from collections.abc import Sequence

import pytest
import torch
from decode_fakes import Hashing, Numbers, TinyGru, hashing

from seqlab.contracts import AutoregressiveModel
from seqlab.decode.beam import Hypothesis, beam_search
from seqlab.decode.context import context_length
from seqlab.decode.generate import generate
from seqlab.decode.rules import DecodingRules
from seqlab.decode.sampling import SamplingSettings
from seqlab.errors import UsageError

PROMPT = [1, 2, 0]


def logprob_of(model: Hashing, prompt: Sequence[int], tokens: Sequence[int], start: int = 0) -> float:
    """The model's log-probability of a continuation, each token from its whole context anew."""
    text, total = list(prompt), 0.0
    for token in tokens:
        total += float(model.logprobs(text[-context_length(len(text), model.limit) :], start)[token])
        text.append(token)
    return total


def continuations(vocab_size: int, length: int, end: int | None) -> list[tuple[int, ...]]:
    """All that end within the length, and all of the length that have no end."""
    others = [token for token in range(vocab_size) if token != end]
    unfinished = list(itertools.product(others, repeat=length))
    if end is None:
        return unfinished
    finished = [(*body, end) for count in range(length) for body in itertools.product(others, repeat=count)]
    return finished + unfinished


@pytest.mark.parametrize("length_penalty", [0.0, 0.65, 1.0])
@pytest.mark.parametrize("end", [None, 2])
@pytest.mark.parametrize("limit", [None, 4])
@pytest.mark.parametrize("seed", range(4))
def test_a_beam_as_wide_as_the_tree_finds_the_best(
    length_penalty: float, end: int | None, limit: int | None, seed: int
):
    model = hashing(3, seed, limit=limit)
    scored = sorted(
        (
            (logprob_of(model, PROMPT, tokens) / len(tokens) ** length_penalty, tokens)
            for tokens in continuations(3, 5, end)
        ),
        reverse=True,
    )[:4]
    hypotheses = beam_search(
        model, PROMPT, 3**5, 5, length_penalty=length_penalty, n_best=4, rules=DecodingRules(end=end)
    )
    assert [tuple(hypothesis.tokens) for hypothesis in hypotheses] == [tokens for _, tokens in scored]
    assert [hypothesis.score for hypothesis in hypotheses] == pytest.approx([score for score, _ in scored], abs=1e-12)
    assert all(hypothesis.finished == (hypothesis.tokens[-1] == end) for hypothesis in hypotheses)


@pytest.mark.parametrize("end", [None, 3])
@pytest.mark.parametrize("length_penalty", [0.0, 0.65])
@pytest.mark.parametrize("seed", range(8))
def test_width_one_is_greedy(end: int | None, length_penalty: float, seed: int):
    rules = DecodingRules(end=end, banned=[0])
    models: list[AutoregressiveModel] = [
        hashing(6, seed),
        hashing(6, seed, memory=0),
        hashing(6, seed, limit=5),
        TinyGru(6).eval(),
    ]
    for model in models:
        prompt = [1, seed % 6]
        (hypothesis,) = beam_search(model, prompt, 1, 20, length_penalty=length_penalty, rules=rules)
        greedy = generate(model, [prompt], 20, SamplingSettings(temperature=0), rules=rules)
        assert hypothesis.tokens == greedy.tokens[0]
        assert hypothesis.logprob == pytest.approx(sum(greedy.logprobs[0]), abs=1e-12)
        assert hypothesis.finished == greedy.finished[0]


@pytest.mark.parametrize("limit", [None, 5])
@pytest.mark.parametrize("end", [None, 4])
def test_log_probabilities_and_scores_are_the_models_own(limit: int | None, end: int | None):
    model = hashing(7, limit=limit)
    hypotheses = beam_search(
        model, PROMPT, 4, 12, length_penalty=0.65, n_best=4, rules=DecodingRules(end=end, banned=[1])
    )
    assert len(hypotheses) == 4
    for hypothesis in hypotheses:
        assert hypothesis.logprob == pytest.approx(logprob_of(model, PROMPT, hypothesis.tokens), abs=1e-12)
        assert hypothesis.score == pytest.approx(hypothesis.logprob / len(hypothesis.tokens) ** 0.65, abs=1e-12)
        assert 1 not in hypothesis.tokens


def test_a_real_model_gives_the_log_probabilities_that_it_gives_in_one_pass():
    model = TinyGru(8).eval()
    for hypothesis in beam_search(model, PROMPT, 5, 10, n_best=5):
        text = torch.tensor([PROMPT + hypothesis.tokens])
        with torch.no_grad():
            logits = [model.read(text[:, :count], torch.tensor([count]))[0][0] for count in range(3, 13)]
        logprob = sum(row.log_softmax(0)[token] for row, token in zip(logits, hypothesis.tokens, strict=True))
        assert hypothesis.logprob == pytest.approx(float(logprob), abs=1e-12)


def test_a_wider_beam_finds_what_greedy_misses():
    # after 0: 1 is likelier than 2, but what follows 2 is certain
    table_NV = torch.log(torch.tensor([[1, 1, 1], [0.1, 0.5, 0.4], [0.4, 0.3, 0.3], [1e-9, 1e-9, 1]]))
    model = Hashing(table_NV, memory=0)
    assert beam_search(model, [0], 1, 2)[0].tokens == [1, 0]
    assert beam_search(model, [0], 2, 2)[0].tokens == [2, 2]


def test_the_prompt_is_read_once_and_hypotheses_share_one_batch():
    model = hashing(6)
    beam_search(model, PROMPT, 4, 5, n_best=2)
    assert model.reads == [[PROMPT]]
    assert [len(fed) for fed in model.steps] == [4, 4, 4, 4]


def test_ties_go_to_the_lower_parent_and_the_lower_id():
    model = Hashing(torch.zeros(5, 4), memory=0)
    assert [hypothesis.tokens for hypothesis in beam_search(model, [0], 3, 2, n_best=3)] == [[0, 0], [0, 1], [0, 2]]


@pytest.mark.parametrize("length_penalty", [0.0, 0.65])
def test_the_search_stops_once_nothing_better_can_come(length_penalty: float):
    # the end is near certain, so whatever goes on has lost
    model = Hashing(torch.log(torch.tensor([[0.98, 0.01, 0.01]] * 4)), memory=0)
    (hypothesis,) = beam_search(model, [1], 3, 50, length_penalty=length_penalty, rules=DecodingRules(end=0))
    assert hypothesis.tokens == [0]
    assert len(model.steps) == 0


def test_a_late_end_may_still_win_when_length_is_divided_out():
    # ending at once costs log 2; going on is free after the first step, and the longest wins
    table_NV = torch.log(torch.tensor([[0.5, 0.5], [0.5, 0.5], [0.001, 0.999]]))
    model = Hashing(table_NV, memory=0)
    rules = DecodingRules(end=0)
    assert beam_search(model, [0], 4, 6, length_penalty=0.0, rules=rules)[0].tokens == [0]
    # [0] scores log .5; k ones and an end score (log .5 + (k - 1) log .999 + log .001) / (k + 1)
    values = {k: (math.log(0.5) + (k - 1) * math.log(0.999) + math.log(0.001)) / (k + 1) for k in range(1, 30)}
    winner = max(values, key=lambda k: values[k])
    assert values[winner] > math.log(0.5)
    actual = beam_search(model, [0], 4, winner + 1, length_penalty=1.0, n_best=4, rules=rules)
    # what the length cuts off never paid for its end; then the latest end wins, and ending at once comes third
    expected = {(1,) * (winner + 1): (math.log(0.5) + winner * math.log(0.999)) / (winner + 1), (0,): math.log(0.5)}
    expected |= {(*[1] * k, 0): values[k] for k in range(1, winner + 1)}
    best = sorted(expected, key=lambda tokens: expected[tokens], reverse=True)[:4]
    assert best[:2] == [(1,) * (winner + 1), (*[1] * winner, 0)]
    assert [tuple(hypothesis.tokens) for hypothesis in actual] == best
    assert [hypothesis.score for hypothesis in actual] == pytest.approx([expected[tokens] for tokens in best])
    assert [hypothesis.finished for hypothesis in actual] == [tokens[-1] == 0 for tokens in best]


def test_a_cap_does_not_make_an_early_end_win():
    # the end comes once, early and unlikely: [2]; after 1 it is all but impossible
    table_NV = torch.log(torch.tensor([[1, 1, 1], [1e-6, 0.9, 0.1], [0.5, 0.5, 1e-30], [1, 1, 1]]))
    model = Hashing(table_NV, memory=0)
    single, both = (beam_search(model, [0], 2, 4, n_best=n_best, rules=DecodingRules(end=2)) for n_best in (1, 2))
    assert [(hypothesis.tokens, hypothesis.finished) for hypothesis in single] == [([1, 0, 1, 0], False)]
    assert [(hypothesis.tokens, hypothesis.finished) for hypothesis in both] == [
        ([1, 0, 1, 0], False),
        ([1, 0, 1, 1], False),  # as likely: the lower id comes first
    ]
    every = {tokens: logprob_of(model, [0], tokens) for tokens in continuations(3, 4, 2)}
    best = sorted(every.values(), reverse=True)[:2]
    assert [hypothesis.score for hypothesis in both] == pytest.approx(best)


def test_stop_finishes_a_hypothesis():
    model = hashing(5)
    rules = DecodingRules(stop=lambda row, tokens: row == 0 and len(tokens) >= 2 and tokens[-1] == tokens[-2])
    hypotheses = beam_search(model, PROMPT, 20, 6, n_best=3, rules=rules)
    assert all(hypothesis.finished and hypothesis.tokens[-1] == hypothesis.tokens[-2] for hypothesis in hypotheses)


@pytest.mark.parametrize("limit", [None, 3])
def test_the_source_is_read_by_every_hypothesis(limit: int | None):
    model = hashing(5, limit=limit)
    for hypothesis in beam_search(model, [1], 3, 8, n_best=3, source=Numbers(torch.tensor([40]))):
        assert hypothesis.logprob == pytest.approx(logprob_of(model, [1], hypothesis.tokens, 40), abs=1e-12)


def test_fewer_possible_tokens_than_the_width_are_no_problem():
    hypotheses = beam_search(hashing(4), PROMPT, 5, 1, n_best=5, rules=DecodingRules(banned=[0, 2]))
    assert sorted(hypothesis.tokens for hypothesis in hypotheses) == [[1], [3]]
    assert all(isinstance(hypothesis, Hypothesis) for hypothesis in hypotheses)


@pytest.mark.parametrize(
    "wrong",
    [{"width": 0}, {"length": 0}, {"n_best": 0}, {"n_best": 3}, {"length_penalty": -0.1}, {"length_penalty": math.nan}],
)
def test_what_makes_no_beam_is_refused(wrong: dict[str, float]):
    arguments: dict[str, float] = {"width": 2, "length": 3, **wrong}
    with pytest.raises(UsageError):
        beam_search(hashing(4), PROMPT, **arguments)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="prompt is empty"):
        beam_search(hashing(4), [], 2, 3)
