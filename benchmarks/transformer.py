"""A Transformer's training step: ours against the same network written directly on torch, and the machine's own peak.

Run `python -m benchmarks.transformer`. The peak is the fastest of several large matrix products between the steps.
A step's work is counted in closed form: three times that of the forward pass.
"""

import argparse
import os

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from benchmarks.training import BATCH, VOCABULARY, WINDOW, Step, fastest, step_by_hand, step_of, training_step

HIDDEN, LAYERS, HEADS = 128, 4, 4
ROUNDS = 20
SQUARE = 2048  # of the matrix product that shows the peak


class DirectBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)
        self.into, self.out = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.up, self.down = nn.Linear(HIDDEN, 4 * HIDDEN), nn.Linear(4 * HIDDEN, HIDDEN)

    def forward(self, x_BTD: Tensor) -> Tensor:
        q, k, v = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in self.into(self.norm1(x_BTD)).chunk(3, -1))
        y_BNTK = scaled_dot_product_attention(q, k, v, is_causal=True)
        x_BTD = x_BTD + self.out(y_BNTK.transpose(1, 2).flatten(2))
        return x_BTD + self.down(gelu(self.up(self.norm2(x_BTD))))


class Direct(nn.Module):
    """What one would write by hand, with a learned table of positions."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Embedding(VOCABULARY, HIDDEN), nn.Embedding(WINDOW, HIDDEN)
        self.blocks = nn.Sequential(*(DirectBlock() for _ in range(LAYERS)))
        self.norm, self.output = nn.LayerNorm(HIDDEN), nn.Linear(HIDDEN, VOCABULARY)

    def forward(self, ids_BT: Tensor) -> Tensor:
        x_BTD = self.embedding(ids_BT) + self.positions.weight
        return self.output(self.norm(self.blocks(x_BTD)))


def direct_step() -> Step:
    model = Direct()
    adamw = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.99), weight_decay=0.1, fused=True)
    return step_by_hand(model, adamw)


def product_step() -> Step:
    a, b, c = (torch.randn(SQUARE, SQUARE) for _ in range(3))
    return lambda: torch.mm(a, b, out=c)


def main(rounds: int = ROUNDS) -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    sizes = {"hidden": HIDDEN, "layers": LAYERS, "heads": HEADS, "context": WINDOW}
    changes = [("model.embedding", HIDDEN), *((f"backbone.{key}", value) for key, value in sizes.items())]
    ours = training_step("transformer", [*changes, ("backbone.positions", "learned")])
    rotary = training_step("transformer", changes)
    steps = {"ours": step_of(ours), "ours, rotary": step_of(rotary), "direct": direct_step(), "product": product_step()}
    best = fastest(steps, rounds)
    peak = 2 * SQUARE**3 / best["product"]
    work = 3 * BATCH * WINDOW * (ours.model.backbone.flops_per_token(WINDOW) + 2 * HIDDEN * VOCABULARY)
    print(f"training step: batch {BATCH}, window {WINDOW}, {LAYERS} layers, {HEADS} heads, {HIDDEN} wide, vocabulary "
          f"{VOCABULARY}, {torch.get_num_threads()} threads")  # fmt: skip
    print(f"matrix product of {SQUARE}: {peak / 1e9:.0f} GFLOP/s; a step is {work / 1e9:.1f} GFLOP")
    for name in ("ours", "ours, rotary", "direct"):
        ratio, share = best["direct"] / best[name], work / best[name] / peak
        print(f"{name:14} {best[name] * 1e3:7.1f} ms  {ratio:5.2f} of direct  {share:5.0%} of the peak")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    main(parser.parse_args().rounds)
