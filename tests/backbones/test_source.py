"""A source's memory of every architecture, and the Transformer that reads one beside the one that does not."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from seqlab.attention.multihead import CrossAttention
from seqlab.backbones.attention_decoder import make_memory
from seqlab.backbones.transformer import Transformer
from seqlab.backbones.transformer_settings import TransformerSettings
from seqlab.contracts import Memory, Trace
from seqlab.registry import BACKBONES

INPUTS, HIDDEN, MEMORY = 5, 4, 3


def vectors(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("lengths", [None, [4, 1, 3]], ids=str)
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("name", ["rnn", "gru", "lstm"])
def test_the_summary_of_a_recurrence_is_its_last_state(name: str, bidirectional: bool, layers: int, lengths: Any):
    chosen = BACKBONES.settings(name)(hidden=HIDDEN, layers=layers, bidirectional=bidirectional)
    encoder = BACKBONES.load(name)(chosen, INPUTS).double()
    mask_BS = None if lengths is None else torch.arange(4) < torch.tensor(lengths)[:, None]
    y_BSH, state = encoder(vectors(3, 4, INPUTS), None, mask_BS)
    memory = make_memory(encoder, y_BSH, mask_BS)
    top = [cell.h_BH for cell in state.cells[-chosen.directions :]]
    torch.testing.assert_close(memory.summary_BH, torch.cat(top, dim=1))
    assert memory.values_BSH is y_BSH
    assert torch.equal(memory.mask_BS, torch.ones(3, 4, dtype=torch.bool) if mask_BS is None else mask_BS)


@pytest.mark.parametrize("name", ["feedforward", "transformer", "transformer-encoder"])
def test_the_summary_of_what_is_no_recurrence_is_the_mean(name: str):
    encoder = BACKBONES.load(name)(BACKBONES.settings(name)(hidden=8), INPUTS).double()
    mask_BS = torch.arange(4) < torch.tensor([4, 1, 2])[:, None]
    y_BSH, _ = encoder(vectors(3, 4, INPUTS), None, mask_BS)
    expected = [y_BSH[0].mean(0), y_BSH[1, 0], y_BSH[2, :2].mean(0)]
    torch.testing.assert_close(make_memory(encoder, y_BSH, mask_BS).summary_BH, torch.stack(expected))


@settings(max_examples=50)
@given(
    name=st.sampled_from(list(BACKBONES)),
    lengths=st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any),
    both_ways=st.booleans(),
)
@torch.no_grad()
def test_every_architecture_makes_a_memory_whose_rows_are_as_if_alone(name: str, lengths: list[int], both_ways: bool):
    torch.manual_seed(0)
    known = BACKBONES.settings(name).model_fields
    options = {"bidirectional": both_ways} if "bidirectional" in known else {}
    chosen = BACKBONES.settings(name)(hidden=8, **options)
    encoder = BACKBONES.load(name)(chosen, INPUTS).double().eval()
    x_BSD = vectors(len(lengths), max(lengths), INPUTS)
    mask_BS = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    y_BSH, _ = encoder(x_BSD, None, mask_BS)
    memory = make_memory(encoder, y_BSH, mask_BS)
    assert memory.summary_BH.shape == (len(lengths), chosen.width)
    for row, length in enumerate(lengths):
        if not length:
            assert not memory.summary_BH[row].any()
            continue
        alone = make_memory(encoder, encoder(x_BSD[row : row + 1, :length])[0])
        torch.testing.assert_close(memory.summary_BH[row], alone.summary_BH[0])
        torch.testing.assert_close(memory.values_BSH[row, :length], alone.values_BSH[0])
        assert alone.mask_BS.all()


@pytest.mark.parametrize("implementation", ["fused", "plain"])
def test_a_transformer_with_an_empty_source_is_the_one_that_reads_none(implementation: Any):
    chosen = TransformerSettings(hidden=8, heads=2, layers=2, implementation=implementation)
    reads, alone = Transformer(chosen, INPUTS, MEMORY).double(), Transformer(chosen, INPUTS).double()
    x_BTD, mask_BS = vectors(3, 5, INPUTS), torch.arange(4) < torch.tensor([[4], [1], [0]])
    memory = Memory(vectors(3, 4, MEMORY, seed=1), mask_BS, vectors(3, MEMORY, seed=2))
    shared = {name: value for name, value in reads.state_dict().items() if ".cross" not in name}
    alone.load_state_dict(shared)
    given_BTH, _ = reads(x_BTD, reads.start(3, memory))
    expected_BTH, _ = alone(x_BTD)
    torch.testing.assert_close(given_BTH[2], expected_BTH[2])
    assert not torch.allclose(given_BTH[:2], expected_BTH[:2])


def test_a_transformer_that_reads_nothing_has_the_weights_that_it_always_had():
    kinds = [f"{name}.{kind}" for name in ("attention.into", "attention.out") for kind in ("weight", "bias")]
    kinds += [f"{name}.{kind}" for name in ("feedforward.up", "feedforward.down") for kind in ("weight", "bias")]
    kinds += [f"norms.{index}.{kind}" for index in (0, 1) for kind in ("weight", "bias")]
    expected = ["stack.enter.weight", "stack.enter.bias", *(f"stack.blocks.0.{kind}" for kind in kinds)]
    backbone = Transformer(TransformerSettings(hidden=8, heads=2, layers=1), INPUTS)
    assert list(backbone.state_dict()) == [*expected, "stack.last.weight", "stack.last.bias"]
    assert len(backbone.start(2).tensors()) == 3


@pytest.mark.parametrize("plain", [False, True])
def test_weights_of_a_source_are_dropped_in_training_and_right_on_average(plain: bool):
    torch.manual_seed(0)
    rows, share = 20_000, 0.5
    cross = CrossAttention(8, MEMORY, 2, share).double()
    mask_1S = torch.tensor([[True, True, True, False]])
    held = [part.expand(rows, -1, -1) for part in cross.project(vectors(1, 4, MEMORY), mask_1S)]
    x_BTD = vectors(1, 1, 8, seed=1).expand(rows, -1, -1)
    with torch.no_grad():
        dropped_BTD, expected_BTD = (
            cross.train(training)(x_BTD, held, mask_1S.expand(rows, -1), Trace() if plain else None)
            for training in (True, False)
        )
    kinds = dropped_BTD[:, 0].unique(dim=0)
    assert len(kinds) == (2**3) ** 2  # each of three weights of each of two heads, kept or not
    torch.testing.assert_close(dropped_BTD.mean(0), expected_BTD[0], atol=0.03, rtol=0)
    torch.testing.assert_close(expected_BTD, expected_BTD[:1].expand(rows, -1, -1))
