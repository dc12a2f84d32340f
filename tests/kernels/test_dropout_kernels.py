"""Dropout: the compiled kernel against the equation, and the masks against chance."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from seqlab import dropout
from seqlab.dropout import add_dropped, draw_key, drop, drop_plain, embed_dropped, mask
from seqlab.kernels.dropout import BLOCK
from seqlab.kernels.uniform import keyed_word
from seqlab.training.step import seed_generators, step_seed

DTYPES = [torch.float32, torch.float64, torch.bfloat16]
SHAPES = st.lists(st.integers(0, 40), min_size=1, max_size=3).map(tuple)
RATES = st.floats(0.01, 0.99)
SIZE = torch.Size((64, 128, 128))
BOUND = 4.5  # standard deviations; the seeds are fixed, so what holds once holds always


def numbers(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def of_key(seed: int, function: Callable[[], Tensor]) -> tuple[Tensor, int]:
    """What a function returns after the generator was seeded, and the key that it draws first."""
    torch.manual_seed(seed)
    result = function()
    torch.manual_seed(seed)
    return result, draw_key()


def masks(count: int, seed: int = 0, rate: float = 0.3) -> np.ndarray:
    """Of the first calls of one training step, as numbers of mean 0 and variance 1."""
    seed_generators(step_seed(seed, 7))
    return np.stack([centered(mask(SIZE, rate, draw_key()), rate) for _ in range(count)])


def centered(kept: Tensor, rate: float) -> np.ndarray:
    return (kept.numpy() - (1 - rate)) / (rate * (1 - rate)) ** 0.5


# --- the equation ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@given(shape=SHAPES, rate=RATES, seed=st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_output_and_gradient_have_the_bits_of_the_equation(
    dtype: torch.dtype, shape: tuple[int, ...], rate: float, seed: int
) -> None:
    x, outer = numbers(shape, dtype).requires_grad_(), numbers(shape, dtype, 1)
    y, key = of_key(seed, lambda: drop(x, rate))
    expected = drop_plain(x, rate, key)
    assert y.dtype == dtype and torch.equal(y, expected)
    assert torch.equal(*(torch.autograd.grad(each, x, outer)[0] for each in (y, expected)))


@pytest.mark.parametrize("dtype", DTYPES)
@given(shape=SHAPES, rate=RATES, seed=st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_a_residual_connection_has_the_bits_of_the_equation(
    dtype: torch.dtype, shape: tuple[int, ...], rate: float, seed: int
) -> None:
    x, y = numbers(shape, dtype).requires_grad_(), numbers(shape, dtype, 1).requires_grad_()
    outer = numbers(shape, dtype, 2)
    z, key = of_key(seed, lambda: add_dropped(x, y, rate))
    expected = x + drop_plain(y, rate, key)
    assert z.dtype == dtype and torch.equal(z, expected)
    for ours, right in zip(*(torch.autograd.grad(each, (x, y), outer) for each in (z, expected)), strict=True):
        assert torch.equal(ours, right)


def test_gradients_and_second_gradients_of_float64() -> None:
    x, y = (numbers((3, 5), torch.float64, seed).requires_grad_() for seed in (0, 1))

    def both(x: Tensor, y: Tensor) -> Tensor:
        torch.manual_seed(0)
        return drop(add_dropped(x, y, 0.4) ** 2, 0.3)

    assert torch.autograd.gradcheck(both, (x, y))
    assert torch.autograd.gradgradcheck(both, (x, y))


def test_a_residual_stream_keeps_its_precision() -> None:
    x, y = numbers((4, 9), torch.float32), numbers((4, 9), torch.bfloat16, 1)
    z, key = of_key(3, lambda: add_dropped(x, y, 0.2))
    assert torch.equal(z, x + drop_plain(y.float(), 0.2, key))


def test_what_is_not_finite_stays_so_where_it_is_kept() -> None:
    for dtype in DTYPES:
        x = torch.tensor([float("nan"), float("inf"), -float("inf"), 3e38] * 50).to(dtype)
        y, key = of_key(1, lambda x=x: drop(x, 0.4))
        torch.testing.assert_close(y, drop_plain(x, 0.4, key), equal_nan=True, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("swapped", [(0, 1), (0, 2), (1, 2)])
@pytest.mark.parametrize("contiguous", [False, True])
def test_the_place_in_memory_does_not_matter(dtype: torch.dtype, swapped: tuple[int, int], contiguous: bool) -> None:
    """Recurrent kernels swap the first two axes."""
    x, outer = numbers((30, 20, 10), dtype), numbers((30, 20, 10), dtype, 1)
    strided = x.transpose(*swapped).contiguous().transpose(*swapped).requires_grad_()
    assert not strided.is_contiguous()
    y, key = of_key(0, lambda: drop(strided, 0.5, contiguous=contiguous))
    assert torch.equal(y, drop_plain(x, 0.5, key)) and (y.is_contiguous() or not contiguous)
    for gradient in (outer, outer.transpose(0, 1).contiguous().transpose(0, 1)):
        found = torch.autograd.grad(y, strided, gradient, retain_graph=True)[0]
        assert torch.equal(found, drop_plain(outer, 0.5, key))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("compiles", [True, False])
@given(
    shape=st.lists(st.integers(0, 12), min_size=1, max_size=3).map(tuple),
    width=st.integers(1, 80),
    rate=RATES,
    gain=st.sampled_from([1.0, 3.7]),
    swapped=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_dropped_embeddings_have_the_bits_of_the_equation(
    dtype: torch.dtype, compiles: bool, shape: tuple[int, ...], width: int, rate: float, gain: float, swapped: bool
) -> None:
    """Also where the gradient comes with its first two axes swapped in memory, as from a recurrent kernel."""
    weight_VD, outer = numbers((7, width), dtype).requires_grad_(), numbers((*shape, width), dtype, 1)
    tokens = torch.randint(7, shape, generator=torch.Generator().manual_seed(2))
    if swapped and outer.dim() == 3:
        outer = outer.transpose(0, 1).contiguous().transpose(0, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dropout, "can_compile", lambda: compiles)
        y, key = of_key(3, lambda: embed_dropped(weight_VD, tokens, rate, gain=gain))
        gradient_VD = torch.autograd.grad(y, weight_VD, outer)[0]
    x = functional.embedding(tokens, weight_VD)
    expected = drop_plain(x if gain == 1 else x * gain, rate, key)
    assert y.dtype == dtype and torch.equal(y, expected)
    assert torch.equal(gradient_VD, torch.autograd.grad(expected, weight_VD, outer)[0])


@pytest.mark.parametrize("token", [-1, 7])
def test_a_token_without_an_embedding_is_refused(token: int) -> None:
    with pytest.raises(IndexError):
        embed_dropped(numbers((7, 4), torch.float32), torch.tensor([0, token]), 0.5)


def test_nothing_is_stored_for_the_gradient() -> None:
    stored: list[Tensor] = []
    x, y = (numbers((50,), torch.float32, seed).requires_grad_() for seed in (0, 1))
    with torch.autograd.graph.saved_tensors_hooks(
        lambda tensor: stored.append(tensor) or tensor, lambda tensor: tensor
    ):
        add_dropped(x, drop(y, 0.5), 0.5).sum()
    assert not stored


@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_are_the_same_on_any_number_of_threads(dtype: torch.dtype) -> None:
    x, y = (numbers((5 * BLOCK + 77,), dtype, seed) for seed in (0, 1))
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            found.append(of_key(4, lambda: add_dropped(x, drop(y, 0.3), 0.3))[0])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(found[0], other) for other in found[1:])


def test_the_gradient_of_embeddings_is_the_same_on_any_number_of_threads() -> None:
    weight_VD, outer_BTD = numbers((9, 200), torch.float32).requires_grad_(), numbers((8, 50, 200), torch.float32, 1)
    tokens_BT = torch.randint(9, (8, 50), generator=torch.Generator().manual_seed(2))
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            y_BTD, _ = of_key(4, lambda: embed_dropped(weight_VD, tokens_BT, 0.3))
            found.append(torch.autograd.grad(y_BTD, weight_VD, outer_BTD)[0])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(found[0], other) for other in found[1:])


@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_are_the_same_without_numba(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = (numbers((300,), dtype, seed) for seed in (0, 1))
    compiled, _ = of_key(5, lambda: add_dropped(x, drop(y, 0.3), 0.3))
    monkeypatch.setattr(dropout, "can_compile", lambda: False)
    assert torch.equal(of_key(5, lambda: add_dropped(x, drop(y, 0.3), 0.3))[0], compiled)


def test_other_numbers_are_dropped_by_torch() -> None:
    x = torch.ones(1000, dtype=torch.float16)
    torch.manual_seed(0)
    expected = torch.nn.functional.dropout(x, 0.5)
    torch.manual_seed(0)
    assert torch.equal(drop(x, 0.5), expected)


def test_nothing_is_dropped_or_drawn_where_nothing_is_asked_for() -> None:
    x = numbers((7,), torch.float32)
    before = torch.get_rng_state()
    assert drop(x, 0.0) is x and drop(x, 0.5, training=False) is x
    assert torch.equal(add_dropped(x, x, 0.5, training=False), x + x)
    assert torch.equal(torch.get_rng_state(), before)


# --- chance ---------------------------------------------------------------------------------------------------------


def word_by_whole_numbers(key: int, second_key: int, position: int) -> int:
    z = position ^ key
    z = ((z ^ (z >> 17)) * 0xED5AD4BB % 2**32) ^ second_key
    z = (z ^ (z >> 11)) * 0xAC4C1B51 % 2**32
    z = (z ^ (z >> 15)) * 0x31848BAB % 2**32
    return z ^ (z >> 14)


WORDS = st.integers(0, 2**32 - 1)


@given(key=WORDS, second_key=WORDS, position=WORDS)
def test_words_are_those_of_whole_numbers(key: int, second_key: int, position: int) -> None:
    found = keyed_word(np.uint32(key), np.uint32(second_key), np.array([position], np.uint32))
    assert found.tolist() == [word_by_whole_numbers(key, second_key, position)]


def test_one_bit_of_key_or_position_changes_half_of_the_bits() -> None:
    draw = np.random.default_rng(0)
    arguments = [draw.integers(0, 2**32, 4000, dtype=np.uint32) for _ in range(3)]
    words = keyed_word(*arguments)
    for place in range(3):
        for bit in range(32):
            changed = [each ^ np.uint32((place == at) << bit) for at, each in enumerate(arguments)]
            flipped = np.unpackbits((keyed_word(*changed) ^ words).view(np.uint8).reshape(-1, 4), axis=1).mean(0)
            assert np.abs(flipped - 0.5).max() < 0.06, f"bit {bit} of argument {place}"


@pytest.mark.parametrize("rate", [0.001, 0.05, 0.1, 0.3, 0.5, 0.9])
def test_the_rate_is_the_share_that_is_dropped(rate: float) -> None:
    torch.manual_seed(0)
    for _ in range(5):
        assert abs(centered(mask(SIZE, rate, draw_key()), rate).sum()) < BOUND * SIZE.numel() ** 0.5


def test_blocks_of_positions_hold_as_many_as_chance_gives() -> None:
    """The number that is kept in a row, a column or a feature varies as in independent draws."""
    kept = masks(1)[0]
    for axes in ((1, 2), (0, 2), (0, 1), (0,), (1,), (2,)):
        sums = kept.sum(axes) / np.prod([kept.shape[axis] for axis in axes]) ** 0.5
        chi2, freedom = float((sums**2).sum()), sums.size
        assert abs(chi2 - freedom) < BOUND * (2 * freedom) ** 0.5, axes


@pytest.mark.parametrize("lag", [1, 2, 3, 16, 64, 127, 128, 129, 8192, 16384, 2**19])
def test_positions_are_independent(lag: int) -> None:
    kept = masks(1)[0].ravel()
    assert abs((kept[lag:] * kept[:-lag]).sum()) < BOUND * (len(kept) - lag) ** 0.5


def test_runs_of_eight_positions_are_as_frequent_as_chance_makes_them() -> None:
    torch.manual_seed(2)
    bits = mask(SIZE, 0.5, draw_key()).numpy().reshape(-1, 8)
    counts = np.bincount(np.packbits(bits, axis=1)[:, 0], minlength=256)
    expected = len(bits) / 256
    chi2 = float(((counts - expected) ** 2 / expected).sum())
    assert abs(chi2 - 255) < BOUND * (2 * 255) ** 0.5


def test_calls_of_one_step_are_independent() -> None:
    """As those of neighboring layers are."""
    kept = masks(12).reshape(12, -1)
    product = kept @ kept.T
    assert np.abs(product[~np.eye(12, dtype=bool)]).max() < BOUND * kept.shape[1] ** 0.5


def test_steps_and_seeds_are_independent() -> None:
    rate, found = 0.3, []
    for seed, step in [(seed, step) for seed in range(4) for step in range(4)]:
        seed_generators(step_seed(seed, step))
        found.append(centered(mask(SIZE, rate, draw_key()), rate).ravel())
    product = np.stack(found) @ np.stack(found).T
    assert np.abs(product[~np.eye(16, dtype=bool)]).max() < BOUND * SIZE.numel() ** 0.5


def test_a_position_is_dropped_as_often_over_steps() -> None:
    rate, steps = 0.25, 4000
    kept = np.zeros(1000)
    for step in range(steps):
        seed_generators(step_seed(1, step))
        kept += centered(mask(torch.Size((1000,)), rate, draw_key()), rate)
    chi2 = float((kept**2 / steps).sum())
    assert abs(chi2 - 1000) < BOUND * 2000**0.5


def test_a_step_repeats_its_masks_and_twins_have_two() -> None:
    x = torch.ones(2000)
    seed_generators(step_seed(3, 5))
    first, second = drop(x, 0.5), drop(x, 0.5)
    seed_generators(step_seed(3, 5))
    assert torch.equal(drop(x, 0.5), first) and torch.equal(drop(x, 0.5), second) and not torch.equal(first, second)


def test_a_forked_process_drops_the_same(tmp_path: Path) -> None:
    """GNU's OpenMP ends a forked process that enters a parallel kernel, so the plain form takes over."""
    program = """
import os, torch
from seqlab.dropout import drop
torch.set_num_threads(1)  # torch's own threads do not survive a fork
x = torch.ones(50_000)
torch.manual_seed(1); expected = drop(x, 0.3)
child = os.fork()
if child == 0:
    torch.manual_seed(1)
    os._exit(0 if torch.equal(drop(x, 0.3), expected) else 1)
print(os.waitpid(child, 0)[1])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path, timeout=120
    )
    assert done.stdout.strip() == "0", done.stderr
