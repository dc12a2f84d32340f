"""Time per training step and per generated token, and memory."""

import copy
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqlab.measures.cost import WRITTEN, fastest, seconds_per_token
from seqlab.measures.measurement import MeasureContext, Measurement
from seqlab.processes import python_command
from seqlab.text_table import aligned_table

if TYPE_CHECKING:
    from seqlab.runs.run import Run

ROUNDS = 12
BATCH = 32
PROFILE = (10, 100, 400, 1000)  # context lengths
STATES = (128, 1024)


def speed(run: "Run", context: MeasureContext) -> Measurement:
    """Milliseconds of a training step and of a generated token: alone, in a batch, and by context length."""
    data = {"threads": run.settings.train.threads, "step_ms": 1e3 * fastest(training_step(run), ROUNDS)}
    rows = [["", "ms"], ["training step", f"{data['step_ms']:.1f}"]]
    if run.generates:
        data["alone_ms"] = 1e3 / WRITTEN * fastest(lambda: run.generate("", WRITTEN, engine="plain"), 3)
        together = fastest(lambda: run.generate("", WRITTEN, samples=BATCH, engine="plain"), 3)
        data["batched_ms"] = 1e3 / WRITTEN / BATCH * together
        data["profile_ms"] = {str(length): 1e3 * seconds_per_token(run, length, "plain") for length in PROFILE}
        rows += [
            ["a token alone", f"{data['alone_ms']:.2f}"],
            [f"a token in a batch of {BATCH}", f"{data['batched_ms']:.3f}"],
            *([f"a token after {length}", f"{ms:.2f}"] for length, ms in data["profile_ms"].items()),
        ]
    return Measurement(data, aligned_table(rows))


def training_step(run: "Run") -> Callable[[], object]:
    """One step of the run's own training, on a copy of its model."""
    from seqlab.training.step import TrainingStep

    training = TrainingStep(copy.deepcopy(run.model), run.task(), run.settings.train)

    def step() -> None:
        training.gradients(0)
        training.update()

    return step


def memory(run: "Run", context: MeasureContext) -> Measurement:
    """Weights, weights while training, the state of one text, and the peak of a process that generates."""
    weights = sum(p.numel() * p.element_size() for p in run.model.parameters())
    state = {str(length): run.model.backbone.state_bytes(length) for length in STATES}
    data: dict[str, Any] = {"weights": weights, "training": 4 * weights, "state": state}
    rows = [
        ["", "MB"],
        ["weights", f"{weights / 1e6:.1f}"],
        ["weights, gradients, moments", f"{4 * weights / 1e6:.1f}"],
    ]
    rows += [[f"state after {length} tokens", f"{size / 1e6:.3f}"] for length, size in state.items()]
    if (peak := peak_of_process(run.path)) is not None:
        data["process"] = peak
        rows.append(["a process that generates 100 tokens", f"{data['process'] / 1e6:.0f}"])
    return Measurement(data, aligned_table(rows))


def peak_of_process(path: Path) -> int | None:
    """Peak resident bytes of a process that loads the run and generates, libraries included."""
    program = (
        "import sys, seqlab; from seqlab.runs.machine import peak_memory\n"
        "seqlab.load(sys.argv[1]).generate('', 100); print(peak_memory() or '')"
    )
    done = subprocess.run(python_command(program, str(path)), capture_output=True, text=True, check=True)
    return int(done.stdout) if done.stdout.strip() else None
