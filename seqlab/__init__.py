"""seqlab: train, compare and look inside sequence models on your own text, and trust the answer.

The public names load on first use: `import seqlab` imports neither torch nor anything else that takes time.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqlab.api import build as build
    from seqlab.api import compare as compare
    from seqlab.api import distill as distill
    from seqlab.api import embed as embed
    from seqlab.api import evaluate as evaluate
    from seqlab.api import evaluate_index as evaluate_index
    from seqlab.api import export as export
    from seqlab.api import index as index
    from seqlab.api import load as load
    from seqlab.api import plan as plan
    from seqlab.api import quantize as quantize
    from seqlab.api import resume as resume
    from seqlab.api import search as search
    from seqlab.api import speedrun as speedrun
    from seqlab.api import train as train
    from seqlab.comparison.compare import Comparison as Comparison
    from seqlab.runs.run import Run as Run

if "OMP_WAIT_POLICY" not in os.environ:
    # Threads of a kernel wait for each other at every time step of a recurrence. GNU's OpenMP spins for milliseconds
    # before it sleeps, so beside other programs a step takes a hundred times as long. torch reads this when it loads.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")

__version__ = "0.1.0"
__all__ = [
    "Comparison", "Run", "__version__",
    "build", "compare", "distill", "embed", "evaluate", "evaluate_index", "export", "index", "load", "plan",
    "quantize", "resume", "search", "speedrun", "train",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in __all__:
        module = "seqlab.comparison.compare" if name == "Comparison" else "seqlab.api"
        return getattr(import_module(module), name)
    raise AttributeError(f"module 'seqlab' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
