import math
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

import seqlab
from seqlab.cells.lstm import LstmCell
from seqlab.config import ModelSettings, RunSettings, resolve
from seqlab.errors import UsageError
from seqlab.models import language_model
from seqlab.models.language_model import LanguageModel
from seqlab.models.masked_language_model import MaskedLanguageModel
from seqlab.models.parameter_count import parameters
from seqlab.registry import BACKBONES
from seqlab.runs import tensors
from seqlab.runs.checkpoint import load_weights, weights_of
from seqlab.runs.load import build_model

ARCHS = [name for name in BACKBONES if BACKBONES.settings(name)().causal]
RECURRENT = ["rnn", "gru", "lstm"]
VOCABULARY = 11


def settings_of(arch: str = "lstm", hidden: int = 8, layers: int = 1, seed: int = 0, **model: Any) -> RunSettings:
    backbone = {"name": arch, "hidden": hidden, "layers": layers}
    return resolve({"corpus": {"source": ["none"]}, "backbone": backbone, "model": model, "train": {"seed": seed}})


def make(arch: str = "lstm", vocab_size: int = VOCABULARY, **others: Any) -> LanguageModel:
    model = build_model(settings_of(arch, **others), vocab_size).eval()
    assert isinstance(model, LanguageModel)
    return model


def tokens(*shape: int) -> torch.Tensor:
    return torch.randint(VOCABULARY, shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("tie_embeddings", [False, True])
@pytest.mark.parametrize("arch", ARCHS)
def test_reading_prompts_of_unequal_length(arch: str, tie_embeddings: bool):
    model, tokens_BT = make(arch, layers=2, tie_embeddings=tie_embeddings), tokens(4, 7)
    lengths = [7, 1, 4, 6]
    logits_BV, state = model.read(tokens_BT, torch.tensor(lengths))
    for row, length in enumerate(lengths):
        alone_1TV, after = model(tokens_BT[row : row + 1, :length])
        torch.testing.assert_close(logits_BV[row], alone_1TV[0, -1], atol=1e-5, rtol=0)
        # joined, both have the same room along time, whatever the longest row of the batch needed
        for both in type(state).concat([state.select(torch.tensor([row])), after]).tensors():
            torch.testing.assert_close(both[0], both[1], atol=1e-5, rtol=0)


@pytest.mark.parametrize("arch", ARCHS)
def test_reading_in_chunks_is_reading_at_once(arch: str, monkeypatch: pytest.MonkeyPatch):
    model, tokens_BT, lengths_B = make(arch, layers=2), tokens(4, 23), torch.tensor([23, 1, 9, 16])
    whole_BV, whole = model.read(tokens_BT, lengths_B)
    monkeypatch.setattr(language_model, "PREFILL_TOKENS", 32)  # chunks of eight
    chunked_BV, chunked = model.read(tokens_BT, lengths_B)
    torch.testing.assert_close(chunked_BV, whole_BV, atol=1e-5, rtol=0)
    for after, expected in zip(chunked.tensors(), whole.tensors(), strict=True):
        torch.testing.assert_close(after, expected, atol=1e-5, rtol=0)
    next_B = torch.tensor([1, 2, 3, 4])
    torch.testing.assert_close(model.step(next_B, chunked)[0], model.step(next_B, whole)[0], atol=1e-5, rtol=0)


def test_a_long_prompt_takes_memory_for_a_chunk_not_for_all_pairs():
    """Attention over 20,000 tokens at once would need a mask of 400 MB and scores of 1.6 GB."""
    model = make("transformer")
    shapes: list[int] = []
    model.backbone.register_forward_pre_hook(lambda module, inputs: shapes.append(inputs[0].shape[1]))
    with torch.inference_mode():
        model.read(tokens(1, 20_000), torch.tensor([20_000]))
    assert sum(shapes) == 20_000 and max(shapes) <= language_model.PREFILL_TOKENS


@pytest.mark.parametrize("arch", ARCHS)
def test_reading_is_the_last_of_forward_and_steps_go_on_from_it(arch: str):
    model, tokens_BT = make(arch), tokens(3, 6)
    logits_BTV, _ = model(tokens_BT)
    logits_BV, state = model.read(tokens_BT[:, :4], torch.tensor([4, 4, 4]))
    torch.testing.assert_close(logits_BV, logits_BTV[:, 3], atol=1e-5, rtol=0)
    for t in (4, 5):
        logits_BV, state = model.step(tokens_BT[:, t], state)
        torch.testing.assert_close(logits_BV, logits_BTV[:, t], atol=1e-5, rtol=0)
    assert state.lengths_B.tolist() == [6, 6, 6]


def test_logits_are_embedding_backbone_and_projection():
    model, tokens_BT = make("gru", embedding=6), tokens(2, 5)
    y_BTH, _ = model.backbone(model.embedding.weight[tokens_BT])
    expected_BTV = y_BTH @ model.output.weight.T + model.output.bias
    torch.testing.assert_close(model(tokens_BT)[0], expected_BTV)


def test_tied_weights_are_one_tensor():
    model = make(tie_embeddings=True, embedding=8)
    assert model.output.weight is model.embedding.weight
    assert "output.weight" not in weights_of(model)
    before = model.output.weight.detach().clone()
    logits_BTV, _ = model(tokens(2, 5))
    cross_entropy(logits_BTV.flatten(0, 1), tokens(10)).backward()
    torch.optim.SGD(model.parameters(), lr=0.5).step()
    assert model.output.weight is model.embedding.weight
    assert not torch.equal(model.output.weight, before)


@pytest.mark.parametrize("embedding", [5, 8])
def test_a_tied_model_scales_its_input_and_projects_its_output_to_the_width_of_the_embedding(embedding: int):
    model = make(tie_embeddings=True, embedding=embedding)
    assert isinstance(model.narrow, nn.Linear)
    assert (model.narrow.in_features, model.narrow.out_features, model.narrow.bias) == (8, embedding, None)
    y_BTH, _ = model.backbone(model.embedding(tokens(2, 3)) * embedding**0.5)
    expected_BTV = y_BTH @ model.narrow.weight.T @ model.embedding.weight.T + model.output.bias
    torch.testing.assert_close(model(tokens(2, 3))[0], expected_BTV)


def test_untied_weights_are_two_tensors():
    model = make(embedding=8)
    assert model.output.weight is not model.embedding.weight
    assert not torch.equal(model.output.weight, model.embedding.weight)


@pytest.mark.parametrize("embedding", [5, 8])
def test_a_tied_model_is_saved_and_loaded_exactly(embedding: int):
    saved, loaded = (make(tie_embeddings=True, embedding=embedding, seed=seed) for seed in (1, 2))
    content = tensors.to_bytes(weights_of(saved))
    load_weights(loaded, tensors.from_bytes(content, Path("weights"), weights_of(loaded)))
    assert torch.equal(loaded(tokens(2, 5))[0], saved(tokens(2, 5))[0])


# --- how weights start ----------------------------------------------------------------------------------------------


def matrices_and_vectors(model: LanguageModel) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
    named = {name: parameter.detach() for name, parameter in model.named_parameters()}
    return [p for p in named.values() if p.dim() > 1], {name: p for name, p in named.items() if p.dim() < 2}


@pytest.mark.parametrize("initialization", ["torch", "orthogonal", "uniform:0.1", "normal:0.01"])
def test_the_forget_gate_starts_open_however_weights_are_drawn(initialization: str):
    model = make("lstm", layers=2, initialization=initialization)
    cells = [module for module in model.modules() if isinstance(module, LstmCell)]
    assert len(cells) == 2
    for cell in cells:
        assert ((cell.bias_ih + cell.bias_hh)[8:16] == 1).all()


@pytest.mark.parametrize("initialization", ["orthogonal", "uniform:0.1", "normal:0.01"])
@pytest.mark.parametrize("arch", RECURRENT)
def test_vectors_start_at_zero(arch: str, initialization: str):
    _, vectors = matrices_and_vectors(make(arch, initialization=initialization))
    for name, vector in vectors.items():
        others = vector.view(4, 8)[[0, 2, 3]] if arch == "lstm" and "bias_ih" in name else vector
        assert not others.any(), name


@pytest.mark.parametrize("tie_embeddings", [False, True])
@pytest.mark.parametrize("arch", RECURRENT)
def test_uniform(arch: str, tie_embeddings: bool):
    for matrix in matrices_and_vectors(make(arch, initialization="uniform:0.1", tie_embeddings=tie_embeddings))[0]:
        assert matrix.abs().max() <= 0.1
        assert matrix.abs().max() > 0.08
        assert matrix.std() == pytest.approx(0.1 / math.sqrt(3), rel=0.3)


@pytest.mark.parametrize("arch", RECURRENT)
def test_normal(arch: str):
    model = make(arch, vocab_size=200, hidden=40, initialization="normal:0.01")
    for matrix in matrices_and_vectors(model)[0]:
        assert matrix.std() == pytest.approx(0.01, rel=0.1)
        assert matrix.abs().max() > 0.025


@pytest.mark.parametrize("arch", RECURRENT)
def test_orthogonal(arch: str):
    """Rows or columns, whichever are fewer, are orthonormal."""
    for matrix in matrices_and_vectors(make(arch, initialization="orthogonal"))[0]:
        short = matrix if len(matrix) <= matrix.shape[1] else matrix.T
        torch.testing.assert_close(short @ short.T, torch.eye(len(short)), atol=1e-5, rtol=0)


def test_torch_leaves_the_layers_as_they_were_made():
    settings = ModelSettings(embedding=6)
    torch.manual_seed(3)
    model = LanguageModel(settings, BACKBONES.load("gru")(BACKBONES.settings("gru")(hidden=4), 6), 9)
    torch.manual_seed(3)
    backbone, embedding, output = nn.GRU(6, 4), nn.Embedding(9, 6), nn.Linear(4, 9)
    expected = [embedding.weight, *backbone.parameters(), *output.parameters()]
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), expected, strict=True))


# --- dropout, building ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["embedding_dropout", "output_dropout"])
def test_dropout_is_for_training_only(place: str):
    share: dict[str, Any] = {place: 0.5}
    model, without = make(**share), make()
    assert torch.equal(model(tokens(2, 5))[0], without(tokens(2, 5))[0])
    model.train()
    assert not torch.equal(model(tokens(2, 5))[0], model(tokens(2, 5))[0])


def test_build():
    model = seqlab.build("lstm", vocab_size=2000, hidden=256, layers=2)
    logits_BTV, state = model(torch.zeros(2, 3, dtype=torch.long))
    assert logits_BTV.shape == (2, 3, 2000)
    assert state.lengths_B.tolist() == [3, 3]
    expected = 2000 * 128 + 4 * 256 * (128 + 256 + 2) + 4 * 256 * (256 + 256 + 2) + 257 * 2000
    assert sum(p.numel() for p in model.parameters()) == expected
    settings = settings_of(hidden=256, layers=2)
    assert parameters(settings, 2000).total == expected


def test_building_is_seeded_and_disturbs_no_other_draw():
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    models = (seqlab.build("gru", vocab_size=9, hidden=4, seed=seed) for seed in (5, 5, 6))
    first, second, third = (cast(LanguageModel, model) for model in models)
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(first.output.weight, second.output.weight)
    assert not torch.equal(first.output.weight, third.output.weight)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"arch": "lstn", "vocab_size": 9}, "did you mean 'lstm'"),
        ({"vocab_size": 9, "hiden": 4}, "did you mean 'hidden'"),
        ({"vocab_size": 0}, "at least 1"),
        ({"vocab_size": 9, "hidden": 0}, "backbone.hidden"),
    ],
)
def test_building_what_cannot_be(wrong: dict[str, object], message: str):
    with pytest.raises(UsageError, match=message):
        seqlab.build(**wrong)  # pyright: ignore[reportArgumentType]


def test_a_backbone_that_reads_ahead_is_refused():
    with pytest.raises(UsageError, match="--task masked"):
        seqlab.build("gru", vocab_size=9, bidirectional=True)
    assert isinstance(seqlab.build("gru", vocab_size=9, bidirectional=True, task="masked"), MaskedLanguageModel)
