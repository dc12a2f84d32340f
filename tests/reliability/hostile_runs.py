"""Opens run directories made to hurt, each with hashes that fit, and prints what became of it.

hostile_runs.py FOLDER. The cases are opened in a process forked from one that has imported torch; the next case has a
new one if a case kills it or takes too long. hostile_tensors.py and hostile_json.py have the cases.
"""

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import hostile_json  # noqa: F401
import hostile_tensors  # noqa: F401
from hostile_making import CASES
from reliability_runs import TEXT, resume, train

from seqlab import api
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


def opened(run: Path, open_run: Callable[[Path], object]) -> dict[str, Any]:
    if (before := memory("VmRSS")) is not None:
        Path("/proc/self/clear_refs").write_text("5")  # from here on VmHWM is of this case
    began = time.process_time()  # of the processor, so that company does not count
    error, message = "none", ""
    try:
        open_run(run)
    except SeqlabError as caught:
        error, message = type(caught).__name__, str(caught)
    except BaseException as caught:
        error, message = f"not ours: {type(caught).__name__}", str(caught)
    seconds, peak = time.process_time() - began, memory("VmHWM")
    growth = None if before is None or peak is None else max(0, peak - before)
    return {"error": error, "message": message[:10_000], "seconds": seconds, "growth": growth}


def open_all(names: Sequence[str], pristine: Path) -> Iterator[dict[str, Any]]:
    """What became of each case; each has a folder of its own, so that nothing known of another is used for it."""
    for open_run in (api.load, resume):
        with suppress(SeqlabError):
            open_run(pristine)  # a forked process has the libraries' pages to map anew, which is not a case's doing
    for name in names:
        spoil, open_run = CASES[name]
        run = Path(shutil.copytree(pristine, pristine.with_name(f"run-{list(CASES).index(name)}")))
        refused = spoil(run)
        size = refused.stat().st_size if refused.is_file() else 0
        yield {**opened(run, open_run), "file": str(refused), "size": size}
        shutil.rmtree(run)


def in_a_process(names: Sequence[str], pristine: Path) -> list[dict[str, Any]]:
    """What became of the first cases: all of them, or those up to the one that ended the process."""
    listening, telling = os.pipe()
    process = os.fork()
    if process == 0:
        with os.fdopen(telling, "w", encoding="utf-8") as stream:
            for answer in open_all(names, pristine):
                print(json.dumps(answer), file=stream, flush=True)
        os._exit(0)
    os.close(telling)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(process, signal.SIGKILL))
    answers: list[dict[str, Any]] = []
    with os.fdopen(listening, encoding="utf-8") as stream:
        signal.setitimer(signal.ITIMER_REAL, LONGEST)
        for line in stream:
            signal.setitimer(signal.ITIMER_REAL, LONGEST)
            answers.append(json.loads(line))
    os.waitpid(process, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    killed = {"error": "killed", "message": "", "seconds": LONGEST, "growth": None, "file": "", "size": 0}
    return answers if len(answers) == len(names) else [*answers, killed]


def main(folder: Path) -> dict[str, Any]:
    os.environ["SEQLAB_CACHE"] = str(folder / "cache")
    os.fsync = lambda _: None
    setattr(finish, "draw_curves", lambda *_: None)  # noqa: B010
    (folder / "small.txt").write_text(TEXT, encoding="utf-8")
    # an odd number of steps, so that the next batch does not begin the text anew and the state is read
    pristine = train(folder / "small.txt", folder / "pristine", batching="stream", steps=3, evaluate_every=3)
    resume(pristine)
    names, answers = list(CASES), list[dict[str, Any]]()
    while len(answers) < len(names):
        answers += in_a_process(names[len(answers) :], pristine)
    return dict(zip(names, answers, strict=True))


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))  # noqa: T201
