"""The memory of training: the closed form against the peak of a fresh process.

Run `python -m benchmarks.memory`. A process imports everything, trains a tiny model of the same architecture, so that
whatever is loaded or compiled on first use is there, and gives free memory back. Then three steps and a checkpoint of
the model in question count: the peak of resident memory beyond what is resident then. Freed memory is returned at
once (train.keep_memory=false), as `--fit` sets it where memory is scarce, so the peak is what training asks for.
`--keep` keeps it for the next step, as training does by default: later tensors do not fit into its pieces.
"""

import argparse
import ctypes
import gc
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from seqlab.config import RunSettings, build_settings
from seqlab.registry import BACKBONES
from seqlab.runs.machine import peak_memory, resident_memory

LIMIT = 0.2  # the estimate is as near to the peak
VOCABULARY, TINY_VOCABULARY, STEPS = 100, 8, 3
SIZES: dict[str, dict[str, Any]] = {  # activations, both, and weights are most of the memory
    "small": {"backbone.hidden": 256, "task.batch_size": 32},
    "medium": {"backbone.hidden": 512, "task.batch_size": 32, "backbone.layers": 2},
    "large": {"backbone.hidden": 1024, "task.batch_size": 8, "backbone.layers": 2},
}
TINY = {"backbone.hidden": 16, "task.batch_size": 2, "task.window": 4}


def setting(arch: str, changes: dict[str, Any]) -> RunSettings:
    """A language model, or a masked one where the architecture reads both sides."""
    deep = {"backbone.heads": 8, "backbone.layers": 4} if BACKBONES.settings(arch).has("heads") else {}
    task = {} if BACKBONES.settings(arch)().causal else {"task.name": "masked"}
    base = {"corpus": {"source": ["none"]}, "train": {"steps": 1, "bf16_speed": 1.0}}
    return build_settings(base, [*{"backbone.name": arch, "model.embedding": 256, **task, **changes, **deep}.items()])


def train_steps(settings: RunSettings, vocabulary: int, folder: Path) -> None:
    import torch

    from benchmarks.training import OneBatch
    from seqlab.contracts import TextBatch
    from seqlab.runs.checkpoint import save_checkpoint
    from seqlab.runs.load import build_model
    from seqlab.training.matmul import with_measured_matmul
    from seqlab.training.step import TrainingStep

    settings = with_measured_matmul(settings, lambda _: None)
    task: Any = settings.task.settings
    ids_BT = torch.randint(vocabulary, (task.batch_size, task.window))
    step = TrainingStep(build_model(settings, vocabulary), OneBatch(task, TextBatch(ids_BT, ids_BT)), settings.train)
    for number in range(STEPS):
        step.gradients(number)
        step.update()
    save_checkpoint(folder / "checkpoints", STEPS, step.model, step.optimizer, None, {})


def measure(arch: str, changes: dict[str, Any]) -> dict[str, int]:
    """In this process: the estimate and the measured peak, in bytes."""
    from seqlab.training.footprint import footprint

    with tempfile.TemporaryDirectory() as folder:
        train_steps(setting(arch, {**changes, **TINY}), TINY_VOCABULARY, Path(folder) / "tiny")
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # from here on VmHWM is of what follows
        before, settings = resident_memory() or 0, setting(arch, changes)
        train_steps(settings, VOCABULARY, Path(folder) / "run")
        measured = (peak_memory() or 0) - before
    estimate = footprint(settings, VOCABULARY)
    return {
        "estimate": estimate.peak,
        "measured": measured,
        **{phase: sum(parts.values()) for phase, parts in estimate.phases.items()},
    }


def in_process(arch: str, changes: dict[str, Any], keep: bool = False) -> dict[str, int]:
    changes = {**changes, "train.keep_memory": keep}
    command = [sys.executable, "-m", "benchmarks.memory", "--measure", json.dumps([arch, changes])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def main(precision: str = "float32", keep: bool = False) -> None:
    for arch in BACKBONES:
        for size, changes in SIZES.items():
            given = {**changes, "train.precision": precision}
            found = in_process(arch, given, keep)
            ratio = found["estimate"] / found["measured"]
            print(f"{arch:20} {size:7} estimate {found['estimate'] / 1e6:6.0f} MB  measured "
                  f"{found['measured'] / 1e6:6.0f} MB  ratio {ratio:.2f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--keep", action="store_true", help="keep freed memory, as training does by default")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*json.loads(options.measure))))
    else:
        main(options.precision, options.keep)
