"""The pictures of a study: drawn from its record, or copied from its measures."""

import os
from itertools import chain
from pathlib import Path
from typing import Any

from seqlab.comparison.report.figures import forest_figure, lines_figure
from seqlab.comparison.report.series import lenses
from seqlab.comparison.results import Results
from seqlab.measures.lengths import draw_by_length
from seqlab.plotting import write_figure


def draw_pictures(name: str, results: Results, folder: Path) -> dict[str, Path]:
    """All pictures of a study by what they show."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures: dict[str, Path] = {}
    panels = [panel for panel in lenses(results)[:1] if any(len(line.x) > 1 for line in panel.lines)]
    if panels:
        figure = lines_figure(panels, None, f"validation loss ({results.loss_unit})")
        pictures["curves"] = folder / f"{name}-curves.png"
        write_figure(figure, pictures["curves"])
    if any(pair.low is not None for pair in results.pairs):
        pictures["pairs"] = folder / f"{name}-pairs.png"
        write_figure(forest_figure(results), pictures["pairs"])
    bins: dict[str, list[Any]] = {}
    for run in results.runs:
        if (measure := run.measures.get("by-length")) and "bins" in measure.data:
            bins.setdefault(run.name, []).append(measure.data["bins"])
    if bins:
        pictures["by-length"] = folder / f"{name}-by-length.png"
        draw_by_length(bins, results.metric.label, pictures["by-length"])
    for measure in chain(results.shows.values(), *(run.measures.values() for run in results.runs)):
        for path in (folder / Path(figure).name for figure in measure.figures):
            if path.is_file() and "by-length" not in path.stem:
                pictures.setdefault(path.stem.removeprefix(f"{name}-"), path)
    return pictures


def link(path: Path, page: Path) -> str:
    return Path(os.path.relpath(path, page.parent)).as_posix()
