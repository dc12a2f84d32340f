"""Pictures: drawn without a screen, in one look, written whole."""

import io
from pathlib import Path
from typing import Any

from seqlab.runs.storage import write_atomic


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
