"""The text encoder: every pooling against its formula, whatever is padded or empty."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from seqlab.config import ModelSettings, VocabSizes
from seqlab.models.pooling import SIF, AttentionPooling, TokenPooling, sif_scores
from seqlab.models.text_encoder import TextEncoder
from seqlab.registry import BACKBONES
from seqlab.tracing import Trace

V, D, H = 11, 6, 8
ROWS = [[3, 1, 4], [1, 5, 9, 2, 6], [5]]


def encoder(pooling: str, arch: str = "gru", dimensions: int | None = None, **model: Any) -> TextEncoder:
    torch.manual_seed(0)
    backbone = BACKBONES.load(arch)
    settings = ModelSettings(embedding=D, **model)
    both = {"bidirectional": True} if backbone.Settings.has("bidirectional") else {}
    built = backbone(backbone.Settings(hidden=H, **both), D)
    return TextEncoder(settings, built, VocabSizes(V), pooling, dimensions).eval()


def padded(rows: list[list[int]]) -> tuple[Tensor, Tensor]:
    longest = max(map(len, rows))
    tokens = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    return tokens, torch.tensor([[at < len(row) for at in range(longest)] for row in rows])


def outputs(model: TextEncoder, row: list[int]) -> Tensor:
    return model.backbone(model.embedding(torch.tensor([row])))[0][0]


def attended(model: TextEncoder, row: list[int]) -> Tensor:
    y_TH, pooling = outputs(model, row), model.pooling
    assert isinstance(pooling, AttentionPooling)
    weights_T = (torch.tanh(pooling.project(y_TH)) @ pooling.v_H).exp()
    return (weights_T[:, None] * y_TH).sum(0) / weights_T.sum()


def by_frequency(model: TextEncoder, row: list[int]) -> Tensor:
    weights_T = torch.tensor([SIF / (SIF + (token + 1) / 66) for token in row])
    return (weights_T[:, None] * outputs(model, row)).sum(0) / weights_T.sum()


FORMULAS: dict[str, Callable[[TextEncoder, list[int]], Tensor]] = {
    "mean": lambda model, row: outputs(model, row).mean(0),
    "max": lambda model, row: outputs(model, row).amax(0),
    "last": lambda model, row: torch.cat([outputs(model, row)[-1, :H], outputs(model, row)[0, H:]]),
    "attention": attended,
    "sif": by_frequency,
}


@pytest.mark.parametrize("pooling", FORMULAS)
@torch.no_grad()
def test_pooling_is_its_formula_on_padded_rows(pooling: str) -> None:
    model = encoder(pooling)
    if isinstance(model.pooling, TokenPooling):
        model.pooling.scores_V1.copy_(sif_scores((torch.arange(V) + 1) / 66)[:, None])
    expected = torch.stack([FORMULAS[pooling](model, row) for row in ROWS])
    torch.testing.assert_close(model(*padded(ROWS)), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("arch", BACKBONES.builtin())
@pytest.mark.parametrize("pooling", FORMULAS)
def test_an_empty_text_is_zeros_and_changes_no_other(arch: str, pooling: str) -> None:
    model = encoder(pooling, arch, dimensions=4)
    vectors = model(*padded([*ROWS, []]))
    vectors.sum().backward()
    assert vectors.shape == (4, 4) and not vectors[3].any()
    torch.testing.assert_close(vectors[:3], model(*padded(ROWS)), rtol=1e-5, atol=1e-6)
    assert all(bool(p.grad.isfinite().all()) for p in model.parameters() if p.grad is not None)


def test_a_projection_sets_the_dimensions() -> None:
    assert encoder("mean").dimensions == 2 * H
    model = encoder("mean", dimensions=3)
    assert model.dimensions == 3 and model(*padded(ROWS)).shape == (3, 3)


@torch.no_grad()
def test_the_residual_is_the_weighted_mean_of_embeddings() -> None:
    torch.manual_seed(0)
    backbone = BACKBONES.load("gru")
    built = backbone(backbone.Settings(hidden=H), D)
    both = TextEncoder(ModelSettings(embedding=D), built, VocabSizes(V), "mean", None, residual=True).eval()
    assert both.residual is not None and both.projection is not None
    both.residual.scores_V1.normal_()
    weights = [both.residual.scores_V1[row, 0].softmax(0) for row in ROWS]
    means = [weight @ both.embedding.weight[row] for weight, row in zip(weights, ROWS, strict=True)]
    torch.testing.assert_close(both(*padded(ROWS)), torch.stack(means))
    both.projection.weight.normal_()
    added = [both.projection(outputs(both, row).mean(0)) for row in ROWS]
    expected = torch.stack([mean + more for mean, more in zip(means, added, strict=True)])
    torch.testing.assert_close(both(*padded(ROWS)), expected)


def test_dropout_makes_twins_of_one_text() -> None:
    model = encoder("mean", embedding_dropout=0.5)
    tokens, mask = padded(ROWS)
    assert torch.equal(model(tokens, mask), model(tokens, mask))
    model.train()
    assert not torch.allclose(model(tokens, mask), model(tokens, mask))


@pytest.mark.parametrize("pooling", ["attention", "sif"])
def test_weights_of_positions_are_recorded(pooling: str) -> None:
    model, trace = encoder(pooling), Trace()
    tokens, mask = padded(ROWS)
    model(tokens, mask, trace)
    assert "pooling" in model.records
    torch.testing.assert_close(trace["pooling"].sum(1), torch.ones(3))
    assert not trace["pooling"][~mask].any()
