"""What a generated token costs with counts: `python -m benchmarks.counts`.

An LSTM in the compiled loop, alone and mixed with the n-grams of a built-in text, in turns; the fastest round of each
counts. A ratio is the time with counts over the time without: 1.5 at most.
"""

import argparse
import copy
import os

import torch

from benchmarks.decoding import BATCH, EMBEDDING, HIDDEN, TOKENS, ours
from benchmarks.training import fastest
from seqlab.baselines.kneser_ney import best_kneser_ney
from seqlab.config import build_settings
from seqlab.data.text.corpus import open_corpus
from seqlab.mixing.gram_table import GramTable
from seqlab.mixing.mixture import Mixture
from seqlab.runs.load import build_model
from seqlab.tokenization.char import CharTokenizer

CHARACTERS, SYMBOLS, ROUNDS, TARGET = 1_000_000, 64, 9, 1.5


def main(rounds: int = ROUNDS) -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    text = "".join(open_corpus(["python-docs"]).blocks())[:CHARACTERS]
    common = sorted(sorted(set(text), key=text.count)[-SYMBOLS:])  # as many as Tiny Shakespeare has
    tokenizer = CharTokenizer("".join(common))
    tokens_N = tokenizer.encode_array("".join(character for character in text if character in set(common)))
    counts = best_kneser_ney(tokens_N, tokenizer.vocab_size)
    changes = [("backbone.name", "lstm"), ("model.embedding", EMBEDDING), ("backbone.hidden", HIDDEN)]
    alone = build_model(build_settings({"corpus": {"source": ["none"]}}, changes), tokenizer.vocab_size).eval()
    mixed = copy.deepcopy(alone)
    half_K = torch.full((counts.order,), 0.5)
    mixed.mixture = Mixture(GramTable.from_counts(counts), half_K, half_K)
    table = mixed.mixture.table
    print(f"lstm {HIDDEN} wide, vocabulary {tokenizer.vocab_size}; {len(table.grams.tokens_G):,} grams of up to "
          f"{table.order} tokens, {table.bytes / 1e6:.1f} MB; {torch.get_num_threads()} threads")  # fmt: skip
    for rows in (1, BATCH):
        best = fastest({"alone": ours(alone, rows), "mixed": ours(mixed, rows)}, rounds)
        alone_us, mixed_us = (best[name] / TOKENS * 1e6 for name in ("alone", "mixed"))
        ratio = f"{mixed_us / alone_us:.2f} (at most {TARGET})"
        print(f"{rows:2} texts: {ratio}, {alone_us:.1f} us a step alone, {mixed_us:.1f} mixed")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    main(parser.parse_args().rounds)
