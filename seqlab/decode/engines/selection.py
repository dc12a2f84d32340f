"""Which way of writing is sooner: the plain one at once, or the compiled one after it has been made ready."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from seqlab.contracts import AutoregressiveModel
from seqlab.decode.engine import Engine
from seqlab.errors import UsageError
from seqlab.kernels import announced, compiled
from seqlab.models.language_model import LanguageModel
from seqlab.registry import BACKBONES, ENGINES

READY: set[str] = set()  # engines whose kernels this process has run

# seconds on a machine of today, for a choice that need not be exact
STARTING = 0.6  # the compiler itself
LOADING, COMPILING = 0.4, 12.0  # a kernel that was compiled before, and one that was not
PLAIN_STEP = 2e-4  # of a plain step, whatever the architecture, and for each of its layers
PLAIN_LAYER = {"rnn": 5e-5, "gru": 1e-4, "lstm": 1e-4, "lstm-attention": 3e-4, "transformer": 3e-4}
PLAIN_FLOPS = 1e10


def engine_name(model: Any) -> str | None:
    """The engine that can run this model; None where there is none."""
    if not isinstance(model, LanguageModel) or not model.backbone.causal:
        return None
    weight = next(model.parameters())
    if weight.device.type != "cpu" or weight.dtype != torch.float32:
        return None
    return next((name for name in ENGINES if BACKBONES.load(name) is type(model.backbone)), None)


class EngineSelector:
    """A language model and its engine, which is made when it is first worth it."""

    def __init__(self, model: AutoregressiveModel):
        self.model = model
        self.name = engine_name(model)
        self.kind = f"{self.name}-{getattr(getattr(model, 'settings', None), 'precision', '')}"  # as it is compiled
        self._engine: Engine | None = None

    def choose(self, rows: int, length: int, how: str = "auto") -> AutoregressiveModel:
        """What writes `length` tokens in each of `rows` rows; `auto` takes what is done sooner."""
        if how not in ("auto", "plain", "compiled"):
            raise UsageError(f"the engine is '{how}': give auto, plain or compiled.")
        if how == "plain" or self.name is None:
            if how == "compiled":
                raise UsageError(f"there is no compiled engine for this model. Known: {', '.join(ENGINES)}.")
            return self.model
        if how == "auto" and self._plain_seconds(rows, length) < self._wait():
            return self.model
        return self.engine

    @property
    def engine(self) -> Engine:
        assert self.name is not None
        if self._engine is None:
            with torch.inference_mode(), announced(self.name):
                self._engine = ENGINES.load(self.name)(self.model)
                assert self._engine is not None
                self._engine.read_in([[0]])
            READY.add(self.kind)
            with suppress(OSError):  # a place that cannot be written to is no reason not to write text
                self._mark.parent.mkdir(parents=True, exist_ok=True)
                self._mark.touch()
        return self._engine

    @property
    def _mark(self) -> Path:
        """Stands where the kernel was compiled on this machine."""
        return compiled() / f"{self.kind}.compiled"

    def _plain_seconds(self, rows: int, length: int) -> float:
        model: Any = self.model
        step = PLAIN_STEP + PLAIN_LAYER[self.name or ""] * model.backbone.settings.layers
        return length * (step + rows * model.flops_per_token(length) / PLAIN_FLOPS)

    def _wait(self) -> float:
        """Until an engine can begin."""
        if self.kind in READY:
            return 0.0
        start = 0.0 if "numba" in sys.modules else STARTING
        return start + (LOADING if self._mark.is_file() else COMPILING)
