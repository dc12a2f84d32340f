"""Embedding texts: sorted by length and padded to each batch's longest, against the same model padded to 512 tokens.

Run `python -m benchmarks.embedding`. The texts are Python's reference and library, a mix of lengths, and if SEQLAB_DATA
has SciFact, its abstracts, which are long, and its claims, which are short. Documents per second on one thread from
interleaved rounds, tokenization included; the vectors of both are compared. `--archs` names other models.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from seqlab.config import VocabSizes, build_settings
from seqlab.data.documents.collection import scifact
from seqlab.data.documents.python_docs import python_api, python_sections
from seqlab.errors import MissingInput
from seqlab.models.pooling import pool
from seqlab.retrieval.embedding import TextEmbedder
from seqlab.runs.directory import RunDirectory
from seqlab.runs.load import build_model
from seqlab.runs.run import Run
from seqlab.tokenization.bpe import BpeSettings, BpeTokenizer
from seqlab.tokenization.vocabulary import Vocabulary

PADDED, BATCH, HIDDEN = 512, 32, 256
ARCHS = ("lstm", "transformer-encoder")


def realistic_texts(count: int) -> dict[str, list[str]]:
    """Documents of Python's reference and library, abstracts of SciFact if there are any, and short texts."""
    sections, library = python_sections().documents, python_api().documents
    mixed = [*sections, *library]
    texts = {"Python": [document.with_title for document in mixed[:: max(1, len(mixed) // count)][:count]]}
    try:
        collection = scifact()
    except MissingInput:
        return {**texts, "short": [document.title for document in mixed[:count]]}
    claims = [query.text for queries in collection.queries.values() for query in queries]
    abstracts = [document.with_title for document in collection.documents[:count]]
    return {**texts, "SciFact": abstracts, "claims": claims[:count]}


def untrained_run(arch: str, texts: list[str]) -> Run:
    """A model with random weights: speed does not depend on them."""
    tokenizer = BpeTokenizer.train(texts, BpeSettings(vocab_size=8000))
    task = "masked" if arch == "transformer-encoder" else "language"
    given = [("backbone.name", arch), ("task.name", task), ("backbone.hidden", HIDDEN), ("train.threads", 1)]
    settings = build_settings({"corpus": {"source": ["none"]}}, given)
    model = build_model(settings, VocabSizes(tokenizer.vocab_size)).eval()
    return Run(RunDirectory(Path("none")), {}, settings, Vocabulary(tokenizer), model)


def padded(run: Run, texts: list[str]) -> np.ndarray:
    """In the order of the texts, every batch as wide as the longest text that is allowed."""
    vectors = []
    with torch.inference_mode():
        for first in range(0, len(texts), BATCH):
            rows = [run.tokenizer.encode(text)[:PADDED] for text in texts[first : first + BATCH]]
            tokens_BT = torch.zeros(len(rows), PADDED, dtype=torch.long)
            for place, row in enumerate(rows):
                tokens_BT[place, : len(row)] = torch.tensor(row)
            mask_BT = torch.arange(PADDED) < torch.tensor([len(row) for row in rows])[:, None]
            y_BTH, _ = run.model.backbone(run.model.embed(tokens_BT), None, mask_BT)
            vectors.append(pool("mean", run.model.backbone, y_BTH.masked_fill(~mask_BT[:, :, None], 0.0), mask_BT))
    return torch.cat(vectors).numpy()


def timed(action: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    began = time.perf_counter()
    result = action()
    return time.perf_counter() - began, result


def compare(run: Run, texts: list[str], rounds: int) -> str:
    embedder = TextEmbedder(run)
    embedder.limit = PADDED
    embedder.embed(texts[:BATCH])
    best, vectors = {"ours": np.inf, "padded": np.inf}, {}
    for _ in range(rounds):
        for name, action in {"ours": lambda: embedder.embed(texts), "padded": lambda: padded(run, texts)}.items():
            seconds, vectors[name] = timed(action)
            best[name] = min(best[name], seconds)
    difference = float(abs(vectors["ours"] - vectors["padded"]).max())
    tokens = np.mean([min(PADDED, len(run.tokenizer.encode(text))) for text in texts])
    rates = {name: len(texts) / seconds for name, seconds in best.items()}
    return (
        f"{tokens:>7.0f} {rates['padded']:>9.1f} {rates['ours']:>9.1f} {rates['ours'] / rates['padded']:>6.1f}x "
        f"{difference:>12.1e}"
    )


def main(count: int = 256, rounds: int = 3, archs: tuple[str, ...] = ARCHS) -> None:
    texts = realistic_texts(count)
    torch.set_num_threads(1)
    print(f"{count} texts each, width {HIDDEN}, documents/s; targets: 3x on a mix of lengths, vectors within 1e-5")
    print(f"{'model':<20} {'texts':<10} {'tokens':>7} {'to 512':>9} {'ours':>9} {'ratio':>7} {'difference':>12}")
    for arch in archs:
        run = untrained_run(arch, [text for some in texts.values() for text in some])
        for name, some in texts.items():
            print(f"{arch:<20} {name:<10} {compare(run, some, rounds)}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--archs", default=",".join(ARCHS))
    given = parser.parse_args()
    main(given.count, given.rounds, tuple(given.archs.split(",")))
