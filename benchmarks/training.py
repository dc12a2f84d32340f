"""A training step: our models in our loop against the same written directly on torch.

Run `python -m benchmarks.training`. A ratio is the other's time over ours, so 1 is equal and more is faster. Each
round takes one step of every competitor, and the fastest round of each counts, so that a busy moment of the machine
favours nobody.
"""

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from seqlab.config import RunSettings, build_settings
from seqlab.contracts import TextBatch
from seqlab.data.text.batches import NOT_SCORED
from seqlab.linear import has_onednn, linear, matmul
from seqlab.runs.load import build_model
from seqlab.tasks.language import LanguageTask
from seqlab.training.matmul import with_measured_matmul
from seqlab.training.step import TrainingStep

VOCABULARY, EMBEDDING, HIDDEN, BATCH, WINDOW = 65, 128, 256, 32, 128
DIRECT = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}
ROUNDS = 30
SQUARE = 2048  # of the matrix product that shows the peak

Step = Callable[[], object]


class OneBatch(LanguageTask):
    """The task as it is, except that every batch is the same one, so that no file is read."""

    def __init__(self, settings: Any, fixed: TextBatch):
        vocabulary: Any = None  # nothing is encoded
        super().__init__(settings, {}, vocabulary)
        self.fixed = fixed

    def batch(self, split: str, seed: int, index: int) -> TextBatch:
        return self.fixed


def make_batch(ragged: bool, rows: int = BATCH, window: int = WINDOW) -> TextBatch:
    """Ragged rows have between half and all of the window, as batches of sorted lines would at worst."""
    draw = torch.Generator().manual_seed(0)
    ids_BT = torch.randint(VOCABULARY, (rows, window + 1), generator=draw)
    inputs_BT, targets_BT = ids_BT[:, :-1].contiguous(), ids_BT[:, 1:].contiguous()
    if not ragged:
        return TextBatch(inputs_BT, targets_BT)
    lengths_B = torch.randint(window // 2, window + 1, (rows,), generator=draw)
    lengths_B[0] = window
    mask_BT = torch.arange(window) < lengths_B[:, None]
    return TextBatch(inputs_BT, targets_BT.masked_fill(~mask_BT, NOT_SCORED), mask_BT)


def training_step(arch: str, changes: list[tuple[str, Any]], batch: TextBatch | None = None) -> TrainingStep:
    """As a run would make it."""
    base = {"corpus": {"source": ["none"]}, "train": {"steps": 1}}
    settings: RunSettings = build_settings(base, [("backbone.name", arch), *changes])
    settings = with_measured_matmul(settings, lambda _: None)
    task = OneBatch(settings.task.settings, batch or make_batch(ragged=False))
    model = build_model(settings, VOCABULARY)
    return TrainingStep(model, task, settings.train)


def step_of(training: TrainingStep) -> Step:
    def step() -> None:
        training.gradients(0)
        training.update()

    return step


def our_step(arch: str, implementation: str = "fused", ragged: bool = False) -> Step:
    """One step of the trainer, as a run takes it."""
    changes = [("backbone.hidden", HIDDEN), ("backbone.implementation", implementation), ("model.embedding", EMBEDDING)]
    return step_of(training_step(arch, changes, make_batch(ragged)))


class Direct(nn.Module):
    """What one would write by hand."""

    def __init__(self, arch: str):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, EMBEDDING)
        self.recurrent = DIRECT[arch](EMBEDDING, HIDDEN, batch_first=True)
        self.output = nn.Linear(HIDDEN, VOCABULARY)

    def forward(self, ids_BT: Tensor) -> Tensor:
        y_BTH, _ = self.recurrent(self.embedding(ids_BT))
        return self.output(y_BTH)


def direct_step(arch: str) -> Step:
    model = Direct(arch)
    return step_by_hand(model, torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.99), fused=True))


def step_by_hand(model: nn.Module, optimizer: torch.optim.Optimizer) -> Step:
    batch = make_batch(ragged=False)

    def step() -> float:
        optimizer.zero_grad(set_to_none=True)
        loss = cross_entropy(model(batch.inputs_BT).flatten(0, 1), batch.targets_BT.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return float(loss.detach())

    return step


@dataclass(frozen=True)
class Comparison:
    name: str
    ours: str
    other: str
    target: float | None = None


COMPETITORS: dict[str, Callable[[], Step]] = {
    "lstm": lambda: our_step("lstm"),
    "lstm direct": lambda: direct_step("lstm"),
    "lstm plain": lambda: our_step("lstm", implementation="plain"),
    "lstm ragged": lambda: our_step("lstm", ragged=True),
    "lstm-attention": lambda: our_step("lstm-attention"),
    "gru": lambda: our_step("gru"),
    "gru direct": lambda: direct_step("gru"),
    "rnn": lambda: our_step("rnn"),
    "rnn direct": lambda: direct_step("rnn"),
}
COMPARISONS = [
    Comparison("lstm against nn.LSTM", "lstm", "lstm direct", 0.95),
    Comparison("lstm, plain loop, against nn.LSTM", "lstm plain", "lstm direct"),
    Comparison("lstm-attention against lstm", "lstm-attention", "lstm", 1 / 1.85),
    Comparison("gru against nn.GRU", "gru", "gru direct"),
    Comparison("rnn against nn.RNN", "rnn", "rnn direct"),
    Comparison("lstm, ragged, against itself unmasked", "lstm ragged", "lstm", 0.8),
]


def product_steps(dtype: torch.dtype = torch.float32) -> dict[str, Step]:
    """A large matrix product, by each library that can compute it: what shows the peak of the machine."""
    a, b = (torch.randn(SQUARE, SQUARE).to(dtype) for _ in range(2))

    def multiply(library: str) -> Tensor:
        with matmul(library):
            return linear(a, b)

    libraries = ("torch", "onednn") if has_onednn() and dtype == torch.float32 else ("torch",)
    return {library: partial(multiply, library) for library in libraries}


def fastest(steps: dict[str, Step], rounds: int, cpu: bool = False) -> dict[str, float]:
    """Seconds of each competitor's fastest step, or of CPU time on all threads."""
    clock = time.process_time if cpu else time.perf_counter
    best = dict.fromkeys(steps, float("inf"))
    for turn in range(rounds + 1):
        for name, step in steps.items():
            began = clock()
            step()
            if turn:  # the first round warms up
                best[name] = min(best[name], clock() - began)
    return best


def main(rounds: int = ROUNDS) -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    print(f"training step: batch {BATCH}, window {WINDOW}, hidden {HIDDEN}, {torch.get_num_threads()} threads")
    best = fastest({name: make() for name, make in COMPETITORS.items()}, rounds)
    for one in COMPARISONS:
        ours, other = best[one.ours], best[one.other]
        target = "no target" if one.target is None else f"target {one.target:.2f}"
        print(f"{one.name:40} {other / ours:5.2f}  {target:12} {ours * 1e3:7.1f} ms, other {other * 1e3:7.1f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    main(parser.parse_args().rounds)
