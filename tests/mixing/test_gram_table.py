"""The table of grams against Kneser-Ney's own formulas; its distributions add up to one, pruned or not."""

from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from mixture_cases import draw_text

from seqlab.baselines.kneser_ney import KneserNey
from seqlab.errors import DataError
from seqlab.mixing.gram_table import GramTable
from seqlab.mixing.mixture import count_predictions, no_context

SYMBOLS = 5
documents = st.lists(st.lists(st.integers(0, SYMBOLS - 1), min_size=2, max_size=25), min_size=1, max_size=4)


def log_probabilities(table: GramTable, tokens_N: np.ndarray) -> np.ndarray:
    """ln p of every token after each token."""
    counts, _ = count_predictions(table, torch.from_numpy(tokens_N)[None], no_context(table, 1))
    return counts.log_p_BTV[0].double().numpy()


@settings(max_examples=60)
@given(documents, st.integers(1, 5), st.lists(st.integers(0, SYMBOLS - 1), min_size=2, max_size=30))
def test_the_table_gives_the_probabilities_of_kneser_ney(docs: list[list[int]], order: int, text: list[int]) -> None:
    starts_D = np.cumsum([0, *map(len, docs[:-1])])
    counts = KneserNey.fit(np.concatenate([np.array(doc) for doc in docs]), SYMBOLS, order, starts_D)
    tokens_N = np.array(text)
    log_p_NV = log_probabilities(GramTable.from_counts(counts), tokens_N)
    expected_N = counts.nats(tokens_N)
    np.testing.assert_allclose(-log_p_NV[np.arange(len(text) - 1), tokens_N[1:]], expected_N, atol=1e-4)
    np.testing.assert_allclose(np.exp(log_p_NV).sum(1), 1, atol=1e-5)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.floats(0.02, 1.2))
def test_a_pruned_table_is_small_and_still_a_distribution(seed: int, share: float) -> None:
    counts = KneserNey.fit(draw_text(SYMBOLS, 400, seed), SYMBOLS, 4)
    whole = GramTable.from_counts(counts)
    max_bytes = int(share * whole.bytes)
    pruned = GramTable.from_counts(counts, max_bytes)
    smallest = GramTable.from_counts(counts, 0)  # single tokens always stay
    assert pruned.bytes <= max(max_bytes, smallest.bytes)
    assert pruned.pruned == len(whole.grams.tokens_G) - len(pruned.grams.tokens_G)
    np.testing.assert_allclose(np.exp(log_probabilities(pruned, draw_text(SYMBOLS, 60, 1))).sum(1), 1, atol=1e-5)
    if share >= 1:
        assert pruned.pruned == 0


def test_pruning_leaves_what_matters() -> None:
    """On other text, half of the bytes predict better than the grams of an order that takes as many."""
    text = "\n".join(topics.values())[:60_000].encode("ascii", "replace")
    tokens_N = np.frombuffer(text, np.uint8).astype(np.int64)
    train_N, other_N = tokens_N[:50_000], tokens_N[50_000:]
    counts = KneserNey.fit(train_N, 128, 6)
    whole = GramTable.from_counts(counts)

    def nats(table: GramTable) -> float:
        return -float(log_probabilities(table, other_N)[np.arange(len(other_N) - 1), other_N[1:]].mean())

    half = GramTable.from_counts(counts, whole.bytes // 2)
    shorter = next(
        table for order in range(5, 0, -1)
        if (table := GramTable.from_counts(KneserNey.fit(train_N, 128, order))).bytes <= half.bytes
    )  # fmt: skip
    assert nats(half) < nats(shorter) - 0.02


def test_a_stored_table_is_the_same_table() -> None:
    table = GramTable.from_counts(KneserNey.fit(draw_text(SYMBOLS, 300), SYMBOLS, 3))
    again = GramTable.from_tensors(table.tensors(), Path("counts.safetensors"))
    assert all(map(np.array_equal, again.grams, table.grams))
    assert (again.order, again.vocab_size, again.pruned) == (table.order, table.vocab_size, table.pruned)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("tokens_G", 3, SYMBOLS),
        ("tokens_G", 0, -1),
        ("children_C", -1, 10**6),
        ("children_C", 1, -5),
        ("values_G", 2, float("nan")),
        ("backoff_C", 0, 2.0),
        ("facts", 0, 0),
        ("facts", 1, 2),
    ],
)
def test_a_table_whose_lookups_would_leave_it_is_refused(name: str, place: int, value: float) -> None:
    stored = GramTable.from_counts(KneserNey.fit(draw_text(SYMBOLS, 300), SYMBOLS, 3)).tensors()
    stored = {key: tensor.clone() for key, tensor in stored.items()}
    stored[name][place] = value
    with pytest.raises(DataError, match="damaged"):
        GramTable.from_tensors(stored, Path("counts.safetensors"))
