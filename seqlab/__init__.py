"""seqlab: train, compare and look inside sequence models on your own text, and trust the answer.

The public names load on first use, so that importing seqlab costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqlab.api import Run as Run
    from seqlab.api import build as build
    from seqlab.api import load as load
    from seqlab.api import resume as resume
    from seqlab.api import train as train
    from seqlab.comparison.compare import Comparison as Comparison
    from seqlab.comparison.compare import compare as compare
    from seqlab.comparison.distill import distill as distill

__version__ = "0.1.0"

_API, _COMPARISON = "seqlab.api", "seqlab.comparison.compare"
_PUBLIC = {
    **dict.fromkeys(("Run", "build", "load", "resume", "train"), _API),
    **dict.fromkeys(("Comparison", "compare"), _COMPARISON),
    "distill": "seqlab.comparison.distill",
}
__all__ = ["Comparison", "Run", "__version__", "build", "compare", "distill", "load", "resume", "train"]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'seqlab' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
