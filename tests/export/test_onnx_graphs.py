"""Graphs run by onnxruntime, against the models that they were written from."""

from typing import Any

import numpy as np
import pytest
import torch
from onnx_sessions import run, session

from seqlab.backbones.recurrent import Lstm
from seqlab.config import VocabSizes, build_settings
from seqlab.errors import UsageError
from seqlab.exporters.onnx.language import sequence_graph, step_graph
from seqlab.exporters.onnx.write import initial_state
from seqlab.registry import BACKBONES
from seqlab.runs.load import build_model

V = 31
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "feedforward": [{}, {"span": 1}],
    "rnn": [{"layers": 2, "residual": True}, {"activation": "sigmoid"}, {"activation": "relu"}],
    "gru": [{"layers": 2, "residual": True}, {"reset": "before"}],
    "lstm": [{"layers": 2, "residual": True}],
    "lstm-attention": [
        {},
        {"score": "dot", "combine": "add", "context": 5},
        {"score": "scaled", "combine": "context", "layers": 2, "context": 1},
        {"bidirectional": True, "layers": 2},
        {"bidirectional": True, "score": "dot", "combine": "add"},
    ],
    "transformer": [
        {"context": 7},
        {"context": 1, "positions": "none"},
        {"positions": "learned", "activation": "swiglu", "norm": "rms", "context": 50},
        {"positions": "sinusoidal", "norm_position": "after", "activation": "relu", "scale_input": True},
        {"qk_norm": True, "activation": "relu2", "context": 9},
    ],
    "transformer-encoder": [{}, {"segments": 2, "input_norm": True, "positions": "learned"}],
}
EXPORTED = [name for name in BACKBONES if BACKBONES.load(name).declares("onnx_backbone")]
CASES = [(name, variant) for name in EXPORTED for variant in VARIANTS.get(name, [{}])]


def _is_causal(name: str, variant: dict[str, Any]) -> bool:
    return name != "transformer-encoder" and not variant.get("bidirectional")


def built(name: str, variant: dict[str, Any], tie_embeddings: bool) -> Any:
    torch.manual_seed(0)
    small = {"heads": 2, "layers": 2} if "transformer" in name else {}
    task = [] if _is_causal(name, variant) else [("task.name", "masked")]
    backbone = {"name": name, "hidden": 24, **small, **variant}
    changes = [("model.embedding", 16), ("model.tie_embeddings", tie_embeddings), *task]
    changes += [(f"backbone.{key}", value) for key, value in backbone.items()]
    return build_model(build_settings({"corpus": {"source": ["none"]}}, changes), VocabSizes(V, V, 256, 2)).eval()


@pytest.mark.parametrize("tie_embeddings", [False, True])
@pytest.mark.parametrize(("name", "variant"), CASES, ids=str)
def test_whole_sequences(name: str, variant: dict[str, Any], tie_embeddings: bool) -> None:
    model = built(name, variant, tie_embeddings)
    runs = session(sequence_graph(model))
    for B, T in ((1, 1), (3, 9), (2, 34)):
        tokens_BT = torch.randint(0, V, (B, T), generator=torch.Generator().manual_seed(T))
        inputs = {"tokens": tokens_BT.numpy()}
        mask_BT = None
        if not model.backbone.causal:
            lengths_B = torch.tensor([T, max(1, T // 2), 1][:B])
            inputs["lengths"] = lengths_B.numpy()
            mask_BT = torch.arange(T) < lengths_B[:, None]
        (ours_BTV,) = runs.run(None, inputs)
        with torch.inference_mode():
            logits_BTV = model(tokens_BT, None, mask_BT)[0].numpy()
        kept_BT = np.ones((B, T), bool) if mask_BT is None else mask_BT.numpy()
        np.testing.assert_allclose(ours_BTV[kept_BT], logits_BTV[kept_BT], atol=1e-4)


@pytest.mark.parametrize(("name", "variant"), [case for case in CASES if _is_causal(*case)], ids=str)
def test_step_by_step(name: str, variant: dict[str, Any]) -> None:
    model = built(name, variant, tie_embeddings=False)
    runs = session(step_graph(model))
    for B, T in ((1, 3), (3, 12), (2, 30)):
        tokens_BT = torch.randint(0, V, (B, T), generator=torch.Generator().manual_seed(T))
        with torch.inference_mode():
            logits_BTV = model(tokens_BT)[0].numpy()
        state = {tensor.name: initial_state(tensor, B) for tensor in runs.get_inputs() if tensor.name != "token"}
        for t in range(T):
            outputs = run(runs, {"token": tokens_BT[:, t].numpy(), **state})
            np.testing.assert_allclose(outputs["logits"], logits_BTV[:, t], atol=1e-4)
            state = {key: outputs[f"{key}_next"] for key in state}


def test_an_architecture_without_onnx_operations_is_refused_with_a_sentence() -> None:
    class Foreign(Lstm):
        """Inherits the equations, but declares no ONNX backbone of its own."""

    model = built("lstm", {}, tie_embeddings=False)
    model.backbone.__class__ = Foreign
    with pytest.raises(UsageError, match=r"the architecture Foreign cannot be exported to ONNX.*OnnxBackbone"):
        sequence_graph(model)
