"""Searching 100,000 vectors of 256 dimensions: exactly, and by faiss. Run `python -m benchmarks.vector_search`.

One query at a time and batches of 1,000, interleaved in one process. Real vectors lie near fewer dimensions than they
have: these have 32 of them, and noise. Recall is that of the ten nearest, against exact search.
"""

import argparse
import os
import time

import numpy as np
import torch

from benchmarks.additive_attention import resident
from seqlab.retrieval.dense import ApproximateSearch, Engine, ExactSearch, VectorSearch, recall_at

COUNT, DIMENSIONS, INNER, BATCH = 100_000, 256, 32, 1000


def drawn(count: int, seed: int) -> np.ndarray:
    draw = np.random.default_rng(0)
    axes = draw.normal(size=(INNER, DIMENSIONS)).astype(np.float32)
    draw = np.random.default_rng(seed)
    vectors_ND = draw.normal(size=(count, INNER)).astype(np.float32) @ axes / INNER**0.5
    vectors_ND += 0.3 * draw.normal(size=vectors_ND.shape).astype(np.float32)
    return vectors_ND / np.linalg.norm(vectors_ND, axis=1, keepdims=True)


def main(rounds: int = 3, count: int = COUNT, approximate: tuple[Engine, ...] = ("hnsw", "ivf")) -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    vectors_ND, queries_QD = drawn(count, 1), drawn(BATCH, 2)
    exact = ExactSearch(vectors_ND)
    engines: dict[str, VectorSearch] = {"exact": exact}
    built: dict[str, tuple[float, int]] = {"exact": (0.0, vectors_ND.nbytes)}
    for engine in approximate:
        before = resident()
        engines[engine] = search = ApproximateSearch(vectors_ND, engine)
        built[engine] = search.seconds, resident() - before
    single: dict[str, list[float]] = {name: [] for name in engines}
    batch: dict[str, list[float]] = {name: [] for name in engines}
    for _ in range(rounds):
        for name, engine in engines.items():
            for row in range(30):
                began = time.perf_counter()
                engine.nearest(queries_QD[row : row + 1], 10)
                single[name].append(time.perf_counter() - began)
            began = time.perf_counter()
            engine.nearest(queries_QD, 10)
            batch[name].append(time.perf_counter() - began)
    print(f"{count:,} x {DIMENSIONS}; targets of exact search: one query within 20 ms, 1,000 queries/s")
    print(
        f"{'engine':<8} {'build s':>8} {'MB':>7} {'one query ms':>13} {'slowest ms':>11} {'queries/s':>10} "
        f"{'recall@10':>10}"
    )
    for name, engine in engines.items():
        seconds, size = built[name]
        one, slowest, many = np.median(single[name]) * 1e3, max(single[name]) * 1e3, BATCH / min(batch[name])
        recall = recall_at(10, engine, exact, queries_QD)
        print(
            f"{name:<8} {seconds:>8.1f} {size / 1e6:>7.0f} {one:>13.2f} {slowest:>11.2f} {many:>10,.0f} {recall:>10.3f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--exact", action="store_true", help="without faiss")
    given = parser.parse_args()
    main(given.rounds, given.count, () if given.exact else ("hnsw", "ivf"))
