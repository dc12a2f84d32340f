"""Trains a run that saves after every step, in a process that is killed again and again, and prints what was found.

kill_at_random.py FOLDER KILLS SEED. Processes are forked from one that has imported torch, so that many kills take
little time; the kills are real. After each, the newest checkpoint is loaded and held against a run that was never
stopped.
"""

import json
import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from reliability_runs import TEXT, lines, outcome, resume, train

from seqlab.errors import SeqlabError
from seqlab.runs import checkpoint, manifest
from seqlab.runs.load import build_model, load_parts
from seqlab.training import finish
from seqlab.training.optimization import make_optimizer
from seqlab.training.progress import Reporter

STEPS = 60
SETTINGS: dict[str, Any] = {"arch": "lstm", "batching": "stream", "dropout": 0.2, "evaluate_every": 7, "steps": STEPS}
LONGEST_LIFE = 0.3  # seconds; a save takes some hundredths
EARLY = 0.2  # share of the kills that may come before training has begun


def main(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    os.environ["SEQLAB_CACHE"] = str(folder / "cache")
    setattr(finish, "draw_curves", lambda *_: None)  # noqa: B010
    text = folder / "small.txt"
    text.write_text(TEXT, encoding="utf-8")
    whole = uninterrupted(text, folder / "whole")
    draw = random.Random(seed)
    result: list[dict[str, Any]] = []
    equal = rounds = 0
    while len(result) < kills or not equal:
        run = folder / f"run-{rounds}"
        while len(result) < kills and killed(text, run, draw.uniform(0, LONGEST_LIFE), draw.random() < EARLY):
            result.append(look_at(run, whole))
        if not (run / "results.json").exists():
            alone(text, run)
        rounds += 1
        equal += outcome(run) == outcome(whole)
    return {"found": result, "rounds": rounds, "equal": equal}


def uninterrupted(text: Path, run: Path) -> Path:
    """A run with the checkpoints of all its steps, written without waiting for the disk."""
    kept, waiting = checkpoint.KEPT_CHECKPOINTS, os.fsync
    checkpoint.KEPT_CHECKPOINTS, os.fsync = STEPS + 1, lambda _: None
    train(text, run, checkpoint_seconds=1e-9, **SETTINGS)
    checkpoint.KEPT_CHECKPOINTS, os.fsync = kept, waiting
    return run


def alone(text: Path, run: Path, reporter: Reporter | None = None) -> None:
    """Begin or continue the run."""
    if checkpoint.checkpoints(run / "checkpoints"):
        resume(run, reporter=reporter)
    else:
        train(text, run, reporter, checkpoint_seconds=1e-9, overwrite=True, **SETTINGS)


class Began(Reporter):
    """Tells the parent that training has begun."""

    def __init__(self, pipe: int):
        self.pipe = pipe

    def begin(self, step: int, steps: int) -> None:
        os.write(self.pipe, b".")


def killed(text: Path, run: Path, life: float, early: bool) -> bool:
    """Let a process train for this long, `early` counted from its start; false if it came to the end before."""
    listening, telling = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            alone(text, run, Began(telling))
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(telling)
    if not early:
        os.read(listening, 1)
    os.close(listening)
    until = time.monotonic() + life
    while time.monotonic() < until:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            assert status == 0, "a process failed"
            return False
        time.sleep(0.001)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return True


def look_at(run: Path, whole: Path) -> dict[str, Any]:
    """What a kill has left behind."""
    raw = (run / "metrics.jsonl").read_bytes() if (run / "metrics.jsonl").exists() else b""
    logged = [json.loads(line) for line in raw.splitlines(keepends=True) if line.endswith(b"\n")]
    steps = [line["step"] for line in logged if "loss" in line]
    there = checkpoint.checkpoints(run / "checkpoints")
    report: dict[str, Any] = {
        "reached": max(steps, default=0),
        "log_is_right": steps == list(range(1, len(steps) + 1)),
        "saved": int(there[-1].name.removeprefix("step-")) if there else None,
        "leftovers": len(list((run / "checkpoints").glob(".step-*"))),
    }
    if there:
        report["error"] = why_not(run, there[-1])
        stored = [manifest.read_manifest(folder)[0] for folder in (there[-1], whole / "checkpoints" / there[-1].name)]
        report["equal"] = stored[0] == stored[1]
        report["log_equal"] = lines_to(run, logged, report["saved"]) == lines_to(whole, None, report["saved"])
    return report


def why_not(run: Path, newest: Path) -> str | None:
    """Load a checkpoint; what went wrong, if anything."""
    try:
        _, _, settings, vocabulary = load_parts(run)
        model = build_model(settings, vocabulary.sizes)
        checkpoint.load_checkpoint(newest, model, make_optimizer(model, settings.train), model.backbone.start(4))
    except SeqlabError as error:
        return str(error)
    return None


def lines_to(run: Path, logged: list[dict[str, Any]] | None, step: int) -> list[dict[str, Any]]:
    result = (
        lines(run)
        if logged is None
        else [{k: v for k, v in line.items() if k not in ("seconds", "sample")} for line in logged]
    )
    return [line for line in result if line["step"] <= step]


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))  # noqa: T201
