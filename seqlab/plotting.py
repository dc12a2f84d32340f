"""Pictures: drawn without a screen, in one look, written whole."""

import io
from pathlib import Path
from typing import Any

from seqlab.storage import write_atomic

COLORS = ["#1f4e9c", "#c2410c", "#15803d", "#7e22ce", "#0e7490", "#a16207", "#be185d", "#4b5563"]


def new_figure(width: float, height: float, dpi: int = 150) -> Any:
    """So many inches; matplotlib is slow to import, and many commands draw nothing."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", dpi=dpi)
    FigureCanvasAgg(figure)
    return figure


def quiet(axes: Any) -> None:
    """A faint grid, and no box around it."""
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def write_figure(figure: Any, path: Path, **options: Any) -> None:
    """In the format that the name ends in."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], **options)
    write_atomic(path, drawn.getvalue())
