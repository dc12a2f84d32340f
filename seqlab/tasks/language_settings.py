"""Settings of language modelling, importable without torch."""

from typing import Literal

from pydantic import Field

from seqlab.config import Settings


class LanguageSettings(Settings):
    batching: Literal["windows", "stream"] = Field(
        default="windows", description="random windows, or contiguous rows with carried state"
    )
    batch: int = Field(default=32, ge=1, le=65_536, description="sequences per step")
    window: int = Field(default=128, ge=1, le=65_536, description="tokens per sequence")
