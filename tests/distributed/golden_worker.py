"""What the tests let several processes do: `torchrun --nproc-per-node 2 -m tests.distributed.golden_worker JOBS`.

JOBS is a list of jobs in JSON, done one after the other by whatever number of processes there is.
"""

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

import seqlab
from seqlab.distributed.group import share_work, wait_for_all
from seqlab.training.progress import Reporter
from tests.golden.golden_cases import CASES, DATA

# what is compared is written at every step; what takes time and is the same for any number of processes is left out
QUICK = {"train.sample_tokens": 0, "train.evaluate_every": 25}


def train_case(folder: str, case: str, precision: str = "float64", **changes: Any) -> None:
    """Train a golden case in folder/case."""
    one, out = CASES[case], Path(folder)
    settings = {**one.settings, **QUICK, **changes}
    if "task.batch_tokens" in settings:  # which replaces the number of examples that all cases share
        del settings["task.batch_size"]
    torch.set_default_dtype(torch.float64 if precision == "float64" else torch.float32)
    try:
        source = write_data(out, one.task)
        if one.teacher is not None:
            taught = {**one.teacher, **QUICK, "train.steps": 10}
            seqlab.train(source, out=out / f"{case} teacher", settings=taught, reporter=Reporter())
            settings["task.teacher"] = str(out / f"{case} teacher")
        seqlab.train(source, out=out / case, settings=settings, reporter=Reporter())
    finally:
        torch.set_default_dtype(torch.float32)


def resume(run: str, precision: str = "float64") -> None:
    torch.set_default_dtype(torch.float64 if precision == "float64" else torch.float32)
    try:
        seqlab.resume(run, reporter=Reporter())
    finally:
        torch.set_default_dtype(torch.float32)


def evaluate(run: str, out: str, mode: str | None = None) -> None:
    """Score a run, and write what all processes know, by their number."""
    result = seqlab.evaluate(run, mode=mode)
    with share_work() as world:
        Path(f"{out}.{world.rank}").write_text(json.dumps([result.metrics, result.scores.nats_U.tolist()]))
        wait_for_all()


def embed(run: str, source: str, out: str) -> None:
    seqlab.embed(run, source, out)


def write_data(folder: Path, task: str) -> Path:
    name, content = DATA[task]
    with share_work() as world:
        if world.is_writer:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")
        wait_for_all()
    return folder / name


JOBS = {"train": train_case, "resume": resume, "evaluate": evaluate, "embed": embed}

if __name__ == "__main__":
    # torch warns of outputs that are views, which nothing here changes in place
    warnings.filterwarnings("ignore", "FSDP2-wrapped module", UserWarning)
    for job in json.loads(sys.argv[1]):
        JOBS[job.pop("do")](**job)
