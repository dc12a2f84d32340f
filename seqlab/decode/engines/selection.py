"""Plain or compiled: which token loop finishes a request sooner, compilation included."""

import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import torch

from seqlab.contracts import AutoregressiveModel
from seqlab.decode.engines.compiled import CompiledEngine
from seqlab.errors import UsageError
from seqlab.kernels import announce_compilation, kernel_cache
from seqlab.models.language_model import LanguageModel

READY: set[str] = set()  # kernels that this process has run

# Rough seconds on a current machine: the choice need not be exact.
IMPORT_NUMBA = 0.6
LOAD_KERNEL, COMPILE_KERNEL = 0.4, 12.0  # a kernel from the cache, and one that is compiled now
PLAIN_MODULE = 4e-5  # overhead of each torch module in one plain step
PLAIN_FLOPS = 1e10  # per second


class EngineSelector:
    """A language model and its compiled engine, which is built when it is first worth it."""

    def __init__(self, model: AutoregressiveModel):
        self.model = model
        self._engine: CompiledEngine | None = None

    @property
    def missing(self) -> str | None:
        """Why this model has no compiled engine; None if it has one."""
        model = self.model
        if not isinstance(model, LanguageModel) or not model.backbone.causal:
            return "it is not a causal language model"
        weight = next(model.parameters())
        if weight.device.type != "cpu" or weight.dtype != torch.float32:
            return f"its weights are {weight.dtype} on {weight.device.type}, expected float32 on the CPU"
        if self._target is None:
            return f"its architecture, {type(model.backbone).__name__}, declares no compiled_engine"
        if find_spec("numba") is None:
            return "the package numba is not installed"
        return None

    def select(self, rows: int, length: int, engine: str = "auto") -> AutoregressiveModel:
        """What generates `length` tokens for each of `rows` rows; `auto` takes what finishes sooner."""
        if engine not in ("auto", "plain", "compiled"):
            raise UsageError(f"the engine is '{engine}': give auto, plain or compiled.")
        if engine == "plain":
            return self.model
        missing = self.missing
        if missing is not None:
            if engine == "compiled":
                raise UsageError(f"there is no compiled engine for this model: {missing}. Use plain or auto.")
            return self.model
        if engine == "auto" and self._plain_seconds(rows, length) < self.seconds_until_ready:
            return self.model
        return self.engine

    @property
    def engine(self) -> CompiledEngine:
        assert self._target is not None
        if self._engine is None:
            with torch.inference_mode(), announce_compilation(type(self._language_model.backbone).__name__):
                engine = resolve_name(self._target)(self.model)
                engine.prefill([[0]])
            self._engine = engine
            READY.add(self._kernel)
            with suppress(OSError):  # a cache that cannot be written to must not stop generation
                self._marker.parent.mkdir(parents=True, exist_ok=True)
                self._marker.touch()
        assert self._engine is not None
        return self._engine

    @property
    def _language_model(self) -> LanguageModel:
        assert isinstance(self.model, LanguageModel)
        return self.model

    @property
    def _target(self) -> str | None:
        return type(self._language_model.backbone).declares("compiled_engine")

    @property
    def _kernel(self) -> str:
        """numba compiles one kernel for each engine and precision, with and without counts."""
        counts = "" if self._language_model.mixture is None else "-counts"
        return f"{(self._target or '').replace(':', '.')}-{self._language_model.settings.precision}{counts}"

    @property
    def _marker(self) -> Path:
        """A file that exists if the kernel was compiled on this machine."""
        return kernel_cache() / f"{self._kernel}.compiled"

    def _plain_seconds(self, rows: int, length: int) -> float:
        model: Any = self._language_model
        overhead = PLAIN_MODULE * sum(1 for _ in model.modules())
        return length * (overhead + rows * model.flops_per_token(length) / PLAIN_FLOPS)

    @property
    def seconds_until_ready(self) -> float:
        """About how long it takes until the compiled engine can generate; 0 if there is none."""
        if self.missing is not None or self._kernel in READY:
            return 0.0
        start = 0.0 if "numba" in sys.modules else IMPORT_NUMBA
        return start + (LOAD_KERNEL if self._marker.is_file() else COMPILE_KERNEL)
