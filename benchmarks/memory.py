"""The memory of training: the closed form against the peak of a fresh process.

Run `python -m benchmarks.memory`. A process imports everything, trains a tiny model of the same architecture, so that
whatever is loaded or compiled on first use is there, and returns free memory to the system. From then on, resident
memory beyond what is resident counts: three steps of training and a checkpoint of the model in question.
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

SIZES = {"small": 1, "medium": 2, "large": 4}  # times the width


def resident(key: str) -> int:
    """Bytes of VmRSS (now) or VmHWM (at most)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(key)).split()[1]) * 1024


def train_steps(settings: Any, vocabulary: int, steps: int, folder: Path) -> None:
    import torch

    from benchmarks.training import OneBatch
    from seqlab.contracts import TextBatch
    from seqlab.runs.checkpoint import save_checkpoint
    from seqlab.runs.load import build_model
    from seqlab.training.step import TrainingStep

    task = settings.task.settings
    ids_BT = torch.randint(vocabulary, (task.batch_size, task.window))
    step = TrainingStep(build_model(settings, vocabulary), OneBatch(task, TextBatch(ids_BT, ids_BT)), settings.train)
    for number in range(steps):
        step.gradients(number)
        step.update()
    save_checkpoint(folder / "checkpoints", steps, step.model, step.optimizer, None, {})


def settings_of(arch: str, changes: dict[str, Any]) -> Any:
    from seqlab.config import build_settings

    base = {"corpus": {"source": ["none"]}, "train": {"steps": 1}}
    return build_settings(base, [("backbone.name", arch), *changes.items()])


def measure(arch: str, changes: dict[str, Any], vocabulary: int) -> dict[str, int]:
    """In this process: the estimate and the measured peak."""
    from seqlab.training.footprint import footprint

    tiny = {"task.batch_size": 2, "task.window": 4, "backbone.hidden": 16}
    with tempfile.TemporaryDirectory() as folder:
        train_steps(settings_of(arch, {**changes, **tiny}), 8, 2, Path(folder))
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # from here on VmHWM is of what follows
        before = resident("VmRSS")
        settings = settings_of(arch, changes)
        train_steps(settings, vocabulary, 3, Path(folder) / "run")
        measured = resident("VmHWM") - before
    estimate = footprint(settings, vocabulary)
    return {"estimate": estimate.peak, "measured": measured, **estimate.phases}


def in_process(arch: str, changes: dict[str, Any], vocabulary: int, environment: dict[str, str]) -> dict[str, int]:
    import os

    command = [sys.executable, "-m", "benchmarks.memory", "--measure", json.dumps([arch, changes, vocabulary])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    print(json.dumps(measure(*json.loads(given.measure))))
