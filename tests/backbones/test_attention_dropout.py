"""Dropout of attention weights is a setting of its own; without it, training keeps torch's attention kernel."""

from typing import Any

import pytest
import torch
from torch import Tensor

from seqlab.attention import multihead
from seqlab.attention.multihead import MultiHead
from seqlab.backbones.transformer import Transformer
from seqlab.backbones.transformer_settings import TransformerSettings
from seqlab.dropout import draw_key, drop_plain

B, T, D, HEADS = 3, 9, 8, 2


def vectors() -> Tensor:
    return torch.randn(B, T, D, generator=torch.Generator().manual_seed(0))


def transformer(**options: Any) -> Transformer:
    torch.manual_seed(1)
    return Transformer(TransformerSettings(hidden=D, layers=2, heads=HEADS, **options), D)


def output(backbone: Transformer, training: bool, seed: int = 0) -> Tensor:
    torch.manual_seed(seed)
    return backbone.train(training)(vectors())[0]


@pytest.mark.parametrize(("rate", "calls"), [(0.0, 2), (0.2, 0)])
def test_only_dropout_of_weights_leaves_the_kernel(rate: float, calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, met = multihead.scaled_dot_product_attention, []
    monkeypatch.setattr(multihead, "scaled_dot_product_attention", lambda *a, **k: met.append(1) or kernel(*a, **k))
    output(transformer(dropout=0.3, attention_dropout=rate), training=True)
    assert len(met) == calls
    output(transformer(dropout=0.3, attention_dropout=rate), training=False)
    assert len(met) == calls + 2


def test_it_acts_in_training_only() -> None:
    dropping, without = transformer(dropout=0.0, attention_dropout=0.5), transformer(dropout=0.0)
    assert torch.equal(output(dropping, False), output(without, False))
    assert torch.equal(output(dropping, True, 3), output(dropping, True, 3))
    assert not torch.allclose(output(dropping, True, 3), output(dropping, True, 4))
    assert torch.equal(output(without, True, 3), output(without, True, 4))


def test_weights_are_dropped_as_the_equation_says() -> None:
    torch.manual_seed(2)
    attention, x_BTD = MultiHead(D, HEADS, 0.4).train(), vectors()
    torch.manual_seed(5)
    y_BTD, _ = attention(x_BTD, lambda x: x, None, None, None, None)
    torch.manual_seed(5)
    key = draw_key()
    q, k, v = (part.view(B, T, HEADS, -1).transpose(1, 2) for part in attention.into(x_BTD).chunk(3, 2))
    scores_BNTT = q @ k.transpose(2, 3) / (D // HEADS) ** 0.5
    future_TT = torch.ones(T, T, dtype=torch.bool).triu(1)
    weights_BNTT = scores_BNTT.masked_fill(future_TT, -torch.inf).softmax(-1)
    expected_BTD = attention.out((drop_plain(weights_BNTT, 0.4, key) @ v).transpose(1, 2).flatten(2))
    torch.testing.assert_close(y_BTD, expected_BTD)
