"""Translators as graphs, against the models that they were written from; sources are padded."""

from typing import Any

import numpy as np
import pytest
import torch
from onnx_sessions import run, session

from seqlab.config import VocabSizes, build_settings
from seqlab.errors import UsageError
from seqlab.exporters.onnx.translator import encoder_graph, target_graph, target_step_graph
from seqlab.exporters.onnx.write import initial_state
from seqlab.models.translator import SourceBatch
from seqlab.runs.load import build_model

V = 31
BY_ARCH = [(arch, {}) for arch in ("feedforward", "rnn", "gru", "lstm", "lstm-attention", "transformer")]
BY_OPTION: list[tuple[str, dict[str, Any]]] = [
    ("lstm", {"task.attention": "none", "backbone.layers": 2, "decoder.layers": 2}),
    ("lstm", {"task.attention": "dot", "task.shared_vocabulary": False, "model.tie_embeddings": False}),
    ("gru", {"task.attention": "scaled"}),
    ("lstm", {"task.attends": "before", "decoder.layers": 2}),
    ("feedforward", {"task.attends": "before"}),
    ("transformer", {"decoder.context": 5, "decoder.norm_position": "after", "decoder.positions": "sinusoidal"}),
    ("transformer", {"backbone.qk_norm": True, "decoder.qk_norm": True, "model.logit_cap": 2.0}),
]
CASES = [*BY_ARCH, *BY_OPTION]


def built(arch: str, more: dict[str, Any]) -> Any:
    torch.manual_seed(0)
    settings: dict[str, Any] = {"task.name": "translate", "backbone.name": arch, "decoder.name": arch}
    for side in ("backbone", "decoder"):
        settings |= {
            f"{side}.hidden": 24,
            **({f"{side}.heads": 2, f"{side}.layers": 2} if arch == "transformer" else {}),
        }
    settings["model.embedding"] = 16
    changes = [*settings.items(), *more.items()]
    return build_model(build_settings({"corpus": {"source": ["none"]}}, changes), VocabSizes(V, V, 0, 0)).eval()


def sources(B: int, S: int) -> tuple[SourceBatch, dict[str, np.ndarray]]:
    tokens_BS = torch.randint(0, V, (B, S), generator=torch.Generator().manual_seed(S))
    lengths_B = torch.tensor([S, max(1, S // 2), 1][:B])
    source = SourceBatch(tokens_BS, torch.arange(S) < lengths_B[:, None])
    return source, {"source": tokens_BS.numpy(), "source_lengths": lengths_B.numpy()}


@pytest.mark.parametrize(("arch", "more"), CASES, ids=str)
def test_step_by_step(arch: str, more: dict[str, Any]) -> None:
    model = built(arch, more)
    encoder, step = session(encoder_graph(model)), session(target_step_graph(model))
    for B, S, T in ((1, 1, 2), (3, 9, 12), (2, 20, 7)):
        source, inputs = sources(B, S)
        tokens_BT = torch.randint(0, V, (B, T), generator=torch.Generator().manual_seed(T))
        with torch.inference_mode():
            logits_BTV = model(source, tokens_BT).numpy()
        state = run(encoder, inputs)
        for tensor in step.get_inputs():
            if tensor.name != "token" and tensor.name not in state:
                state[tensor.name] = initial_state(tensor, B)
        for t in range(T):
            after = run(step, {"token": tokens_BT[:, t].numpy(), **state})
            np.testing.assert_allclose(after["logits"], logits_BTV[:, t], atol=1e-4)
            state |= {name.removesuffix("_next"): value for name, value in after.items() if name != "logits"}


@pytest.mark.parametrize(("arch", "more"), CASES, ids=str)
def test_whole_targets(arch: str, more: dict[str, Any]) -> None:
    model = built(arch, more)
    if more.get("task.attends") == "before":
        with pytest.raises(UsageError, match="token by token"):
            target_graph(model)
        return
    runs = session(target_graph(model))
    for B, S, T in ((1, 1, 2), (3, 9, 12), (2, 20, 7)):
        source, inputs = sources(B, S)
        tokens_BT = torch.randint(0, V, (B, T), generator=torch.Generator().manual_seed(T))
        with torch.inference_mode():
            logits_BTV = model(source, tokens_BT).numpy()
        np.testing.assert_allclose(run(runs, {**inputs, "tokens": tokens_BT.numpy()})["logits"], logits_BTV, atol=1e-4)
