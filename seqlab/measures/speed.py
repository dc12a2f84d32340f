"""What a run costs: the time of a training step and of a generated token, and memory."""

import copy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqlab.measures.cost import WRITTEN, fastest, late
from seqlab.measures.measurement import MeasureContext, Measurement
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
    if run.generates:
        data["alone_ms"] = 1e3 / WRITTEN * fastest(lambda: run.generate("", WRITTEN, engine="plain"), 3)
        together = fastest(lambda: run.generate("", WRITTEN, samples=BATCH, engine="plain"), 3)
        data["batched_ms"] = 1e3 / WRITTEN / BATCH * together
        data["profile_ms"] = {str(length): 1e3 * late(run, length, "plain") for length in PROFILE}
    rows = [["", "ms"], ["training step", f"{data['step_ms']:.1f}"]]
    if run.generates:
        rows += [
            ["a token alone", f"{data['alone_ms']:.2f}"],
            [f"a token in a batch of {BATCH}", f"{data['batched_ms']:.3f}"],
        ]
        rows += [[f"a token after {length}", f"{ms:.2f}"] for length, ms in data["profile_ms"].items()]
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
    if Path("/proc/self/status").exists():
        data["process"] = whole_process(run.path)
        rows.append(["a process that generates 100 tokens", f"{data['process'] / 1e6:.0f}"])
    return Measurement(data, aligned_table(rows))


def whole_process(path: Path) -> int:
    """Peak resident bytes of a process that loads the run and generates, libraries included."""
    program = "import sys, seqlab; seqlab.load(sys.argv[1]).generate('', 100); print(open('/proc/self/status').read())"
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    # getrusage would start from the memory of the parent process
    peak = next(line for line in done.stdout.splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) * 1024
