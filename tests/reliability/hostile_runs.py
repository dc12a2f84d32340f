"""Opens run directories made to hurt, each with hashes that fit, and prints what became of it.

hostile_runs.py FOLDER. Every case is opened in a process of its own, forked from one that has imported torch, so that
its time and the growth of its memory are its own. hostile_tensors.py and hostile_json.py have the cases.
"""

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import hostile_json  # noqa: F401
import hostile_tensors  # noqa: F401
from hostile_making import CASES
from reliability_runs import TEXT, resume, train

from seqlab.errors import SeqlabError
from seqlab.training import finish

LONGEST = 20.0  # seconds until a case is given up


def memory(key: str) -> int | None:
    """Bytes of VmRSS (now) or VmHWM (at most); None where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith(f"{key}:"))) * 1024


def opened(run: Path, open_run: Callable[[Path], object], pristine: Path) -> dict[str, Any]:
    with suppress(SeqlabError):
        open_run(pristine)  # a forked process has the libraries' pages to map anew, which is not the case's doing
    if (before := memory("VmRSS")) is not None:
        Path("/proc/self/clear_refs").write_text("5")  # from here on VmHWM is of this case
    began = time.perf_counter()
    error, message = "none", ""
    try:
        open_run(run)
    except SeqlabError as caught:
        error, message = type(caught).__name__, str(caught)
    except BaseException as caught:
        error, message = f"not ours: {type(caught).__name__}", str(caught)
    seconds, peak = time.perf_counter() - began, memory("VmHWM")
    growth = None if before is None or peak is None else max(0, peak - before)
    return {"error": error, "message": message, "seconds": seconds, "growth": growth}


def in_a_process(run: Path, open_run: Callable[[Path], object], pristine: Path) -> dict[str, Any]:
    listening, telling = os.pipe()
    process = os.fork()
    if process == 0:
        os.write(telling, json.dumps(opened(run, open_run, pristine))[:60_000].encode())
        os._exit(0)
    os.close(telling)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(process, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    with os.fdopen(listening, "rb") as stream:
        told = stream.read()
    os.waitpid(process, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return json.loads(told) if told else {"error": "killed", "message": "", "seconds": LONGEST, "growth": None}


def main(folder: Path) -> dict[str, Any]:
    os.environ["SEQLAB_CACHE"] = str(folder / "cache")
    os.fsync = lambda _: None
    setattr(finish, "draw_curves", lambda *_: None)  # noqa: B010
    (folder / "small.txt").write_text(TEXT, encoding="utf-8")
    # an odd number of steps, so that the next batch does not begin the text anew and the state is read
    pristine = train(folder / "small.txt", folder / "pristine", batching="stream", steps=3, evaluate_every=3)
    resume(pristine)
    result: dict[str, Any] = {}
    for name, (spoil, open_run) in CASES.items():
        run = Path(shutil.copytree(pristine, folder / "run"))
        refused = spoil(run)
        size = refused.stat().st_size if refused.is_file() else 0
        result[name] = {**in_a_process(run, open_run, pristine), "file": str(refused), "size": size}
        shutil.rmtree(run)
    return result


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))  # noqa: T201
