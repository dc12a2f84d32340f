"""What a measurement comes to: figures to be kept, text to be read, pictures to be looked at."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Shown:
    data: dict[str, Any]
    text: str
    figures: list[Path] = field(default_factory=list)


def columns(rows: list[list[str]], right_from: int = 1) -> str:
    """Rows of cells as aligned text; the first row are the headings."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = (
        "  ".join(cell.ljust(width) if at < right_from else cell.rjust(width) for at, (cell, width) in enumerate(pairs))
        for pairs in (list(zip(row, widths, strict=True)) for row in rows)
    )
    return "\n".join(line.rstrip() for line in lines)
