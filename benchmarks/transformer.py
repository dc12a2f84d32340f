"""A Transformer's training step: ours against the same network written directly on torch, and the machine's own peak.

Run `python -m benchmarks.transformer`. The peak is the fastest of several large matrix products between the steps.
A step's work is counted in closed form: three times that of the forward pass. Dropout is at nanoGPT's places: on the
embeddings, in attention and in every sublayer; ours leaves it out in attention. `--nanogpt FOLDER`, or the variable
NANOGPT, names a copy of nanoGPT, whose own code then runs beside. Each peer has a process of its own, and they take
turns. `--cpu` counts CPU time, with all of them in one process.
"""

import argparse
import importlib.util
import os
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, gelu, scaled_dot_product_attention

from benchmarks.peers import apart
from benchmarks.training import (
    BATCH,
    SQUARE,
    VOCABULARY,
    WINDOW,
    Step,
    fastest,
    make_batch,
    product_steps,
    step_by_hand,
    step_of,
    training_step,
)
from seqlab.training.step import TrainingStep

HIDDEN, LAYERS, HEADS = 128, 4, 4
ROUNDS = 20
RATE = 0.1
TARGET = 1.35  # of nanoGPT's speed, both with dropout


class DirectBlock(nn.Module):
    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.norm1, self.norm2 = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)
        self.into, self.out = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.up, self.down = nn.Linear(HIDDEN, 4 * HIDDEN), nn.Linear(4 * HIDDEN, HIDDEN)

    def forward(self, x_BTD: Tensor) -> Tensor:
        q, k, v = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in self.into(self.norm1(x_BTD)).chunk(3, -1))
        y_BNTK = scaled_dot_product_attention(q, k, v, dropout_p=self.rate, is_causal=True)
        x_BTD = x_BTD + dropout(self.out(y_BNTK.transpose(1, 2).flatten(2)), self.rate)
        return x_BTD + dropout(self.down(gelu(self.up(self.norm2(x_BTD)))), self.rate)


class Direct(nn.Module):
    """What one would write by hand, with a learned table of positions."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.embedding, self.positions = nn.Embedding(VOCABULARY, HIDDEN), nn.Embedding(WINDOW, HIDDEN)
        self.blocks = nn.Sequential(*(DirectBlock(rate) for _ in range(LAYERS)))
        self.norm, self.output = nn.LayerNorm(HIDDEN), nn.Linear(HIDDEN, VOCABULARY)

    def forward(self, ids_BT: Tensor) -> Tensor:
        x_BTD = dropout(self.embedding(ids_BT) + self.positions.weight, self.rate)
        return self.output(self.norm(self.blocks(x_BTD)))


def direct_step(rate: float = 0.0) -> Step:
    model = Direct(rate)
    adamw = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.99), weight_decay=0.1, fused=True)
    return step_by_hand(model, adamw)


def our_step(rate: float = 0.0, **options: Any) -> TrainingStep:
    sizes = {"hidden": HIDDEN, "layers": LAYERS, "heads": HEADS, "context": WINDOW, "dropout": rate, **options}
    model = {"model.embedding": HIDDEN, "model.embedding_dropout": rate, "model.output_dropout": 0.0}
    return training_step("transformer", [*model.items(), *((f"backbone.{key}", value) for key, value in sizes.items())])


def nanogpt_step(folder: Path, rate: float) -> Step:
    """A step of nanoGPT's own model and optimizer."""
    spec = importlib.util.spec_from_file_location("nanogpt_model", folder / "model.py")
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    config = module.GPTConfig(
        block_size=WINDOW, vocab_size=VOCABULARY, n_layer=LAYERS, n_head=HEADS, n_embd=HIDDEN, dropout=rate, bias=False
    )
    with redirect_stdout(StringIO()):
        model = module.GPT(config)
        optimizer = model.configure_optimizers(0.1, 1e-3, (0.9, 0.99), "cpu")
    batch = make_batch(ragged=False)

    def step() -> float:
        _, loss = model(batch.inputs_BT, batch.targets_BT)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return float(loss.detach())

    return step


def main(rounds: int = ROUNDS, threads: int | None = None, cpu: bool = False, nanogpt: Path | None = None) -> None:
    torch.set_num_threads(threads or os.cpu_count() or 1)
    nanogpt = nanogpt or (Path(os.environ["NANOGPT"]) if "NANOGPT" in os.environ else None)

    def peer(make: Callable[..., Step], *arguments: Any) -> Step:
        return make(*arguments) if cpu else apart(make, *arguments, threads=threads)

    ours = our_step(positions="learned")
    plain = {"ours": step_of(ours), "ours, rotary": step_of(our_step()), "direct": peer(direct_step)}
    dropping = {
        f"ours, dropout {RATE}": step_of(our_step(RATE)),
        "ours, attention too": step_of(our_step(RATE, attention_dropout=RATE)),
        f"direct, dropout {RATE}": peer(direct_step, RATE),
    }
    if nanogpt is not None:
        plain["nanoGPT"] = peer(nanogpt_step, nanogpt, 0.0)
        dropping[f"nanoGPT, dropout {RATE}"] = peer(nanogpt_step, nanogpt, RATE)
    products = product_steps()
    best = fastest({**plain, **dropping, **products}, rounds, cpu)
    peak = 2 * SQUARE**3 / min(best[library] for library in products)
    work = 3 * BATCH * WINDOW * (ours.model.backbone.flops_per_token(WINDOW) + 2 * HIDDEN * VOCABULARY)
    print(f"training step: batch {BATCH}, window {WINDOW}, {LAYERS} layers, {HEADS} heads, {HIDDEN} wide, vocabulary "
          f"{VOCABULARY}, {torch.get_num_threads()} threads")  # fmt: skip
    print(f"matrix product of {SQUARE}: {peak / 1e9:.0f} GFLOP/s; a step is {work / 1e9:.1f} GFLOP")
    for name in (*plain, *dropping):
        ratio, share = best["direct"] / best[name], work / best[name] / peak
        print(f"{name:22} {best[name] * 1e3:7.1f} ms  {ratio:5.2f} of direct  {share:5.0%} of the peak")
    for other in (name for name in dropping if not name.startswith("ours")):
        print(f"against {other:22} {best[other] / best[f'ours, dropout {RATE}']:5.2f}  target {TARGET}")
    if nanogpt is None:
        print("nanoGPT's own code was not run: give --nanogpt FOLDER, or set NANOGPT.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--nanogpt", type=Path)
    given = parser.parse_args()
    main(given.rounds, given.threads, given.cpu, given.nanogpt)
