"""QK-norm, ReLU², zero-initialized sublayers and capped logits, against their equations; contracts cover the rest."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from seqlab.attention.multihead import MultiHead, normalized
from seqlab.backbones.transformer import FeedForward, Transformer
from seqlab.backbones.transformer_settings import TransformerSettings
from seqlab.config import VocabSizes, build_settings
from seqlab.decode.engines.selection import EngineSelector
from seqlab.errors import UsageError
from seqlab.exporters.onnx.language import sequence_graph, step_graph
from seqlab.registry import BACKBONES
from seqlab.runs.load import build_model
from seqlab.training.request import settings_from_request

V, CAP = 23, 0.7
ENGINES = [name for name in BACKBONES if BACKBONES.load(name).declares("compiled_engine")]


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def built(arch: str, **more: Any) -> Any:
    torch.manual_seed(0)
    changes = {"backbone.name": arch, "backbone.hidden": 16, "model.embedding": 12, **more}
    model = build_model(build_settings({"corpus": {"source": ["none"]}}, changes.items()), VocabSizes(V, V, 256, 2))
    with torch.no_grad():
        model.output.weight.mul_(20)  # so that the cap matters
    return model.eval()


def test_queries_and_keys_have_root_mean_square_one() -> None:
    """Whatever their size, and so no score is beyond the root of the head's width."""
    x_BTNK = 1000 * draw(2, 5, 3, 8)
    expected = x_BTNK / x_BTNK.square().mean(-1, keepdim=True).sqrt()
    torch.testing.assert_close(normalized(x_BTNK), expected)
    attention = MultiHead(24, 3, 0.0, plain=True, qk_norm=True).eval()
    with torch.no_grad():
        attention.into.weight.mul_(100)
    q_BTNK, k_BTNK, _ = (part.unflatten(2, (3, -1)) for part in attention.into(draw(2, 5, 24)).chunk(3, dim=2))
    scores = torch.einsum("btnk,bsnk->bnts", normalized(q_BTNK), normalized(k_BTNK)) / math.sqrt(8)
    assert float(scores.detach().abs().max()) <= math.sqrt(8) * (1 + 1e-5)


@pytest.mark.parametrize("implementation", ["fused", "plain"])
def test_attention_with_normalized_queries_is_its_equation(implementation: str) -> None:
    attention = MultiHead(8, 2, 0.0, plain=implementation == "plain", qk_norm=True).eval()
    x_BTD = draw(2, 6, 8)
    y_BTD, _ = attention(x_BTD, lambda x: x, None, None, None, None)
    q, k, v = (part.unflatten(2, (2, -1)).transpose(1, 2) for part in attention.into(x_BTD).chunk(3, dim=2))
    q, k = (x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() for x in (q, k))
    scores = (q @ k.transpose(2, 3) / 2).masked_fill(~torch.ones(6, 6, dtype=torch.bool).tril(), -math.inf)
    expected_BTD = attention.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
    torch.testing.assert_close(y_BTD, expected_BTD)


def test_relu2_is_the_square_of_relu() -> None:
    layer = FeedForward(TransformerSettings(hidden=8, heads=2, activation="relu2"))
    x_BTD = draw(1, 3, 8)
    torch.testing.assert_close(layer(x_BTD), layer.down(layer.up(x_BTD).clamp(min=0) ** 2))


@pytest.mark.parametrize("initialization", ["torch", "orthogonal", "normal:0.1"])
@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_sublayers_begin_by_adding_nothing_and_then_learn(norm: str, initialization: str) -> None:
    more = {"backbone.zero_init": True, "backbone.norm": norm, "backbone.positions": "none", "model.embedding": 16}
    model = built("transformer", **more, **{"model.initialization": initialization})
    tokens_BT = torch.randint(V, (2, 5), generator=torch.Generator().manual_seed(0))
    y_BTD, _ = model.backbone(model.embed(tokens_BT))
    torch.testing.assert_close(y_BTD, model.backbone.stack.last(model.embed(tokens_BT)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(tokens_BT)[0].logsumexp(-1).sum().backward()
        optimizer.step()
    assert all(bool(p.grad.any()) for p in model.backbone.parameters())  # from the second step on


def test_without_it_nothing_is_zero() -> None:
    matrices = [p for p in Transformer(TransformerSettings(hidden=8, heads=2), 8).parameters() if p.dim() == 2]
    assert matrices and all(bool(matrix.any()) for matrix in matrices)


@pytest.mark.parametrize("arch", ENGINES)
def test_capped_logits_are_the_same_for_everyone_who_reads_them(arch: str) -> None:
    """The whole sequence, the prompt, the step, the compiled loop, and ONNX."""
    free, capped = (built(arch, **{"model.logit_cap": cap}) for cap in (None, CAP))
    capped.load_state_dict(free.state_dict())
    tokens_BT = torch.randint(V, (2, 7), generator=torch.Generator().manual_seed(1))
    lengths_B = torch.tensor([7, 7])
    with torch.inference_mode():
        free_BTV = free(tokens_BT)[0]
        expected_BTV = CAP * torch.tanh(free_BTV / CAP)
        assert float(free_BTV.abs().max()) > 2 * CAP
        torch.testing.assert_close(capped(tokens_BT)[0], expected_BTV)
        torch.testing.assert_close(capped.read(tokens_BT, lengths_B)[0], expected_BTV[:, -1], atol=1e-5, rtol=1e-4)
        _, state = capped.read(tokens_BT[:, :-1], lengths_B - 1)
        torch.testing.assert_close(capped.step(tokens_BT[:, -1], state)[0], expected_BTV[:, -1], atol=1e-5, rtol=1e-4)
        engine: Any = EngineSelector(capped).engine
        ours_BV = engine.read(tokens_BT, lengths_B)[0]
    torch.testing.assert_close(ours_BV, expected_BTV[:, -1], atol=1e-4, rtol=0)
    onnxruntime = pytest.importorskip("onnxruntime")
    runs = onnxruntime.InferenceSession(sequence_graph(capped).SerializeToString())
    np.testing.assert_allclose(runs.run(None, {"tokens": tokens_BT.numpy()})[0], expected_BTV.numpy(), atol=1e-4)
    assert "Tanh" in {node.op_type for node in step_graph(capped).graph.node}


def test_a_cap_is_refused_where_there_are_no_logits_over_tokens() -> None:
    with pytest.raises(UsageError, match=r"model\.logit_cap does nothing: a model for --task classify"):
        settings_from_request("toy-words", {}, {"model.logit_cap": 5.0}, {"task": "classify"})
    for cap in (0, -1.0):
        with pytest.raises(UsageError, match=r"model\.logit_cap"):
            settings_from_request("toy-words", {}, {"model.logit_cap": cap}, {})
