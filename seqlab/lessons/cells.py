"""The percent format of notebooks as Python files: `# %%` begins a code cell, `# %% [markdown]` one of prose.

jupytext reads and writes the same; reading alone takes a few lines.
"""

import re
from dataclasses import dataclass

MARKER = re.compile(r"^# %%(?: \[(markdown)\])?$")


@dataclass(frozen=True)
class LessonCell:
    """`line`: where its source begins in the file, counted from 1. Prose is without its comment signs."""

    is_prose: bool
    source: str
    line: int


def read_cells(text: str) -> list[LessonCell]:
    """The cells of a file. ValueError for text before the first cell, an unknown marker, or prose that is code."""
    cells: list[LessonCell] = []
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("# %%")]
    if not starts or any(line.strip() for line in lines[: starts[0]]):
        raise ValueError("expected '# %%' or '# %% [markdown]' on the first line.")
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        marker = MARKER.match(lines[start])
        if not marker:
            raise ValueError(f"line {start + 1} is {lines[start]!r}: expected '# %%' or '# %% [markdown]'.")
        content, is_prose = lines[start + 1 : end], marker[1] is not None
        while content and not content[-1].strip():
            content.pop()
        if is_prose:
            wrong = [number for number, line in enumerate(content, start + 2) if line != "#" and line[:2] != "# "]
            if wrong:
                raise ValueError(f"line {wrong[0]} is no prose: expected every line of a Markdown cell to begin '# '.")
            content = [line[2:] for line in content]
        cells.append(LessonCell(is_prose, "\n".join(content), start + 2))
    return cells
