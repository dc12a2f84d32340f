"""The linear chain, against sums and maxima over all sequences of tags."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from seqlab.data.text.batches import NOT_SCORED
from seqlab.models.crf import LinearChain

sizes = st.integers(1, 3)
row_lengths = st.lists(st.integers(1, 4), min_size=1, max_size=3)
seeds = st.integers(0, 10**6)


def case(tags, lengths, seed=0, scale=1.0):
    """A chain with weights of ordinary size, and emissions with something else than numbers at padding."""
    torch.manual_seed(seed)
    chain = LinearChain(tags).double()
    with torch.no_grad():
        for parameter in chain.parameters():
            parameter.copy_(torch.randn_like(parameter) * scale)
    mask_BT = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    emissions_BTK = torch.randn(len(lengths), max(lengths), tags, dtype=torch.double) * scale
    return chain, emissions_BTK.masked_fill(~mask_BT[..., None], torch.nan), mask_BT


def sequence_score(chain: LinearChain, emissions_BTK: Tensor, tags_BT: Tensor, mask_BT: Tensor) -> Tensor:
    """The score of given tags; each kept position has one."""
    tags_BT = tags_BT.masked_fill(~mask_BT, 0)
    emitted_BT = emissions_BTK.gather(-1, tags_BT[..., None])[..., 0]
    moved_BT = chain.transitions_KK[tags_BT[:, :-1], tags_BT[:, 1:]]
    last_B1 = mask_BT.sum(1, keepdim=True) - 1
    return (
        chain.start_K[tags_BT[:, 0]]
        + emitted_BT.masked_fill(~mask_BT, 0).sum(1)
        + moved_BT.masked_fill(~mask_BT[:, 1:], 0).sum(1)
        + chain.end_K[tags_BT.gather(1, last_B1)[:, 0]]
    )


def known_tags(tags, mask_BT, hidden=0.0):
    """Random tags, NOT_SCORED at padding and at a share of the others."""
    tags_BT = torch.randint(tags, mask_BT.shape)
    return tags_BT.masked_fill(~mask_BT | (torch.rand(mask_BT.shape) < hidden), NOT_SCORED)


def recount(chain, emissions_TK, tags):
    """The score as it is defined."""
    total = chain.start_K[tags[0]] + chain.end_K[tags[-1]]
    for t, tag in enumerate(tags):
        total = total + emissions_TK[t, tag]
    for before, after in itertools.pairwise(tags):
        total = total + chain.transitions_KK[before, after]
    return total


def every(chain, emissions_TK):
    """All sequences of tags and their scores."""
    K = emissions_TK.shape[-1]
    sequences = list(itertools.product(range(K), repeat=len(emissions_TK)))
    return sequences, torch.stack([recount(chain, emissions_TK, tags) for tags in sequences])


def rows(emissions_BTK, mask_BT):
    return [emissions_TK[mask_T] for emissions_TK, mask_T in zip(emissions_BTK, mask_BT, strict=True)]


def gradients(nats_B, inputs):
    # of single words nothing rests on transitions
    return torch.autograd.grad(nats_B.sum(), inputs, allow_unused=True, materialize_grads=True)


def same(actual, expected):
    torch.testing.assert_close(actual, expected, atol=1e-10, rtol=1e-10)


@settings(max_examples=30)
@given(sizes, row_lengths, seeds)
def test_the_partition_and_scores_are_over_all_sequences(tags, lengths, seed):
    chain, emissions_BTK, mask_BT = case(tags, lengths, seed)
    tags_BT = known_tags(tags, mask_BT)
    every_row = [every(chain, row)[1] for row in rows(emissions_BTK, mask_BT)]
    partition_B = chain.log_partition(emissions_BTK, mask_BT)
    same(partition_B, torch.stack([scores.logsumexp(0) for scores in every_row]))
    tagged = zip(rows(emissions_BTK, mask_BT), tags_BT, strict=True)
    chosen = [recount(chain, emissions_TK, tags_T[: len(emissions_TK)]) for emissions_TK, tags_T in tagged]
    score_B = sequence_score(chain, emissions_BTK, tags_BT, mask_BT)
    same(score_B, torch.stack(chosen))
    same(chain.nats(emissions_BTK, tags_BT, mask_BT), partition_B - score_B)


@settings(max_examples=30)
@given(sizes, row_lengths, seeds)
def test_the_best_tags_have_the_highest_score(tags, lengths, seed):
    chain, emissions_BTK, mask_BT = case(tags, lengths, seed)
    best_BT, score_B = chain.best(emissions_BTK, mask_BT)
    assert best_BT.shape == mask_BT.shape and (best_BT[~mask_BT] == -1).all()
    for emissions_TK, best_T, score in zip(rows(emissions_BTK, mask_BT), best_BT.tolist(), score_B, strict=True):
        sequences, scores = every(chain, emissions_TK)
        same(score, scores.max())
        assert tuple(best_T[: len(emissions_TK)]) == sequences[int(scores.argmax())]


@settings(max_examples=30)
@given(sizes, row_lengths, seeds)
def test_marginals_are_sums_of_probabilities(tags, lengths, seed):
    chain, emissions_BTK, mask_BT = case(tags, lengths, seed)
    found_BTK = chain.log_marginals(emissions_BTK, mask_BT).exp()
    assert found_BTK.shape == emissions_BTK.shape
    for emissions_TK, found_TK in zip(rows(emissions_BTK, mask_BT), found_BTK, strict=True):
        sequences, scores = every(chain, emissions_TK)
        expected_TK = torch.zeros_like(emissions_TK)
        for sequence, probability in zip(sequences, scores.softmax(0), strict=True):
            expected_TK[range(len(sequence)), sequence] += probability.detach()
        same(found_TK[: len(emissions_TK)], expected_TK)


@settings(max_examples=30)
@given(sizes, row_lengths, seeds, st.sampled_from([0.0, 0.5, 1.0]))
def test_nats_and_their_gradients(tags, lengths, seed, hidden):
    """Tags that are not known may be any: of their sequences the probabilities are added."""
    chain, emissions_BTK, mask_BT = case(tags, lengths, seed)
    tags_BT = known_tags(tags, mask_BT, hidden)
    emissions_BTK.requires_grad_()
    nats_B = chain.nats(emissions_BTK, tags_BT, mask_BT)
    expected = []
    for emissions_TK, tags_T in zip(rows(emissions_BTK, mask_BT), tags_BT.tolist(), strict=True):
        sequences, scores = every(chain, emissions_TK)
        agree = [all(gold in (tag, NOT_SCORED) for tag, gold in zip(row, tags_T, strict=False)) for row in sequences]
        expected.append(scores.logsumexp(0) - scores[torch.tensor(agree)].logsumexp(0))
    same(nats_B, torch.stack(expected))

    inputs = [emissions_BTK, *chain.parameters()]
    for actual, expected_gradient in zip(
        gradients(nats_B, inputs), gradients(torch.stack(expected), inputs), strict=True
    ):
        same(actual, expected_gradient)


def test_no_known_tag_says_nothing():
    chain, emissions_BTK, mask_BT = case(3, [4, 2])
    nats_B = chain.nats(emissions_BTK, torch.full_like(mask_BT, NOT_SCORED, dtype=torch.long), mask_BT)
    same(nats_B, torch.zeros(2, dtype=torch.double))


def test_what_stands_at_padding_does_not_matter():
    chain, emissions_BTK, mask_BT = case(3, [2, 5, 1])
    tags_BT = known_tags(3, mask_BT)
    for row, length in enumerate(mask_BT.sum(1).tolist()):
        alone = emissions_BTK[row : row + 1, :length], mask_BT[row : row + 1, :length]
        same(chain.log_partition(emissions_BTK, mask_BT)[row], chain.log_partition(*alone)[0])
        same(chain.log_marginals(emissions_BTK, mask_BT)[row, :length], chain.log_marginals(*alone)[0])
        assert torch.equal(chain.best(emissions_BTK, mask_BT)[0][row, :length], chain.best(*alone)[0][0])
    for padding in (-1, 0, 2, 77):
        filled_BT = tags_BT.masked_fill(~mask_BT, padding)
        same(chain.nats(emissions_BTK, filled_BT, mask_BT), chain.nats(emissions_BTK, tags_BT, mask_BT))
        same(
            sequence_score(chain, emissions_BTK, filled_BT, mask_BT),
            sequence_score(chain, emissions_BTK, tags_BT, mask_BT),
        )


def test_large_scores_do_not_overflow():
    chain, emissions_BTK, mask_BT = case(3, [4], scale=1e4)
    _, scores = every(chain, emissions_BTK[0])
    same(chain.log_partition(emissions_BTK, mask_BT), scores.logsumexp(0)[None])
    assert chain.log_marginals(emissions_BTK, mask_BT).exp().isfinite().all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 1)])
def test_without_gradients(shape):
    chain = LinearChain(4)
    with torch.inference_mode():
        emissions_BTK, mask_BT = torch.randn(*shape, 4), torch.ones(shape, dtype=torch.bool)
        best_BT, score_B = chain.best(emissions_BTK, mask_BT)
        torch.testing.assert_close(score_B, sequence_score(chain, emissions_BTK, best_BT, mask_BT))
        torch.testing.assert_close(chain.log_marginals(emissions_BTK, mask_BT).exp().sum(-1), torch.ones(shape))
        assert (chain.nats(emissions_BTK, best_BT, mask_BT) >= 0).all()
        assert chain.log_partition(emissions_BTK, mask_BT).shape == score_B.shape == shape[:1]


def test_a_row_without_words_is_our_mistake():
    chain, emissions_BTK, mask_BT = case(2, [2, 2])
    mask_BT[1] = False
    with pytest.raises(AssertionError, match="first position"):
        chain.log_partition(emissions_BTK, mask_BT)


def test_weights_start_small_and_unlike():
    weights = {name: parameter.detach() for name, parameter in LinearChain(20).named_parameters()}
    assert {name: tuple(w.shape) for name, w in weights.items()} == {
        "transitions_KK": (20, 20),
        "start_K": (20,),
        "end_K": (20,),
    }
    for w in weights.values():
        assert 0.05 < w.abs().max() <= 0.1 and w.unique().numel() == w.numel()


def test_which_tags_follow_each_other_is_learnt():
    """Emissions say nothing of tags that take turns; whether the first is 0 is said once, at the first word."""
    torch.manual_seed(0)
    chain = LinearChain(2)
    optimizer = torch.optim.Adam(chain.parameters(), 0.1)
    tags_BT = torch.tensor([[0, 1, 0, 1, 0], [1, 0, 1, 0, 1]])
    emissions_BTK, mask_BT = torch.zeros(2, 5, 2), torch.ones(2, 5, dtype=torch.bool)
    emissions_BTK[[0, 1], 0, [0, 1]] = 1
    for _ in range(50):
        optimizer.zero_grad()
        chain.nats(emissions_BTK, tags_BT, mask_BT).sum().backward()
        optimizer.step()
    assert torch.equal(chain.best(emissions_BTK, mask_BT)[0], tags_BT)
