"""The measures of a recipe: carried out on finished runs, stored with them, never carried out twice.

A measure that fails leaves its reason in place of its result: it must not cost the runs that it was to measure.
"""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from seqlab.comparison.results import MeasureResult
from seqlab.errors import SeqlabError
from seqlab.measures.measurement import MeasureContext, Measurement
from seqlab.recipes import Recipe, Writing
from seqlab.registry import MEASURES
from seqlab.runs.run import Run
from seqlab.storage import from_json, read_bytes, storage_errors, to_json, unreadable_file, write_atomic

FOLDER, SHOWS = "measures", "shows"


def is_measured(place: Path, name: str) -> bool:
    return _result_file(place, name).is_file()


def measure_run(run: Run, names: list[str], context: MeasureContext, log: Callable[[str], None]) -> None:
    """Carry out the measures that are still missing."""
    for name in names:
        if not is_measured(run.path, name):
            log(f"measuring {name}")
            _carry_out(name, lambda name=name: MEASURES.load(name)(run, context), run.path, log)


def run_shows(recipe: Recipe | None, directory: Path, log: Callable[[str], None]) -> dict[str, MeasureResult]:
    """What the recipe shows without a run, as far as it is not there yet."""
    names, place = recipe.shows if recipe else (), directory / SHOWS
    context = measure_context(place, recipe.writing if recipe else Writing())
    for name in names:
        if not is_measured(place, name):
            log(f"showing {name}")
            _carry_out(name, lambda name=name: MEASURES.load(name)(context), place, log)
    return {name: read_measure(place, name, directory) for name in names}


def measure_context(place: Path, writing: Writing, split: str = "validation") -> MeasureContext:
    """Pictures go beside the results of the measures."""
    folder = place / FOLDER
    with storage_errors(folder, 0):
        folder.mkdir(parents=True, exist_ok=True)
    return MeasureContext(folder, writing, split)


def read_measure(place: Path, name: str, directory: Path) -> MeasureResult:
    """A result, with the paths of its pictures relative to the comparison."""
    path = _result_file(place, name)
    try:
        result = TypeAdapter(MeasureResult).validate_python(from_json(read_bytes(path), path))
    except ValidationError as error:
        raise unreadable_file(path, error) from None
    folder = path.parent.relative_to(directory)
    return MeasureResult(
        result.data, result.text, [(folder / figure).as_posix() for figure in result.figures], result.failure
    )


def _carry_out(name: str, measure: Callable[[], Measurement], place: Path, log: Callable[[str], None]) -> None:
    try:
        found = measure()
        content = to_json(asdict(MeasureResult(found.data, found.text, [figure.name for figure in found.figures])))
    except Exception as error:  # a measure may come from another package
        reason = str(error) if isinstance(error, SeqlabError) else f"{type(error).__name__}: {error}"
        log(f"{name} could not be measured: {reason}")
        content = to_json(asdict(MeasureResult(failure=reason)))
    write_atomic(_result_file(place, name), content)


def _result_file(place: Path, name: str) -> Path:
    return place / FOLDER / f"{name.replace(':', '-')}.json"
