"""Runs the measures of a recipe once on every finished run, and stores the results with the run.

A measure that fails stores the reason as its result: the comparison must not fail because of it.
"""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from seqlab.comparison.results import MeasureResult
from seqlab.errors import SeqlabError
from seqlab.measures.measurement import MeasureContext
from seqlab.recipes import Recipe, Writing
from seqlab.registry import MEASURES
from seqlab.runs.run import Run
from seqlab.storage import from_json, read_bytes, refuse_link, storage_errors, to_json, validated, write_atomic

FOLDER, SHOWS = "measures", "shows"


def is_measured(place: Path, name: str) -> bool:
    return _result_file(place, name).is_file()


def measure_run(run: Run, names: list[str], context: MeasureContext, log: Callable[[str], None]) -> None:
    """Run the measures that are still missing."""
    for name in names:
        _measure(name, run.path, log, run, context)


def run_shows(recipe: Recipe | None, directory: Path, log: Callable[[str], None]) -> dict[str, MeasureResult]:
    """Run the recipe's shows that are still missing; return the results of all."""
    names, place = recipe.shows if recipe else (), directory / SHOWS
    context = measure_context(place, recipe.writing if recipe else Writing())
    for name in names:
        _measure(name, place, log, context)
    return {name: read_measure(place, name, directory) for name in names}


def measure_context(place: Path, writing: Writing, split: str = "validation") -> MeasureContext:
    """A context that stores pictures next to the results of the measures."""
    folder = place / FOLDER
    refuse_link(folder)
    with storage_errors(folder, 0):
        folder.mkdir(parents=True, exist_ok=True)
    return MeasureContext(folder, writing, split)


def read_measure(place: Path, name: str, directory: Path) -> MeasureResult:
    """A result, with the paths of its pictures relative to the comparison."""
    path = _result_file(place, name)
    result = validated(MeasureResult, from_json(read_bytes(path), path), path)
    folder = path.parent.relative_to(directory)
    return replace(result, figures=[(folder / figure).as_posix() for figure in result.figures])


def _measure(name: str, place: Path, log: Callable[[str], None], *arguments: Any) -> None:
    if is_measured(place, name):
        return
    log(f"measuring {name}")
    try:
        measured = MEASURES.load(name)(*arguments)
        result = MeasureResult(measured.data, measured.text, [figure.name for figure in measured.figures])
        content = to_json(asdict(result))
    except Exception as error:  # a measure may come from another package
        reason = str(error) if isinstance(error, SeqlabError) else f"{type(error).__name__}: {error}"
        log(f"{name} could not be measured: {reason}")
        content = to_json(asdict(MeasureResult(failure=reason)))
    write_atomic(_result_file(place, name), content)


def _result_file(place: Path, name: str) -> Path:
    return place / FOLDER / f"{name.replace(':', '-')}.json"
