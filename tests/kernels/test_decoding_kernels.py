"""The parts of the token loop, each against plain numpy: products, elementary functions, the choice of a token."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqlab.decode.sampling import SamplingSettings
from seqlab.decode.sampling import sample as sample_plain
from seqlab.kernels import elementary, sampling
from seqlab.kernels.attention import add_rows, add_tanhs, softmax
from seqlab.kernels.decoding import SamplingParameters
from seqlab.kernels.linear import add_product, pack_tiles, padded_width
from seqlab.kernels.uniform import uniforms

SMALL = settings(max_examples=40)


@SMALL
@given(rows=st.integers(1, 11), inputs=st.integers(1, 90), columns=st.integers(1, 200), seed=st.integers(0, 99))
def test_products_and_that_a_row_is_what_it_is_alone(rows: int, inputs: int, columns: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    weights_GK = draw.normal(size=(columns, inputs)).astype(np.float32)
    x_BK = draw.normal(size=(rows, 2, inputs)).astype(np.float32)[:, 1]  # rows that lie apart
    scale_G = np.zeros(padded_width(columns), np.float32)
    scale_G[:columns] = draw.uniform(0.5, 2, columns)
    y_BG = draw.normal(size=(rows, padded_width(columns))).astype(np.float32)
    before_BG = y_BG.copy()
    add_product(pack_tiles(weights_GK), scale_G, x_BK, y_BG, rows)
    expected_BG = before_BG[:, :columns] + scale_G[:columns] * (x_BK.astype(np.float64) @ weights_GK.T)
    np.testing.assert_allclose(y_BG[:, :columns], expected_BG, atol=2e-4)
    for row in range(rows):
        alone_1G = before_BG[row : row + 1].copy()
        add_product(pack_tiles(weights_GK), scale_G, x_BK[row : row + 1], alone_1G, 1)
        assert np.array_equal(alone_1G[0], y_BG[row])


def test_rows_beyond_those_asked_for_are_left_alone() -> None:
    y_BG = np.ones((6, 64), np.float32)
    add_product(pack_tiles(np.ones((64, 8), np.float32)), np.ones(64, np.float32), np.ones((6, 8), np.float32), y_BG, 5)
    assert (y_BG[:5] == 9).all() and (y_BG[5] == 1).all()


@SMALL
@given(rows=st.integers(1, 6), inputs=st.integers(1, 70), columns=st.integers(1, 130), seed=st.integers(0, 99))
def test_whole_numbers_are_multiplied_exactly(rows: int, inputs: int, columns: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    weights_GK = draw.integers(-127, 128, (columns, inputs)).astype(np.int8)
    x_BK = draw.integers(-9, 10, (rows, inputs)).astype(np.float32)
    y_BG = np.zeros((rows, padded_width(columns)), np.float32)
    add_product(pack_tiles(weights_GK), np.full(padded_width(columns), 0.5, np.float32), x_BK, y_BG, rows)
    assert np.array_equal(y_BG[:, :columns], (x_BK @ weights_GK.astype(np.float32).T) / 2)


@pytest.mark.parametrize(
    ("ours", "true", "relative"),
    [
        (elementary.exp, math.exp, True),
        (elementary.tanh, math.tanh, False),
        (elementary.sigmoid, lambda x: 1 / (1 + math.exp(-x)), False),
        (elementary.gelu, lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))), False),
    ],
)
def test_elementary_functions(ours, true, relative: bool) -> None:
    for x in np.concatenate([np.linspace(-80, 80, 4001), np.linspace(-4, 4, 4001)]).astype(np.float32):
        expected = true(float(x))
        assert abs(ours(x) - expected) <= 5e-7 * (abs(expected) if relative else max(1.0, abs(expected)))
    assert math.isnan(ours(np.float32(math.nan)))
    for x in (-1e30, 1e30, -math.inf, math.inf):
        assert not math.isnan(ours(np.float32(x))) or (ours is elementary.gelu and x == -math.inf)


@pytest.mark.parametrize("size", [1, 3, 4, 9, 130])
def test_attention_of_one_query(size: int) -> None:
    draw = np.random.default_rng(size)
    q_D, keys_DS, values_SD = (draw.normal(size=shape).astype(np.float32) for shape in ((6,), (6, size), (size, 5)))
    scores_S, mean_D = np.zeros(size, np.float32), np.zeros(5, np.float32)
    add_rows(q_D, keys_DS, scores_S)
    np.testing.assert_allclose(scores_S, q_D @ keys_DS, atol=1e-5)
    softmax(scores_S, np.float32(0.3))
    expected_S = np.exp(0.3 * (q_D @ keys_DS))
    np.testing.assert_allclose(scores_S, expected_S / expected_S.sum(), atol=1e-6)
    add_rows(scores_S, values_SD, mean_D)
    np.testing.assert_allclose(mean_D, scores_S @ values_SD, atol=1e-5)
    v_D = draw.normal(size=6).astype(np.float32)
    added_S = np.zeros(size, np.float32)
    add_tanhs(q_D, keys_DS, v_D, added_S)
    np.testing.assert_allclose(added_S, v_D @ np.tanh(q_D[:, None] + keys_DS), atol=1e-5)


@given(seed=st.integers(0, 2**63 - 1), sequence=st.integers(0, 2**50), position=st.integers(0, 2**40))
@settings(max_examples=200)
def test_random_numbers_are_the_same_bits(seed: int, sequence: int, position: int) -> None:
    assert sampling.uniform(seed, sequence, position) == uniforms(seed, np.array([sequence]), np.array([position]))[0]


def chosen(logits_V: np.ndarray, settings: SamplingSettings, number: float, seen: set[int], banned: set[int]):
    V = len(logits_V)
    masks = np.zeros((2, V), np.bool_)
    masks[0, list(banned)] = masks[1, list(seen)] = True
    top_k, top_p = min(settings.top_k or V, V), settings.top_p or 1.0
    parameters = SamplingParameters(settings.temperature, top_k, top_p, settings.repetition_penalty, 0, masks[0])
    return sampling.sample(logits_V, parameters, masks[1], number, np.empty(V), np.empty(V), np.empty(V, np.int64))


@SMALL
@given(
    logits=st.lists(st.integers(-40, 40), min_size=2, max_size=60),
    temperature=st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    top_k=st.none() | st.integers(1, 70),
    top_p=st.none() | st.sampled_from([0.13, 0.37, 0.71, 0.93, 1.0]),
    penalty=st.sampled_from([1.0, 0.5, 2.0]),
    data=st.data(),
)
def test_the_same_token_as_the_plain_sampler(
    logits: list[int], temperature: float, top_k: int | None, top_p: float | None, penalty: float, data: st.DataObject
) -> None:
    """Logits are eighths, so that equal ones are common and the rest far apart."""
    logits_V = np.array(logits, np.float32) / 8
    how = SamplingSettings(temperature=temperature, top_k=top_k, top_p=top_p, repetition_penalty=penalty)
    tokens = st.integers(0, len(logits) - 1)
    seen = data.draw(st.sets(tokens))
    banned = data.draw(st.sets(tokens, max_size=len(logits) - 1))
    for drawn in data.draw(st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=8)):
        token, logprob, status = chosen(logits_V, how, drawn, seen, banned)
        assert status == sampling.OK and token not in banned
        near = {
            int(sample_plain(logits_V[None].astype(float), how, np.array([u]), [seen], sorted(banned))[0])
            for u in (max(drawn - 1e-6, 0.0), drawn, min(drawn + 1e-6, 1 - 2**-53))
        }
        assert token in near
        exact = logits_V.astype(float)
        assert logprob == pytest.approx(exact[token] - np.log(np.exp(exact).sum()), abs=1e-5)


def test_what_cannot_be_chosen_from_is_said() -> None:
    how = SamplingSettings()
    assert chosen(np.array([1, np.nan], np.float32), how, 0.5, set(), set())[2] == sampling.NOT_FINITE
    assert chosen(np.array([1, np.inf], np.float32), how, 0.5, set(), set())[2] == sampling.NOT_FINITE
    assert chosen(np.zeros(3, np.float32), how, 0.5, set(), {0, 1, 2})[2] == sampling.NO_TOKEN_LEFT
    assert chosen(np.array([-np.inf, 1, -np.inf], np.float32), how, 0.0, set(), set())[0] == 1
