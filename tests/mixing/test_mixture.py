"""A language model with counts: one pass, step by step, in chunks, padded and as a prompt; and the fitted exponents."""

from typing import Any

import numpy as np
import pytest
import torch
from mixture_cases import draw_text, small_mixture
from torch.nn.functional import cross_entropy

from seqlab import build
from seqlab.baselines.kneser_ney import KneserNey
from seqlab.mixing.fit import fit_exponents
from seqlab.mixing.mixture import count_predictions, no_context

V = 11


@pytest.fixture(params=["lstm", "transformer", "feedforward"])
def model(request: pytest.FixtureRequest) -> Any:
    model: Any = build(request.param, vocab_size=V, hidden=16, seed=1).eval()
    model.mixture = small_mixture(V)
    return model


def tokens(rows: int, length: int) -> torch.Tensor:
    return torch.from_numpy(np.stack([draw_text(V, length, seed) for seed in range(rows)]))


@torch.inference_mode()
def test_the_logits_are_those_of_both_weighted(model: Any) -> None:
    tokens_BT, mixture = tokens(2, 20), model.mixture
    mixed_BTV, _ = model(tokens_BT)
    model.mixture = None
    network_BTV, _ = model(tokens_BT)
    counts = KneserNey.fit(draw_text(V, 3000), V, 4)
    for row, tokens_T in enumerate(tokens_BT.numpy()):
        every_next = [np.append(tokens_T[: t + 1], w) for t in range(len(tokens_T)) for w in range(V)]
        log_p_TV = -np.array([counts.nats(text)[-1] for text in every_next]).reshape(len(tokens_T), V)
        for t in range(len(tokens_T)):
            # the longest context that the training text has: what follows it differs from what follows a shorter one
            alpha_K, beta_K = mixture.alpha_K, mixture.beta_K
            candidates = torch.stack(
                [
                    a * network_BTV[row, t] + b * torch.from_numpy(log_p_TV[t])
                    for a, b in zip(alpha_K, beta_K, strict=True)
                ]
            )
            distances = (candidates - mixed_BTV[row, t]).abs().amax(1)
            assert distances.min() < 1e-3


@torch.inference_mode()
def test_steps_chunks_padding_and_prompts_agree(model: Any) -> None:
    tokens_BT = tokens(3, 12)
    whole_BTV, after = model(tokens_BT)
    state, stepped = model.start(3), []
    for t in range(12):
        logits_BV, state = model.step(tokens_BT[:, t], state)
        stepped.append(logits_BV)
    torch.testing.assert_close(torch.stack(stepped, 1), whole_BTV, atol=1e-4, rtol=0)
    assert torch.equal(state.contexts_BK, after.contexts_BK)
    first_BTV, middle = model(tokens_BT[:, :5])
    rest_BTV, _ = model(tokens_BT[:, 5:], middle)
    torch.testing.assert_close(torch.cat([first_BTV, rest_BTV], 1), whole_BTV, atol=1e-4, rtol=0)
    lengths_B = torch.tensor([12, 3, 1])
    mask_BT = torch.arange(12) < lengths_B[:, None]
    padded_BTV, padded = model(tokens_BT, None, mask_BT)
    prompt_BV, prompted = model.read(tokens_BT, lengths_B)
    for row, length in enumerate(lengths_B.tolist()):
        torch.testing.assert_close(padded_BTV[row, :length], whole_BTV[row, :length], atol=1e-4, rtol=0)
        torch.testing.assert_close(prompt_BV[row], whole_BTV[row, length - 1], atol=1e-4, rtol=0)
    assert torch.equal(prompted.contexts_BK, padded.contexts_BK)


def test_a_state_is_not_changed_by_a_step(model: Any) -> None:
    with torch.inference_mode():
        _, state = model(tokens(2, 6))
        before = state.contexts_BK.clone()
        first, second = (model.step(torch.tensor([1, 2]), state)[0] for _ in range(2))
    assert torch.equal(first, second) and torch.equal(state.contexts_BK, before)


def test_fitted_exponents_are_better_than_any_common_pair() -> None:
    table = small_mixture(V, order=3).table
    text = torch.from_numpy(draw_text(V, 2000, seed=5))[None]
    counts, _ = count_predictions(table, text[:, :-1], no_context(table, 1))
    targets_N, longest_N, log_p_NV = text[0, 1:], counts.longest_BT[0], counts.log_p_BTV[0]
    # a network that often knows the next token, and is too sure of it
    generator = torch.Generator().manual_seed(0)
    guesses_N = torch.where(torch.rand(len(targets_N), generator=generator) < 0.4, targets_N, text[0, :-1])
    logits_NV = 6.0 * torch.nn.functional.one_hot(guesses_N, V).float()
    alpha_K, beta_K = fit_exponents(logits_NV, log_p_NV, longest_N, targets_N, table.order)

    def nats(alpha: Any, beta: Any) -> float:
        mixed_NV = alpha * logits_NV.log_softmax(1) + beta * log_p_NV
        return float(cross_entropy(mixed_NV, targets_N))

    fitted = nats(alpha_K[longest_N, None], beta_K[longest_N, None])
    grid = [nats(alpha, beta) for alpha in np.linspace(0, 1.5, 16) for beta in np.linspace(0, 1.5, 16)]
    assert fitted < min(grid) + 1e-3
    assert fitted < min(nats(1.0, 0.0), nats(0.0, 1.0)) - 0.01
    assert bool((alpha_K >= 0).all()) and bool((beta_K >= 0).all())


def test_a_network_that_knows_nothing_gets_no_weight() -> None:
    table = small_mixture(V, order=3).table
    text = torch.from_numpy(draw_text(V, 2000, seed=6))[None]
    counts, _ = count_predictions(table, text[:, :-1], no_context(table, 1))
    noise_NV = 3 * torch.randn(1999, V, generator=torch.Generator().manual_seed(0))
    alpha_K, beta_K = fit_exponents(noise_NV, counts.log_p_BTV[0], counts.longest_BT[0], text[0, 1:], 3)
    used = torch.bincount(counts.longest_BT[0], minlength=3) > 200
    assert bool((alpha_K[used] < 0.1).all()) and bool((beta_K[used] > 0.7).all())


def test_where_a_negative_exponent_would_be_best_the_others_are_fitted_without_it() -> None:
    """The counts say the opposite of what comes."""
    generator = torch.Generator().manual_seed(0)
    good_NV = torch.randn(2000, 5, generator=generator).log_softmax(1)
    targets_N = torch.multinomial(good_NV.exp(), 1, generator=generator)[:, 0]
    sharp_NV = 0.4 * good_NV
    bad_NV = (-3 * good_NV + 0.1 * torch.randn(2000, 5, generator=generator)).log_softmax(1)
    longest_N = torch.randint(3, (2000,), generator=generator)
    alpha_K, beta_K = fit_exponents(sharp_NV, bad_NV, longest_N, targets_N, 3)
    assert (alpha_K >= 0).all() and (beta_K >= 0).all()

    def loss(alpha_N: Any, beta_N: Any) -> float:
        return float(cross_entropy(alpha_N * sharp_NV.log_softmax(1) + beta_N * bad_NV, targets_N))

    found = loss(alpha_K[longest_N, None], beta_K[longest_N, None])
    best = min(loss(alpha, beta) for alpha in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0) for beta in (0.0, 0.5, 1.0))
    assert found <= best + 1e-4
