"""Trains golden cases, as any number of processes: `torchrun --nproc-per-node 2 -m tests.distributed.golden_worker`.

Arguments: the folder of the runs, float64 or float32, changed settings as JSON, and the names of cases.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

import seqlab
from seqlab.distributed.group import share_work, wait_for_all
from seqlab.training.progress import Reporter
from tests.golden.golden_cases import CASES, DATA

# what is compared is written at every step; what takes time and is the same for any number of processes is left out
QUICK = {"train.sample_tokens": 0, "train.evaluate_every": 25}


def train_cases(folder: Path, precision: str, names: Iterable[str], changes: Mapping[str, Any]) -> None:
    torch.set_default_dtype(torch.float64 if precision == "float64" else torch.float32)
    try:
        for name in names:
            case = CASES[name]
            source = write_data(folder, case.task)
            settings = {**case.settings, **QUICK, **changes}
            if "task.batch_tokens" in settings:  # which replaces the number of examples that all cases share
                del settings["task.batch_size"]
            if case.teacher is not None:
                teacher = folder / f"teacher of {name}"
                taught = {**case.teacher, **QUICK, "train.steps": 10}
                seqlab.train(source, out=teacher, settings=taught, reporter=Reporter())
                settings["task.teacher"] = str(teacher)
            seqlab.train(source, out=folder / name, settings=settings, reporter=Reporter())
    finally:
        torch.set_default_dtype(torch.float32)


def write_data(folder: Path, task: str) -> Path:
    name, content = DATA[task]
    with share_work() as world:
        if world.is_writer:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")
        wait_for_all()
    return folder / name


if __name__ == "__main__":
    train_cases(Path(sys.argv[1]), sys.argv[2], sys.argv[4:], json.loads(sys.argv[3]))
