"""Figures: drawn without a display, in one style, written atomically."""

import io
import warnings
from pathlib import Path
from typing import Any, Literal

from seqlab.errors import UsageError
from seqlab.storage import write_atomic

# distinguishable with any common color blindness, and by lightness
COLORS = ("#1b4aa8", "#d8620c", "#1f8f70", "#8c1d5f", "#5a4a00", "#5b9bd5")

FORMATS = (".png", ".svg", ".pdf")
CREATOR = "seqlab"
# how the files of pages, PNG, SVG and PDF say who made them
OURS = (b'<meta name="generator" content="seqlab', b"Software\0seqlab", b"<dc:title>seqlab<", b"/Creator (seqlab)")


def new_figure(width: float, height: float, dpi: int = 150) -> Any:
    """A figure, sizes in inches. matplotlib is imported here because it is slow to import."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", dpi=dpi)
    FigureCanvasAgg(figure)
    return figure


def light_grid(axes: Any) -> None:
    """Draw a faint grid behind the data, without a box around the axes."""
    axes.set_axisbelow(True)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def legend_above(axes: Any) -> None:
    """The names of the lines above the chart, where they hide none; inside, if there are too many."""
    labels = axes.get_legend_handles_labels()[1]
    columns = max(1, 48 // (max(map(len, labels)) + 5))
    if len(labels) <= 3 * columns:
        axes.legend(
            frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.2
        )
    else:
        axes.legend(frameon=False, fontsize=7)


def from_zero(axes: Any) -> None:
    """The vertical axis from zero to a little above the data."""
    axes.set_ylim(0, 1.06 * max(axes.dataLim.y1, 1e-9))


def check_format(path: Path) -> None:
    """UsageError for a file name whose ending is no format of a picture."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"'{path}' is no picture: expected a file name that ends in {', '.join(FORMATS)}.")


def refuse_foreign(path: Path, option: str = "--out") -> None:
    """UsageError for a file that exists and is no page or picture of ours, which can be made again."""
    content = path.read_bytes() if path.is_file() else b""
    if path.exists() and not any(mark in content for mark in OURS):
        raise UsageError(f"'{path}' exists, and seqlab did not write it: choose another {option}, or remove it.")


def write_figure(figure: Any, path: Path) -> None:
    """Write the figure in the format of the file name."""
    write_atomic(path, figure_bytes(figure, path.suffix[1:].lower(), creator=CREATOR))


def figure_bytes(
    figure: Any, extension: str, text: Literal["path", "none"] = "path", creator: str | None = None, **options: Any
) -> bytes:
    """The figure as PNG, SVG or PDF: the same bytes for the same figure, without a date or random ids.

    The text of an SVG becomes paths, which look the same everywhere, or with "none" it stays text.
    """
    import matplotlib

    image = io.BytesIO()
    key = "Software" if extension == "png" else "Creator"
    metadata: dict[str, str | None] = {key: creator} if creator or extension == "svg" else {}
    if extension == "svg":
        metadata |= dict.fromkeys(("Date", "Format", "Type"))
    with warnings.catch_warnings(), matplotlib.rc_context({"svg.hashsalt": "seqlab", "svg.fonttype": text}):
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(image, format=extension, metadata=metadata, **options)
    return image.getvalue()
