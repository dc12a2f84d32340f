"""Attention: the fast forms against the plain one, outputs and every gradient."""

import math

import pytest
import torch
from torch import Tensor

from seqlab.attention.fast import ChunkedAdditive, CompiledAdditive, attend_fast
from seqlab.attention.masks import Ranges, causal, everything
from seqlab.attention.plain import attend
from seqlab.attention.scores import Additive, Dot, ScaledDot, Score

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}


def scores(width: int) -> dict[str, Score]:
    return {
        "dot": Dot(),
        "scaled": ScaledDot(width),
        "additive": Additive(width, width, 2 * width + 1),
    }


def ranges(kind: str, batch: int, queries: int, keys: int) -> Ranges:
    if kind == "causal":
        return causal(torch.full((batch,), keys - queries), queries)
    if kind == "windowed":
        return causal(torch.full((batch,), keys - queries), queries, window=3)
    lengths_B = torch.arange(batch) * 2 % (keys + 1)  # the first row sees nothing at all
    return everything(lengths_B, queries)


def close(a: Tensor, b: Tensor, name: str) -> None:
    a, b = a.detach(), b.detach()
    bound = TOLERANCE[b.dtype] * max(1.0, float(b.abs().max()))
    assert float((a - b).abs().max()) <= bound, name


def gradients(output: Tensor, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    outer = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view_as(output)
    computed = torch.autograd.grad(output, list(inputs.values()), outer, allow_unused=True)
    return dict(zip(inputs, computed, strict=True))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("kind", ["causal", "windowed", "ragged"])
@pytest.mark.parametrize("name", ["dot", "scaled", "additive"])
@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (1, 6), (7, 7), (5, 9)])
def test_fast_equals_plain(name: str, kind: str, queries: int, keys: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    width, batch = 5, 4
    score = scores(width)[name].to(dtype)
    tensors = {
        "q": torch.randn(batch, queries, width, dtype=dtype, requires_grad=True),
        "k": torch.randn(batch, keys, width, dtype=dtype, requires_grad=True),
        "values": torch.randn(batch, keys, 3, dtype=dtype, requires_grad=True),
        **dict(score.named_parameters()),
    }
    seen = ranges(kind, batch, queries, keys)
    plain = attend(score(tensors["q"], tensors["k"]), tensors["values"], seen.mask(keys)).output_BTD
    projected = score.project_queries(tensors["q"]), score.project_keys(tensors["k"])
    fast = attend_fast(score, *projected, tensors["values"], seen)
    close(fast, plain, "output")
    expected = gradients(plain, tensors)
    for input_name, gradient in gradients(fast, tensors).items():
        close(gradient, expected[input_name], input_name)


@pytest.mark.parametrize("implementation", [CompiledAdditive, ChunkedAdditive])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_inputs_of_any_size_stay_right(implementation, dtype: torch.dtype) -> None:
    q = torch.tensor([[[50.0, 0.3, -60.0], [0.1, 30.0, 1e4]]], dtype=dtype, requires_grad=True)
    k = torch.tensor([[[-45.0, 0.2, 61.0], [0.5, -29.5, -1e4]]], dtype=dtype, requires_grad=True)
    v = torch.tensor([0.7, -0.2, 0.4], dtype=dtype, requires_grad=True)
    values = torch.eye(2, dtype=dtype)[None].requires_grad_()
    seen = everything(torch.tensor([2]), 2)
    inputs = {"q": q, "k": k, "v": v, "values": values}
    plain = attend(torch.tanh(q[:, :, None] + k[:, None]) @ v, values, None).output_BTD
    fast = implementation.apply(q, k, v, values, seen.first_BT, seen.last_BT)
    close(fast, plain, "output")
    expected = gradients(plain, inputs)
    for name, gradient in gradients(fast, inputs).items():
        close(gradient, expected[name], name)


@pytest.mark.parametrize("size", [9.9, 10.1, 25.0, 39.9, 40.1, 80.0])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_every_reach_gives_the_plain_form(size: float, dtype: torch.dtype) -> None:
    """Elements up to the size, each next to small ones, and keys that all but cancel a query."""
    torch.manual_seed(0)
    q = size * (2 * torch.rand(2, 6, 17, dtype=dtype) - 1) * (torch.rand(2, 6, 17) < 0.5)
    k = torch.where(torch.rand(2, 6, 17) < 0.3, -q, size * (2 * torch.rand(2, 6, 17, dtype=dtype) - 1))
    inputs = {"q": q, "k": k + 0.1, "v": torch.randn(17, dtype=dtype), "values": torch.randn(2, 6, 4, dtype=dtype)}
    for tensor in inputs.values():
        tensor.requires_grad_()
    seen = causal(torch.zeros(2, dtype=torch.long), 6)
    scores_BTS = torch.tanh(inputs["q"][:, :, None] + inputs["k"][:, None]) @ inputs["v"]
    plain = attend(scores_BTS, inputs["values"], seen.mask(6)).output_BTD
    fast = CompiledAdditive.apply(*inputs.values(), seen.first_BT, seen.last_BT)
    close(fast, plain, "output")
    expected = gradients(plain, inputs)
    for name, gradient in gradients(fast, inputs).items():
        close(gradient, expected[name], name)


def test_one_pair_is_its_tanh() -> None:
    """A single key's score, read back through the softmax over it and a key whose score is known."""
    q = torch.tensor([[[50.0]]])
    k = torch.tensor([[[-45.0], [-50.0]]])
    weights = CompiledAdditive.apply(q, k, torch.ones(1), torch.eye(2)[None], *[torch.tensor([[n]]) for n in (0, 2)])
    odds = float(weights[0, 0, 0] / weights[0, 0, 1])
    assert math.isclose(math.log(odds), math.tanh(5) - math.tanh(0), rel_tol=1e-5)


def test_not_a_number_survives() -> None:
    q = torch.full((1, 1, 2), math.nan)
    output = CompiledAdditive.apply(
        q, torch.zeros(1, 2, 2), torch.ones(2), torch.ones(1, 2, 1), torch.tensor([[0]]), torch.tensor([[2]])
    )
    assert output.isnan().all()


def test_a_future_key_leaves_the_past_bit_equal() -> None:
    """Even one that is out of the exponentials' range."""
    torch.manual_seed(0)
    q, k, values = torch.randn(2, 6, 17), torch.randn(2, 6, 17), torch.randn(2, 6, 4)
    seen = causal(torch.zeros(2, dtype=torch.long), 6)
    v = torch.randn(17)
    before = CompiledAdditive.apply(q, k, v, values, seen.first_BT, seen.last_BT)
    k = k.clone()
    k[:, 5, 3] = 1e6
    after = CompiledAdditive.apply(q, k, v, values, seen.first_BT, seen.last_BT)
    assert torch.equal(before[:, :5], after[:, :5])


def test_a_rows_bits_do_not_depend_on_the_batch() -> None:
    torch.manual_seed(0)
    q, k, values, v = torch.randn(5, 4, 9), torch.randn(5, 4, 9), torch.randn(5, 4, 3), torch.randn(9)
    seen = causal(torch.zeros(5, dtype=torch.long), 4)
    whole = CompiledAdditive.apply(q, k, v, values, seen.first_BT, seen.last_BT)
    for row in range(5):
        rows = slice(row, row + 1)
        alone = CompiledAdditive.apply(q[rows], k[rows], v, values[rows], seen.first_BT[rows], seen.last_BT[rows])
        assert torch.equal(alone, whole[rows])
