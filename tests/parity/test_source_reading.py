"""Reading a source: the fast forms against the plain ones, and the Transformer's decoder against torch's own."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from parity_cases import BATCH, DTYPES, HIDDEN, INPUTS, Case, assert_parity, everything, make_case, named, random
from torch import Tensor, nn

from seqlab.backbones.attention_decoder import AttentionDecoder
from seqlab.backbones.attention_decoder_settings import AttentionDecoderSettings
from seqlab.backbones.feedforward import Feedforward
from seqlab.backbones.feedforward_settings import FeedforwardSettings
from seqlab.backbones.lstm_attention import LstmAttention
from seqlab.backbones.lstm_attention_settings import LstmAttentionSettings
from seqlab.backbones.recurrent import Gru, Lstm, Rnn
from seqlab.backbones.recurrent_settings import GruSettings, LstmSettings, RnnSettings
from seqlab.backbones.transformer import Transformer
from seqlab.backbones.transformer_settings import TransformerSettings
from seqlab.contracts import Backbone, Memory, Trace

MEMORY, SOURCE = 3, 5
INNERS: dict[str, tuple[type[Backbone], Any]] = {
    "rnn": (Rnn, RnnSettings(hidden=HIDDEN)),
    "gru": (Gru, GruSettings(hidden=HIDDEN)),
    "lstm": (Lstm, LstmSettings(hidden=HIDDEN, layers=2)),
    "lstm-attention": (LstmAttention, LstmAttentionSettings(hidden=HIDDEN)),
    "feedforward": (Feedforward, FeedforwardSettings(hidden=HIDDEN, span=3)),
}

READERS = [
    *((name, "none", "after") for name, (_, settings) in INNERS.items() if settings.start_shapes(1)),
    *itertools.product(INNERS, ("dot", "scaled", "additive"), ("after", "before")),
]


def make_memory(width: int, dtype: torch.dtype, lengths: list[int]) -> Memory:
    values_BSH = random(BATCH, SOURCE, width, seed=50, dtype=dtype).requires_grad_()
    mask_BS = torch.arange(SOURCE) < torch.tensor(lengths)[:, None]
    return Memory(values_BSH, mask_BS, random(BATCH, width, seed=51, dtype=dtype).requires_grad_())


def run(backbone: Backbone, case: Case, memory: Memory, trace: Trace | None = None) -> dict[str, Tensor]:
    """Outputs, the last state, and the gradients of inputs, source and weights that have a part in them."""
    y_BTH, after = backbone(case.x_BTD, backbone.start(BATCH, memory), case.mask_BT, trace)
    leaves = {"input": case.x_BTD, **dict(backbone.named_parameters())}
    if getattr(backbone, "attention", True) is not None:
        leaves["source"] = memory.values_BSH
    if len(getattr(backbone, "starts", ())):
        leaves["summary"] = memory.summary_BH
    states = [leaf for leaf in after.tensors() if leaf.is_floating_point()]
    return everything(y_BTH, case, named(states, "state"), leaves)


def assert_forms_agree(
    make: Callable[[str], Backbone], dtype: torch.dtype, length: int, ragged: bool, width: int
) -> None:
    """`make` builds in a form; where there is one form only, a trace shows the plain one."""
    fused, plain = make("fused").to(dtype), make("plain").to(dtype)
    plain.load_state_dict(fused.state_dict())
    case, memory = make_case(length, ragged, dtype, empty=True), make_memory(width, dtype, [SOURCE, 1, 0, 3])
    assert_parity(run(fused, case, memory), run(plain, case, memory, Trace()))


@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("length", [1, 7])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name, attention, attends", READERS)
def test_made_to_read(name: str, attention: Any, attends: Any, dtype: torch.dtype, length: int, ragged: bool):
    inner, settings = INNERS[name]

    def make(implementation: str) -> Backbone:
        known = {"implementation": implementation} if "implementation" in type(settings).model_fields else {}
        reader = AttentionDecoderSettings(attention=attention, attends=attends)
        return AttentionDecoder(reader, inner, settings.model_copy(update=known), INPUTS, MEMORY)

    assert_forms_agree(make, dtype, length, ragged, MEMORY)


@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("length", [1, 7])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("norm_position", ["before", "after"])
def test_the_transformer(norm_position: Any, dtype: torch.dtype, length: int, ragged: bool):
    def make(implementation: Any) -> Backbone:
        return Transformer(
            TransformerSettings(
                hidden=8, heads=2, layers=2, norm_position=norm_position, implementation=implementation
            ),
            INPUTS,
            MEMORY,
        )

    assert_forms_agree(make, dtype, length, ragged, MEMORY)


# --- torch's own decoder --------------------------------------------------------------------------------------------

PLACES = {
    "self_attn.in_proj_": ["attention.into."],
    "self_attn.out_proj.": ["attention.out."],
    "multihead_attn.in_proj_": ["cross.queries.", "cross.into."],
    "multihead_attn.out_proj.": ["cross.out."],
    "linear1.": ["feedforward.up."],
    "linear2.": ["feedforward.down."],
    "norm1.": ["norms.0."],
    "norm2.": ["cross_norm."],
    "norm3.": ["norms.1."],
}


def torchs_own(ours: Transformer) -> nn.TransformerDecoder:
    """The same weights; what torch keeps in one tensor and we in several is joined."""
    settings, width = ours.settings, ours.width
    before = settings.norm_position == "before"
    layer = nn.TransformerDecoderLayer(
        width, settings.heads, settings.inner, 0.0, settings.activation, batch_first=True, norm_first=before
    )
    theirs = nn.TransformerDecoder(layer, settings.layers, nn.LayerNorm(width) if before else None).double()
    weights, moved = ours.state_dict(), {}
    for kind in ("weight", "bias"):
        for n in range(settings.layers):
            for place, names in PLACES.items():
                parts = [weights[f"stack.blocks.{n}.{name}{kind}"] for name in names]
                moved[f"layers.{n}.{place}{kind}"] = torch.cat(parts)
        if before:
            moved[f"norm.{kind}"] = weights[f"stack.last.{kind}"]
    theirs.load_state_dict(moved)
    return theirs


@pytest.mark.parametrize("implementation", ["fused", "plain"])
@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_position", ["before", "after"])
def test_the_transformer_is_torchs_own(norm_position: Any, activation: Any, ragged: bool, implementation: Any):
    options = {
        "positions": "none",
        "norm_position": norm_position,
        "activation": activation,
        "implementation": implementation,
    }
    settings = TransformerSettings(hidden=INPUTS + 3, heads=4, layers=2, feedforward=11, **options)
    ours = Transformer(settings, settings.hidden, settings.hidden).double()
    theirs, width, length = torchs_own(ours), settings.hidden, 7
    x_BTD = random(BATCH, length, width, seed=0, dtype=torch.float64).requires_grad_()
    lengths = [length, 1, 4, 6] if ragged else [length] * BATCH
    mask_BT = torch.arange(length) < torch.tensor(lengths)[:, None]
    memory = make_memory(width, torch.float64, [SOURCE, 1, 2, 4] if ragged else [SOURCE] * BATCH)
    ahead_TT = nn.Transformer.generate_square_subsequent_mask(length, dtype=torch.float64) < 0
    expected_BTD = theirs(
        x_BTD,
        memory.values_BSH,
        tgt_mask=ahead_TT,
        tgt_key_padding_mask=~mask_BT,
        memory_key_padding_mask=~memory.mask_BS,
    )
    given_BTD, _ = ours(x_BTD, ours.start(BATCH, memory), mask_BT if ragged else None)
    leaves, case = {"input": x_BTD, "source": memory.values_BSH}, Case(x_BTD, lengths, mask_BT)
    assert_parity(everything(given_BTD, case, {}, leaves), everything(expected_BTD, case, {}, leaves))
