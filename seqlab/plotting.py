"""Figures: drawn without a display, in one style, written atomically."""

import io
from pathlib import Path
from typing import Any

from seqlab.storage import write_atomic

COLORS = ["#1f4e9c", "#c2410c", "#15803d", "#7e22ce", "#0e7490", "#a16207", "#be185d", "#4b5563"]


def new_figure(width: float, height: float, dpi: int = 150) -> Any:
    """A figure, sizes in inches. matplotlib is imported here because it is slow to import."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", dpi=dpi)
    FigureCanvasAgg(figure)
    return figure


def light_grid(axes: Any) -> None:
    """Draw a faint grid, without a box around the axes."""
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def write_figure(figure: Any, path: Path, **options: Any) -> None:
    """Write the figure in the format of the file name."""
    image = io.BytesIO()
    figure.savefig(image, format=path.suffix[1:], **options)
    write_atomic(path, image.getvalue())
