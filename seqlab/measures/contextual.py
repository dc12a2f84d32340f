"""Sentences in an encoder: a contextual vector for each word, and the attention of each head."""

from typing import TYPE_CHECKING

import numpy as np

from seqlab.contracts import Trace
from seqlab.measures.heatmaps import draw_heads
from seqlab.measures.measurement import MeasureContext, Measurement

if TYPE_CHECKING:
    from seqlab.runs.run import Run

FEATURES = 6  # of a vector, printed


def contextual(run: "Run", context: MeasureContext) -> Measurement:
    """Every sentence of the corpus as text; the attention of the first sentence as one picture per layer."""
    sentences = run.text("train").splitlines() + run.text("validation").splitlines()
    data, blocks, figures = {}, [], []
    for sentence in sentences:
        words, y_TH, heads_LNTS = encoded(run, sentence)
        data[sentence] = {"tokens": words, "embeddings": y_TH.round(4).tolist()}
        blocks.append(sentence)
        for word, vector_H in zip(words, y_TH, strict=True):
            numbers = "  ".join(f"{value:+.3f}" for value in vector_H[:FEATURES])
            blocks[-1] += f"\n  {word:10} {numbers}  ..."
        if not figures:
            for layer, weights_NTS in enumerate(heads_LNTS, 1):
                figures.append(context.folder / f"heads-layer-{layer}.png")
                draw_heads(weights_NTS, words, f"layer {layer}: {sentence}", figures[-1])
    return Measurement(data, "\n\n".join(blocks), figures)


def encoded(run: "Run", sentence: str) -> tuple[list[str], np.ndarray, list[np.ndarray]]:
    """The words, their vectors, and the attention weights of each layer."""
    import torch

    ids = run.tokenizer.encode(sentence)
    trace = Trace()
    with torch.inference_mode():
        y_1TH, _ = run.model.backbone(run.model.embed(torch.as_tensor(ids)[None]), None, None, trace)
    words = [run.tokenizer.decode([int(token)]).strip() for token in ids]
    names = [name for name, recorded in run.model.records.items() if recorded.kind == "attention"]
    weights = [trace[name][0].transpose(0, 1).numpy() for name in names]
    return words, y_1TH[0].numpy(), weights
