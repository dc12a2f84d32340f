"""Classifiers and taggers as graphs, against the models that they were written from; rows are padded."""

from typing import Any

import numpy as np
import pytest
import torch
from onnx_sessions import run, session

from seqlab.config import VocabSizes, build_settings
from seqlab.exporters.onnx.examples import classifier_graph, tagger_graph
from seqlab.registry import BACKBONES
from seqlab.runs.load import build_model

EXPORTED = [name for name in BACKBONES if BACKBONES.load(name).declares("onnx_backbone")]
SIZES = VocabSizes(31, 31, 20, 4)
SHAPES = [(1, 1), (3, 9), (2, 34)]


def built(task: str, arch: str, more: dict[str, Any]) -> Any:
    torch.manual_seed(0)
    small: dict[str, Any] = {"heads": 2, "layers": 2} if "transformer" in arch else {}
    settings = {"task.name": task, "backbone.name": arch, "backbone.hidden": 24, "model.embedding": 16}
    settings |= {f"backbone.{key}": value for key, value in small.items()}
    return build_model(
        build_settings({"corpus": {"source": ["none"]}}, [*settings.items(), *more.items()]), SIZES
    ).eval()


def answered(graph: Any, **inputs: torch.Tensor) -> list[Any]:
    return list(run(session(graph), {name: tensor.numpy() for name, tensor in inputs.items()}).values())


def padded(B: int, T: int, symbols: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    tokens_BT = torch.randint(0, symbols, (B, T), generator=torch.Generator().manual_seed(T))
    lengths_B = torch.tensor([T, max(1, T // 2), 1][:B])
    return tokens_BT, lengths_B, torch.arange(T) < lengths_B[:, None]


@pytest.mark.parametrize("pooling", ["last", "mean", "max", "attention"])
@pytest.mark.parametrize("arch", EXPORTED)
def test_classifiers(arch: str, pooling: str) -> None:
    model = built("classify", arch, {"task.pooling": pooling})
    graph = classifier_graph(model)
    for B, T in SHAPES:
        tokens_BT, lengths_B, mask_BT = padded(B, T, 31)
        with torch.inference_mode():
            expected_BK = model(tokens_BT, mask_BT).numpy()
        np.testing.assert_allclose(answered(graph, tokens=tokens_BT, lengths=lengths_B)[0], expected_BK, atol=1e-4)


@pytest.mark.parametrize("arch", EXPORTED)
@pytest.mark.parametrize("more", [{"task.char_encoder": "lstm"}, {"task.output_layer": "crf"}], ids=str)
def test_taggers_of_words_with_their_spelling(arch: str, more: dict[str, Any]) -> None:
    model = built("tag", arch, {"tokenizer.name": "word", **more})
    graph = tagger_graph(model, pieces=False)
    for B, T in SHAPES:
        tokens_BT, lengths_B, mask_BT = padded(B, T, 31)
        characters_BTC = torch.randint(0, 20, (B, T, 6), generator=torch.Generator().manual_seed(7))
        lengths_BT = torch.randint(1, 7, (B, T), generator=torch.Generator().manual_seed(8))
        mask_NC = torch.arange(6) < lengths_BT.view(-1, 1)
        words_BT = torch.arange(B * T).view(B, T)
        with torch.inference_mode():
            expected_BTK = model(tokens_BT, mask_BT, words_BT, (characters_BTC.view(B * T, 6), mask_NC)).numpy()
        characters = {"characters": characters_BTC, "character_lengths": lengths_BT}
        outputs = answered(graph, tokens=tokens_BT, lengths=lengths_B, **characters)
        np.testing.assert_allclose(outputs[0][mask_BT.numpy()], expected_BTK[mask_BT.numpy()], atol=1e-4)
        if "task.output_layer" in more:
            np.testing.assert_array_equal(outputs[1], model.chain.transitions_KK.detach().numpy())


@pytest.mark.parametrize("arch", EXPORTED)
def test_taggers_of_pieces(arch: str) -> None:
    model = built("tag", arch, {"tokenizer.name": "bpe"})
    tokens_BT, lengths_B, mask_BT = padded(2, 12, 31)
    ends_BW = torch.tensor([[1, 4, 11], [0, 3, 5]])
    with torch.inference_mode():
        expected_BWK = model(tokens_BT, mask_BT, ends_BW=ends_BW).numpy()
    outputs = answered(tagger_graph(model, pieces=True), tokens=tokens_BT, lengths=lengths_B, ends=ends_BW)
    np.testing.assert_allclose(outputs[0], expected_BWK, atol=1e-4)
