"""Records golden losses anew: `python -m tests.golden.record`, or with the names of some cases.

What agrees with its record within the tolerance keeps it, so that small differences never add up unseen.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from .golden_cases import CASES, DATA, STEPS
from .golden_runs import LOSSES, TOLERANCE, differences, losses_of, recorded


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in CASES]
    if unknown:
        sys.exit(f"no golden case is called {unknown[0]!r}. Known: {', '.join(CASES)}.")
    before, kept = recorded(), recorded()
    for name in names or CASES:
        losses = [float(f"{loss:.6g}") for loss in losses_of(CASES[name], DATA[CASES[name].task], STEPS)]
        said = what_changed(losses, before.get(name))
        if said:
            kept[name] = losses
            print(f"{name}: {said}")  # noqa: T201
    lines = [f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in CASES if name in kept]
    LOSSES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    for name in before.keys() - CASES.keys():
        print(f"{name}: dropped, as there is no such case")  # noqa: T201


def what_changed(losses: list[float], before: list[float] | None) -> str:
    """In words; empty where nothing did."""
    if before is None or len(before) != len(losses):
        return f"new, from {losses[0]:.6g} to {losses[-1]:.6g}"
    apart = differences(losses, before)
    if max(apart) <= TOLERANCE:
        return ""
    first = next(step for step, difference in enumerate(apart) if difference > TOLERANCE)
    return (
        f"changed from step {first + 1} on, by {max(apart):.1e} at most; "
        f"the last loss was {before[-1]:.6g} and is {losses[-1]:.6g}"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:  # nothing of a user's own is read or kept
        os.environ["SEQLAB_CACHE"] = cache
        os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[2] / ".pytest_cache" / "numba"))
        main(sys.argv[1:])
