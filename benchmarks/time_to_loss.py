"""Time to a loss: how long a published recipe trains for its 1.7179 nats per character of Tiny Shakespeare, and how
soon a model mixed with counts is there.

Run `python -m benchmarks.time_to_loss`; it needs the corpus (SEQLAB_DATA). The recipe is 2,500 steps of `nn.LSTM`. Its
time is that of a step written directly on torch, times 2,500: neither evaluations nor start-up count. Ours is a whole
command from raw text to result: imports, reading, counting, ten steps, fitting, scores, baselines and files. Nothing is
cached but compiled kernels. Ten steps teach a network little: nearly all of this loss is due to the counts.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.peers import apart
from benchmarks.training import BATCH, WINDOW, direct_step, fastest
from seqlab.kernels import kernel_cache

LOSS, STEPS, TARGET = 1.7179, 2500, 15
OUR_STEPS = 10
ROUNDS, OUR_ROUNDS = 20, 4  # of each, the fastest counts


def recipe_seconds() -> float:
    return STEPS * fastest({"step": apart(direct_step, "lstm")}, ROUNDS)["step"]


def our_seconds() -> tuple[float, float]:
    """Seconds of one command, and the loss that it prints."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = ["-m", "seqlab", "train", "tiny-shakespeare", "--recipe", "speedrun/5-minutes"]
        command += ["--steps", str(OUR_STEPS), "--precision", "float32", "--window", str(WINDOW), "--hidden", "128"]
        command += ["--set", f"train.evaluate_every={OUR_STEPS}", "--set", "train.sample_tokens=0", "--out", str(run)]
        began = time.monotonic()
        cache = {"SEQLAB_CACHE": str(Path(folder) / "cache"), "NUMBA_CACHE_DIR": str(kernel_cache())}
        subprocess.run([sys.executable, *command], check=True, capture_output=True, env={**os.environ, **cache})
        seconds = time.monotonic() - began
        results = json.loads((run / "results.json").read_text(encoding="utf-8"))
    return seconds, results["validation"]["nats_per_token"]


def main() -> None:
    seconds, loss = min(our_seconds() for _ in range(OUR_ROUNDS))  # the first may compile kernels
    recipe = recipe_seconds()
    print(f"{LOSS} nats per character: {STEPS:,} steps of nn.LSTM, batch {BATCH}, window {WINDOW}: {recipe:.0f} s")
    print(f"{OUR_STEPS} steps and counts: {loss:.4f} in {seconds:.1f} s, {recipe / seconds:.1f} times as soon (target "
          f"{TARGET}){'' if loss <= LOSS else ', but it is not there'}")  # fmt: skip


if __name__ == "__main__":
    main()
