"""Writing with int8 weights against float32, as models grow: where it costs, and from which size on it gains.

Run `python -m benchmarks.int8`. One text at a time, the compiled loops alone; a ratio is float32's time over int8's, so
more is faster. Both take turns, and the fastest round of each counts.
"""

import argparse
import os
from typing import Any

import torch

from benchmarks.decoding import our_model, ours
from benchmarks.training import fastest
from seqlab.models.int8 import from_int8, to_int8

WIDTHS = {"rnn": (512, 1024, 2048, 4096), "gru": (256, 512, 1024, 2048), "lstm": (128, 256, 512, 1024, 2048),
          "lstm-attention": (128, 256, 512, 1024), "transformer": (128, 256, 512, 1024)}  # fmt: skip
TOKENS, ROUNDS = 64, 7
TARGET = 0.9


def models(arch: str, hidden: int) -> dict[str, Any]:
    """The same weights twice."""
    sizes: dict[str, Any] = {"hidden": hidden, "embedding": min(hidden, 256)}
    sizes |= {"layers": 4} if arch == "transformer" else {}
    whole, small = our_model(arch, **sizes), our_model(arch, "int8", **sizes)
    small.load_state_dict(from_int8(to_int8(dict(whole.state_dict()))))
    return {"float32": whole, "int8": small}


def main(rounds: int = ROUNDS) -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    print(f"one text of {TOKENS} tokens; {torch.get_num_threads()} threads where they help")
    for arch, widths in WIDTHS.items():
        turns = None
        for hidden in widths:
            pair = models(arch, hidden)
            size = 4 * sum(weight.numel() for weight in pair["float32"].parameters())
            best = fastest({name: ours(model, 1, tokens=TOKENS) for name, model in pair.items()}, rounds)
            ratio = best["float32"] / best["int8"]
            turns = turns or (size if ratio > 1 else None)
            small, whole = (best[name] / TOKENS * 1e6 for name in ("int8", "float32"))
            print(f"{arch:14} {hidden:5} wide {size / 1e6:7.1f} MB in float32  {ratio:5.2f}  target {TARGET}  "
                  f"{small:8.1f} us a token, float32 {whole:8.1f}")  # fmt: skip
        print(f"{arch}: " + (f"int8 is ahead from {turns / 1e6:.1f} MB of float32 on" if turns else "int8 is behind"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    main(parser.parse_args().rounds)
