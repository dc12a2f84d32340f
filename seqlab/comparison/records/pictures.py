"""The pictures of a study: drawn from its record, or kept from its measures."""

import os
from pathlib import Path
from typing import Any

from seqlab.comparison.report.figures import forest_figure, lines_figure, save_figure
from seqlab.comparison.report.series import lenses
from seqlab.comparison.results import Results
from seqlab.measures.lengths import draw_by_length


def draw_pictures(name: str, results: Results, folder: Path) -> dict[str, Path]:
    """All pictures of a study by what they show, those of measures included."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures: dict[str, Path] = {}
    panels = [panel for panel in lenses(results)[:1] if any(len(line.x) > 1 for line in panel.lines)]
    if panels:
        figure = lines_figure(panels, None, f"validation loss ({results.loss_unit})")
        pictures["curves"] = save_figure(figure, folder / f"{name}-curves.png")
    if any(pair.low is not None for pair in results.pairs):
        pictures["pairs"] = save_figure(forest_figure(results), folder / f"{name}-pairs.png")
    bins = _bins(results)
    if bins:
        pictures["by-length"] = folder / f"{name}-by-length.png"
        draw_by_length(bins, results.metric.label, pictures["by-length"])
    measures = [*results.shows.values(), *(one for run in results.runs for one in run.measures.values())]
    for measure in measures:
        for figure in measure.figures:
            stem = Path(figure).stem
            key = stem.removeprefix(f"{name}-")
            if (folder / Path(figure).name).is_file() and "by-length" not in stem:
                pictures.setdefault(key, folder / Path(figure).name)
    return pictures


def link(path: Path, page: Path) -> str:
    return Path(os.path.relpath(path, page.parent)).as_posix()


def _bins(results: Results) -> dict[str, list[Any]]:
    """The by-length measure of every entrant that has it."""
    found: dict[str, list[Any]] = {}
    for run in results.runs:
        if (measure := run.measures.get("by-length")) and "bins" in measure.data:
            found.setdefault(run.name, []).append(measure.data["bins"])
    return found
