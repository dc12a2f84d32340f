"""Run a recipe: train each of its models, resume what was stopped, measure, record."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqlab import __version__, api
from seqlab.config import RunSettings, Source, resolve
from seqlab.errors import UsageError
from seqlab.measures.measurement import Measurement
from seqlab.recipes import Recipe, find_recipe
from seqlab.registry import MEASURES
from seqlab.runs.directory import RunDirectory
from seqlab.runs.machine import machine
from seqlab.runs.results import timestamp
from seqlab.studies.record import Record, record_of, write_record
from seqlab.training.request import settings_from_request

# what a run decides for itself, so that it may differ from what was asked for
DECIDED = {"train": {"threads", "steps", "epochs", "seconds", "from_step"}}


@dataclass(frozen=True)
class Done:
    """One model of a recipe, trained, measured and recorded; without a run where the recipe has no model."""

    model: str
    run: "api.Run | None"
    measures: dict[str, Measurement]
    record: Path


def run_recipe(
    name: str,
    *,
    out: Path | None = None,
    results: Path | None = None,
    source: "Source | None" = None,
    settings: Mapping[str, Any] | None = None,
    **short: Any,
) -> Iterator[Done]:
    """Every model of a recipe, as they are finished; then what it shows without one.

    Runs lie in `out`/<model>-<seed>. What is there already is used, and what was stopped goes on. Records go to
    `results`, by default docs/results where that folder is, else beside the runs."""
    recipe = find_recipe(name)
    root = out or Path("runs") / name
    folder = results or (Path("docs/results") if Path("docs/results").is_dir() else root)
    for model in recipe.models:
        wanted = settings_from_request(source, recipe.models[model], settings or {}, short)
        path = root / f"{model}-{wanted.train.seed}"
        run = _trained(path, wanted, f"{name}/{model}", source, settings, short)
        record = folder / f"{name}-{model}-{wanted.train.seed}.json"
        measures: dict[str, Measurement] = {}
        if not record.exists():
            measures = _measured(recipe, run, folder, record.stem)
            kept = {measure: _kept(shown) for measure, shown in measures.items()}
            write_record(record_of(name, model, run, kept), folder)
        yield Done(model, run, measures, record)
    for show in recipe.shows:
        record = folder / f"{name}-{show}-0.json"
        if record.exists():
            yield Done(show, None, {}, record)
            continue
        folder.mkdir(parents=True, exist_ok=True)
        shown: Measurement = MEASURES.load(show)(folder)
        yield Done(show, None, {show: shown}, write_record(_shown_record(name, show, shown), folder))


def _trained(
    path: Path,
    wanted: RunSettings,
    recipe: str,
    source: "Source | None",
    settings: Mapping[str, Any] | None,
    short: Mapping[str, Any],
) -> "api.Run":
    directory = RunDirectory(path)
    if not directory.is_run():
        return api.train(source, out=path, recipe=recipe, settings=settings, **short)
    found = difference(directory.config(), wanted)
    if found:
        raise UsageError(
            f"'{path}' was trained with other settings ({'; '.join(found)}). Choose another --out, or remove it."
        )
    return api.resume(path)


def difference(config: Mapping[str, Any], wanted: RunSettings) -> list[str]:
    """In which settings a run differs from what is wanted; one that did not exist then has its default."""
    had, found = resolve(config["settings"]).resolved(), []
    for section, values in wanted.resolved().items():
        for key, value in values.items():
            was = had[section].get(key)
            if was != value and key not in DECIDED.get(section, ()):
                found.append(f"{section}.{key} was {was}, not {value}")
    if config["budget"] != wanted.train.budget:
        found.append(f"the budget was {config['budget']}, not {wanted.train.budget}")
    return found


def _measured(recipe: Recipe, run: "api.Run", folder: Path, stem: str) -> dict[str, Measurement]:
    """Pictures are named after the record that they belong to."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for measure in recipe.measures:
        shown: Measurement = MEASURES.load(measure)(run, folder, recipe.writing)
        moved = [figure.rename(figure.with_name(f"{stem}-{figure.name}")) for figure in shown.figures]
        found[measure] = Measurement(shown.data, shown.text, moved)
    return found


def _kept(shown: Measurement) -> dict[str, Any]:
    return {"data": shown.data, "text": shown.text, "figures": [figure.name for figure in shown.figures]}


def _shown_record(recipe: str, show: str, shown: Measurement) -> Record:
    """Of what is shown without a run."""
    return Record(
        recipe=recipe,
        model=show,
        seed=0,
        arch=None,
        date=timestamp(),
        machine=machine(),
        versions={"seqlab": __version__},
        settings={},
        parameters={},
        corpus={},
        results={},
        evaluations=[],
        samples=[],
        measures={show: _kept(shown)},
    )
