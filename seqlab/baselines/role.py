"""What a baseline is for: models are judged against the main one; the others are for reference."""

from typing import Literal

BaselineRole = Literal["main", "reference"]
