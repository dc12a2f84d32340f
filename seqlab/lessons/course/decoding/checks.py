"""Checks of the exercises on decoding."""

import math
from itertools import product
from random import Random
from types import ModuleType

import torch


def check_with_temperature(answer: ModuleType) -> None:
    """Softmax with a temperature"""
    for logits, temperature in (([1.0, 2.0, 0.5], 1.0), ([1.0, 2.0, 0.5], 0.3), ([1000.0, 999.0, -1000.0], 2.0)):
        got = list(answer.with_temperature(logits, temperature))
        expected = (torch.tensor(logits, dtype=torch.float64) / temperature).softmax(-1).tolist()
        assert all(abs(a - b) < 1e-9 for a, b in zip(got, expected, strict=True)), (
            f"with_temperature({logits}, {temperature}) is {got!r}; expected {expected}: divide the logits, then take "
            "the softmax; subtract the largest first."
        )
    got = list(answer.with_temperature([1.0, 3.0, 2.0], 0))
    assert got == [0, 1, 0], f"at temperature 0, [1, 3, 2] gives {got!r}; expected all weight on the largest logit."


def check_nucleus(answer: ModuleType) -> None:
    """Top-p"""
    for probabilities, p, expected in (
        ([0.1, 0.5, 0.4], 0.5, {1}),
        ([0.1, 0.5, 0.4], 0.6, {1, 2}),
        ([0.25, 0.25, 0.5], 1.0, {0, 1, 2}),
        ([0.05, 0.05, 0.9], 0.1, {2}),
    ):
        got = set(answer.nucleus(probabilities, p))
        assert got == expected, (
            f"nucleus({probabilities}, {p}) is {got!r}; expected {expected}: take the likeliest first and stop as "
            "soon as the sum reaches p."
        )


def check_beam_search(answer: ModuleType) -> None:
    """Beam search that feeds every token once"""
    random = Random(4)
    for _ in range(20):
        table = {
            pair: [math.log(weight / 10) for weight in random.choice([(1, 2, 7), (3, 3, 4), (6, 3, 1), (5, 4, 1)])]
            for pair in product(range(3), repeat=2)
        }

        def step(token: int, state: tuple[int, ...], table: dict = table) -> tuple[list[float], tuple[int, ...]]:
            seen = (*state, token)
            return table[seen[-2:]], seen

        def log_p(tokens: tuple[int, ...], table: dict = table) -> float:
            seen = (0, 1, *tokens)
            return sum(table[seen[at : at + 2]][token] for at, token in enumerate(tokens))

        best = max(product(range(3), repeat=4), key=log_p)
        got = tuple(answer.beam_search(step, (0,), 1, 81, 4))
        assert len(got) == 4, f"beam_search returned {len(got)} tokens; expected 4, without the token that was given."
        assert log_p(got) > log_p(best) - 1e-9, (
            f"with a beam as wide as all sequences, beam_search finds {got!r} with log p {log_p(got):.3f}; the best is "
            f"{best} with {log_p(best):.3f}. Is `last` fed exactly once?"
        )
        greedy: list[int] = []
        for _ in range(4):
            seen = (0, 1, *greedy)
            greedy.append(max(range(3), key=table[seen[-2:]].__getitem__))
        got = tuple(answer.beam_search(step, (0,), 1, 1, 4))
        assert abs(log_p(got) - log_p(tuple(greedy))) < 1e-9, f"width 1 is greedy: expected {greedy}, not {got!r}."
