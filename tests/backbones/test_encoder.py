"""The encoder against torch's own, its symmetry, and the size of a well-known one."""

import pytest
import torch
from torch import nn

from seqlab.backbones.transformer_encoder import TransformerEncoder
from seqlab.backbones.transformer_encoder_settings import TransformerEncoderSettings
from seqlab.config import resolve
from seqlab.models.masked_language_model import MaskedLanguageModel
from seqlab.models.parameter_count import parameters
from seqlab.recipes import recipe


def encoder(**settings) -> TransformerEncoder:
    torch.manual_seed(0)
    return TransformerEncoder(
        TransformerEncoderSettings(**{"hidden": 8, "heads": 2, "layers": 2, "context": 16, **settings}), 8
    ).eval()


@pytest.mark.parametrize("norm_position", ["before", "after"])
@pytest.mark.parametrize("activation", ["gelu", "relu", "swiglu"])
@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_without_positions_permuting_the_input_permutes_the_output(norm_position, activation, norm):
    backbone = encoder(positions="none", norm_position=norm_position, activation=activation, norm=norm)
    x_BTD, order_T = torch.randn(2, 7, 8), torch.randperm(7)
    y_BTD, permuted_BTD = backbone(x_BTD)[0], backbone(x_BTD[:, order_T])[0]
    torch.testing.assert_close(permuted_BTD, y_BTD[:, order_T], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("positions", ["rotary", "learned", "sinusoidal"])
def test_with_positions_it_does_not(positions):
    backbone = encoder(positions=positions)
    x_BTD, order_T = torch.randn(2, 7, 8), torch.tensor([3, 1, 0, 2, 6, 5, 4])
    assert not torch.allclose(backbone(x_BTD[:, order_T])[0], backbone(x_BTD)[0][:, order_T], atol=1e-3)


@pytest.mark.parametrize("norm_position", ["before", "after"])
@pytest.mark.parametrize("ragged", [False, True])
def test_it_is_torchs_own(norm_position, ragged):
    ours = encoder(positions="none", norm_position=norm_position, activation="relu", feedforward=12)
    theirs = torchs_own(ours, norm_position)
    x_BTD, lengths_B = torch.randn(3, 6, 8), torch.tensor([6, 2, 5])
    mask_BT = torch.arange(6) < lengths_B[:, None] if ragged else torch.ones(3, 6, dtype=torch.bool)
    y_BTD, _ = ours(x_BTD, None, mask_BT if ragged else None)
    expected_BTD = theirs(x_BTD, src_key_padding_mask=~mask_BT)
    torch.testing.assert_close(y_BTD[mask_BT], expected_BTD[mask_BT], atol=1e-5, rtol=1e-5)


def torchs_own(ours: TransformerEncoder, norm_position: str) -> nn.Module:
    layer = nn.TransformerEncoderLayer(8, 2, 12, 0.0, batch_first=True, norm_first=norm_position == "before")
    last = nn.LayerNorm(8) if norm_position == "before" else None
    theirs = nn.TransformerEncoder(layer, 2, norm=last, enable_nested_tensor=False).eval()
    places = {
        "self_attn.in_proj_weight": "attention.into.weight", "self_attn.in_proj_bias": "attention.into.bias",
        "self_attn.out_proj.weight": "attention.out.weight", "self_attn.out_proj.bias": "attention.out.bias",
        "linear1.weight": "feedforward.up.weight", "linear1.bias": "feedforward.up.bias",
        "linear2.weight": "feedforward.down.weight", "linear2.bias": "feedforward.down.bias",
        "norm1.weight": "norms.0.weight", "norm1.bias": "norms.0.bias",
        "norm2.weight": "norms.1.weight", "norm2.bias": "norms.1.bias",
    }  # fmt: skip
    weights = ours.state_dict()
    moved = {f"layers.{n}.{a}": weights[f"stack.blocks.{n}.{b}"] for n in range(2) for a, b in places.items()}
    moved |= {f"norm.{kind}": weights[f"stack.last.{kind}"] for kind in ("weight", "bias") if last}
    theirs.load_state_dict(moved)
    return theirs


def test_segments_tell_apart_what_is_equal():
    backbone = encoder(segments=2)
    x_BTD = torch.randn(1, 4, 8)
    first, second = backbone(x_BTD)[0], backbone(x_BTD, segment_BT=torch.tensor([[0, 0, 1, 1]]))[0]
    assert torch.equal(first, backbone(x_BTD, segment_BT=torch.zeros(1, 4, dtype=torch.long))[0])
    assert not torch.allclose(first, second)


def test_the_summary_is_the_first_position_through_the_pooler():
    backbone = encoder(pooler=True)
    y_BTD, state = backbone(torch.randn(2, 5, 8))
    assert backbone.pooler is not None
    torch.testing.assert_close(state.summary_BH, torch.tanh(backbone.pooler(y_BTD[:, 0])))


def test_the_size_of_bert_base():
    """Of the encoder with its embeddings: the published count has no head."""
    settings = resolve(recipe("bert-base"))
    count = parameters(settings, 30_521)
    assert count.embedding + count.core + count.positions == 109_482_240
    with torch.device("meta"):
        backbone = TransformerEncoder(settings.backbone.settings, 768)  # pyright: ignore[reportArgumentType]
        model = MaskedLanguageModel(settings.model, backbone, 30_521)
    assert sum(p.numel() for p in model.parameters()) == count.total
    assert count.total - count.output == 109_482_240
