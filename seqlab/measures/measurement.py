"""What a measurement comes to: figures to be kept, text to be read, pictures to be looked at."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Measurement:
    data: dict[str, Any]
    text: str
    figures: list[Path] = field(default_factory=list)
