"""The attention decoder: against its equations, its start state, and what it refuses."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from seqlab.backbones.attention_decoder import AttentionDecoder, AttentionDecoderState
from seqlab.backbones.attention_decoder_settings import AttentionDecoderSettings
from seqlab.backbones.feedforward import Feedforward
from seqlab.backbones.feedforward_settings import FeedforwardSettings
from seqlab.backbones.lstm_attention import LstmAttention, LstmAttentionState
from seqlab.backbones.lstm_attention_settings import LstmAttentionSettings
from seqlab.backbones.recurrent import Gru, Lstm, RecurrentState, Rnn
from seqlab.backbones.recurrent_settings import GruSettings, LstmSettings, RnnSettings
from seqlab.backbones.transformer import Transformer
from seqlab.backbones.transformer_settings import TransformerSettings
from seqlab.contracts import Backbone, Memory
from seqlab.errors import UsageError

INPUTS, HIDDEN, MEMORY = 5, 4, 3
LENGTHS = [4, 1, 0]
INNERS: dict[str, tuple[type[Backbone], Any]] = {
    "rnn": (Rnn, RnnSettings(hidden=HIDDEN)),
    "gru": (Gru, GruSettings(hidden=HIDDEN, layers=2)),
    "lstm": (Lstm, LstmSettings(hidden=HIDDEN, layers=2, residual=True)),
    "lstm-attention": (LstmAttention, LstmAttentionSettings(hidden=HIDDEN)),
    "feedforward": (Feedforward, FeedforwardSettings(hidden=HIDDEN, span=2)),
}
every_inner = pytest.mark.parametrize("name", INNERS)
every_attention = pytest.mark.parametrize("attention", ["dot", "scaled", "additive"])


def reading(
    name: str, attention: str, attends: str = "after", memory: int = MEMORY, **changes: Any
) -> AttentionDecoder:
    torch.manual_seed(0)
    cls, settings = INNERS[name]
    reader = AttentionDecoderSettings(attention=attention, attends=attends)  # pyright: ignore[reportArgumentType]
    return AttentionDecoder(reader, cls, settings.model_copy(update=changes), INPUTS, memory).double()


def source(lengths: list[int] = LENGTHS, width: int = MEMORY) -> Memory:
    torch.manual_seed(1)
    B, S = len(lengths), max(lengths)
    values_BSH = torch.randn(B, S, width, dtype=torch.float64)
    mask_BS = torch.arange(S) < torch.tensor(lengths)[:, None]
    return Memory(values_BSH, mask_BS, torch.randn(B, width, dtype=torch.float64))


def inputs(batch: int = len(LENGTHS), length: int = 5) -> Tensor:
    torch.manual_seed(2)
    return torch.randn(batch, length, INPUTS, dtype=torch.float64)


# --- the equations --------------------------------------------------------------------------------------------------


def written_out(reader: AttentionDecoder, query_H: np.ndarray, values_SH: np.ndarray) -> np.ndarray:
    """What one query reads of one row's source."""
    weights = {name: value.detach().numpy() for name, value in reader.attention.named_parameters()}  # pyright: ignore
    if "fit.weight" in weights:
        values_SH = values_SH @ weights["fit.weight"].T + weights["fit.bias"]
    if not len(values_SH):
        return np.zeros(values_SH.shape[1])
    match reader.reading.attention:
        case "additive":
            query_projection = weights["score.from_query.weight"] @ query_H
            keys_projection = values_SH @ weights["score.from_key.weight"].T + weights["score.from_key.bias"]
            score_S = np.tanh(query_projection + keys_projection) @ weights["score.v_H"]
        case "scaled":
            score_S = values_SH @ query_H / np.sqrt(len(query_H))
        case _:
            score_S = values_SH @ query_H
    share_S = np.exp(score_S - score_S.max())
    return share_S / share_S.sum() @ values_SH


def joined(reader: AttentionDecoder, context: np.ndarray, y: np.ndarray) -> np.ndarray:
    assert reader.join is not None
    return np.tanh(reader.join.weight.detach().numpy() @ np.concatenate([context, y]))


@every_inner
@every_attention
@pytest.mark.parametrize("equal", [False, True])
@torch.no_grad()
def test_attention_after_each_step(name: str, attention: str, equal: bool):
    """Luong et al. 2015, equation 5, on what the architecture gives by itself."""
    width = INNERS[name][1].width if equal else MEMORY
    reader, memory = reading(name, attention, memory=width), source(width=width)
    start = reader.start(len(LENGTHS), memory)
    given_BTH, _ = reader(inputs(), start)
    y_BTH, _ = reader.inner(inputs(), start.inner)
    for row, length in enumerate(LENGTHS):
        values_SH = memory.values_BSH[row, :length].numpy()
        for t, y_H in enumerate(y_BTH[row].numpy()):
            expected_H = joined(reader, written_out(reader, y_H, values_SH), y_H)
            np.testing.assert_allclose(given_BTH[row, t], expected_H, atol=1e-12)


def asked_with(state: Any, last_BH: Tensor) -> Tensor:
    """The top layer's hidden vector, or the last output where there is none."""
    match state:
        case RecurrentState():
            return state.cells[-1].h_BH
        case LstmAttentionState():
            return state.recurrent.cells[-1].h_BH
    return last_BH


@every_inner
@every_attention
@pytest.mark.parametrize("equal", [False, True])
@torch.no_grad()
def test_attention_before_each_step(name: str, attention: str, equal: bool):
    """Bahdanau et al. 2014, appendix A.2.2, around single steps of the architecture."""
    width = HIDDEN if equal else MEMORY
    reader, memory, x_BTD = reading(name, attention, "before", width), source(width=width), inputs()
    start = reader.start(len(LENGTHS), memory)
    given_BTH, _ = reader(x_BTD, start)
    inner, last_BH = start.inner, torch.zeros(len(LENGTHS), reader.width, dtype=torch.float64)
    for t in range(x_BTD.shape[1]):
        query_BH = asked_with(inner, last_BH).numpy()
        context_BC = np.stack([
            written_out(reader, query_BH[row], memory.values_BSH[row, :length].numpy())
            for row, length in enumerate(LENGTHS)
        ])  # fmt: skip
        last_BH, inner = reader.inner.step(torch.cat([x_BTD[:, t], torch.from_numpy(context_BC)], dim=1), inner)
        for row in range(len(LENGTHS)):
            expected_H = joined(reader, context_BC[row], last_BH[row].numpy())
            np.testing.assert_allclose(given_BTH[row, t], expected_H, atol=1e-12)


@torch.no_grad()
def test_a_gru_that_reads_first_is_torchs_own_cell_with_attention_around_it():
    reader, memory, x_BTD = reading("gru", "additive", "before", layers=1), source(), inputs()
    inner: Any = reader.inner
    cell = nn.GRUCell(INPUTS + MEMORY, HIDDEN, dtype=torch.float64)
    cell.load_state_dict(inner.cells[0].state_dict())
    given_BTH, after = reader(x_BTD, reader.start(len(LENGTHS), memory))
    linear: Any = reader.starts[0]
    for row, length in enumerate(LENGTHS):
        h_H = torch.tanh(linear(memory.summary_BH[row]))
        for t in range(x_BTD.shape[1]):
            context_C = written_out(reader, h_H.numpy(), memory.values_BSH[row, :length].numpy())
            h_H = cell(torch.cat([x_BTD[row, t], torch.from_numpy(context_C)]), h_H)
            np.testing.assert_allclose(given_BTH[row, t], joined(reader, context_C, h_H.numpy()), atol=1e-12)
        torch.testing.assert_close(after.inner.cells[0].h_BH[row], h_H)


# --- what it starts from --------------------------------------------------------------------------------------------


@every_inner
def test_every_vector_of_the_start_is_made_of_the_summary(name: str):
    reader, memory = reading(name, "additive"), source()
    start, zeros = reader.start(len(LENGTHS), memory), reader.inner.start(len(LENGTHS))
    linears: list[Any] = list(reader.starts)
    vectors = [leaf for leaf in start.inner.tensors() if leaf.dim() == 2]
    expected = [torch.tanh(memory.summary_BH @ linear.weight.T + linear.bias) for linear in linears]
    assert len(expected) == len(INNERS[name][1].start_shapes(INPUTS))
    for actual, expected_BH in zip(vectors, expected, strict=True):
        torch.testing.assert_close(actual, expected_BH)
    for leaf, zero in zip(start.inner.tensors(), zeros.tensors(), strict=True):
        assert leaf.shape == zero.shape
        assert leaf.dim() == 2 or torch.equal(leaf, zero)


def test_without_attention_it_is_the_architecture_from_another_start():
    reader, memory = reading("lstm", "none"), source()
    start = reader.start(len(LENGTHS), memory)
    assert start.source is None
    assert torch.equal(reader(inputs(), start)[0], reader.inner(inputs(), start.inner)[0])


@every_attention
@pytest.mark.parametrize("attends", ["after", "before"])
def test_of_an_empty_source_nothing_is_read(attention: str, attends: str):
    reader, memory = reading("lstm", attention, attends), source()
    start = reader.start(len(LENGTHS), memory)
    x_BTD = inputs()
    if attends == "before":
        width = reader.reading.context_width(INNERS["lstm"][1], MEMORY)
        x_BTD = torch.cat([x_BTD, x_BTD.new_zeros(*x_BTD.shape[:2], width)], dim=2)
    y_BTH, _ = reader.inner(x_BTD, start.inner)
    assert reader.join is not None
    expected_TH = torch.tanh(y_BTH[2] @ reader.join.weight[:, -reader.width :].T)
    torch.testing.assert_close(reader(inputs(), start)[0][2], expected_TH)


def projections(backbone: nn.Module) -> list[nn.Module]:
    """What a source goes through."""
    return [m for name, m in backbone.named_modules() if name.endswith(("cross.into", "score.from_key", "fit"))]


@pytest.mark.parametrize("attends", ["after", "before"])
@pytest.mark.parametrize("attention", ["dot", "additive", "itself"])
def test_a_source_is_projected_once(attention: str, attends: str):
    if attention == "itself":
        backbone: Any = Transformer(TransformerSettings(hidden=8, heads=2, layers=3), INPUTS, MEMORY).double()
    else:
        backbone = reading("lstm", attention, attends)
    calls: list[nn.Module] = []
    for module in projections(backbone):
        module.register_forward_hook(lambda module, *_: calls.append(module))
    state = backbone.start(len(LENGTHS), source())
    _, state = backbone(inputs(), state)
    backbone.step(inputs()[:, 0], state)
    assert calls and calls == projections(backbone)


@pytest.mark.parametrize("attention", ["none", "additive", "itself"])
def test_what_a_source_says_can_be_learnt(attention: str):
    """The inputs are the same for all four."""
    torch.manual_seed(0)
    settings = TransformerSettings(hidden=8, heads=2, layers=1)
    backbone: Any = Transformer(settings, INPUTS, MEMORY) if attention == "itself" else reading("gru", attention)
    backbone, output = backbone.float(), nn.Linear(backbone.width, 4)
    values_BSH, target_BT = torch.randn(4, 3, MEMORY), torch.tensor([[0, 1, 2], [3, 0, 1], [2, 2, 0], [1, 3, 3]])
    memory = Memory(values_BSH, torch.ones(4, 3, dtype=torch.bool), values_BSH.mean(1))
    x_BTD = torch.randn(1, 3, INPUTS).expand(4, -1, -1)
    optimizer = torch.optim.Adam([*backbone.parameters(), *output.parameters()], lr=0.02)
    loss = torch.tensor(torch.inf)
    for _ in range(300):
        logits_BTV = output(backbone(x_BTD, backbone.start(4, memory))[0])
        loss = nn.functional.cross_entropy(logits_BTV.flatten(0, 1), target_BT.flatten())
        if loss < 0.1:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.1


def test_a_state_holds_what_was_read_and_nothing_that_is_not_needed():
    memory = source()
    products: AttentionDecoderState = reading("lstm", "dot").start(len(LENGTHS), memory)
    assert products.source is not None and products.source.keys_BSH is None
    assert products.last_BH is None
    asking = reading("feedforward", "dot", "before").start(len(LENGTHS), memory)
    assert asking.last_BH is not None and not asking.last_BH.any()


# --- what it says and refuses ---------------------------------------------------------------------------------------


def test_what_has_no_state_needs_attention():
    with pytest.raises(UsageError, match=r"start state is fixed.*needs attention"):
        reading("feedforward", "none")


def test_what_reads_ahead_does_not_write():
    with pytest.raises(UsageError, match="bidirectional=false"):
        reading("lstm", "additive", bidirectional=True)


def test_limits_are_those_of_the_inner_one():
    reader = reading("lstm-attention", "dot")
    assert (reader.limit, reader.context, reader.carries) == (None, None, True)
    assert reading("lstm-attention", "dot", context=3).context == 3


def test_the_form_is_named():
    assert reading("lstm", "additive").implementation == f"{Lstm.fast}, then our compiled attention over the source"
    assert reading("gru", "dot").implementation == f"{Gru.fast}, then torch's attention kernel over the source"
    assert reading("lstm", "none").implementation == Lstm.fast
    assert reading("lstm", "dot", "before").implementation.startswith("position by position")
    for attention in ("none", "dot"):
        assert (
            reading("lstm", attention, implementation="plain").implementation == "the equations, position by position"
        )


def test_settings_import_without_torch():
    program = (
        "import sys; from seqlab.backbones.attention_decoder_settings import AttentionDecoderSettings\n"
        "from seqlab.registry import BACKBONES\n"
        "assert AttentionDecoderSettings().core_parameters(BACKBONES.settings('lstm')(), 8, 8) > 0\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
