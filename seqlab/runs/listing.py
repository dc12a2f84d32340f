"""The runs below a folder, in groups that can be compared, the best of each group first."""

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from seqlab.config import RunSettings, resolve
from seqlab.data.folders import is_export
from seqlab.errors import MissingInput, SeqlabError, UsageError
from seqlab.metrics.metric import Metric
from seqlab.registry import PluginNotAllowed
from seqlab.runs.checkpoint import checkpoints, step_of
from seqlab.runs.directory import BEST, CONFIG, PLAN, RUNS, TUNING, WEIGHTS, RunDirectory
from seqlab.runs.results import read_results
from seqlab.runs.tensors import is_complete

LEVELS = 4  # of folders below the given one: a run of a comparison in runs/ is at the fourth


@dataclass(frozen=True)
class RunEntry:
    path: str
    arch: str
    corpus: str
    parameters: int
    task: str
    metric: Metric | None  # the headline metric, once finished
    value: float | None  # of it, on validation
    steps: int  # that were made, as far as they are kept
    date: str
    status: str
    data: str = ""  # fingerprint of the text or the examples
    rule: str = ""  # how they were split
    mode: str = ""  # how the validation split was scored
    window: int | None = None  # that mode's, if it scores windows: a longer one gives a model more to read
    tokenizer: str = ""
    fitted_on_validation: bool = False  # the exponents of a mixture were, so its value is too good
    started_from: str = ""  # the run whose weights it began with, if any: `steps` are its own alone

    @property
    def group(self) -> tuple[str, ...]:
        """Equal for runs whose values can be compared: one task, metric, data, split, mode, window, and no mixture that
        was fitted on validation among models that never saw it."""
        if self.metric is None or self.value is None:
            return ()
        fitted = "fitted" if self.fitted_on_validation else ""
        return self.task, self.metric.key, self.data, self.rule, self.mode, f"{self.window or 0:9}", fitted

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "metric": self.metric.key if self.metric else None}


def list_runs(folder: Path) -> list[RunEntry]:
    """All runs in a folder and up to LEVELS below it, with those of comparisons but without their tuning trials.

    Groups of comparable runs, the best of each first; then unfinished and damaged ones. A run that is also linked to,
    or copied as the best of its comparison, is listed once."""
    if not folder.exists():
        raise MissingInput(f"there is no folder '{folder}': name one that has runs in it, or below it.")
    if not folder.is_dir():
        raise UsageError(f"'{folder}' is a file: name a folder that has runs in it, or below it.")
    paths = sorted(_find_runs(folder, LEVELS), key=lambda path: (not path.is_symlink(), path))
    once = {path.resolve(): path for path in paths}
    listed = {str(resolved): str(path) for resolved, path in once.items()}
    entries = [_entry(path) for path in sorted(once.values())]
    entries = [replace(entry, started_from=listed.get(entry.started_from, entry.started_from)) for entry in entries]
    return sorted(entries, key=_rank)


def _find_runs(folder: Path, levels: int) -> Iterator[Path]:
    if (folder / CONFIG).exists():
        if not is_export(folder):
            yield folder
        return
    try:
        inside = sorted(item.path for item in os.scandir(folder) if item.is_dir() and not item.name.startswith("."))
    except OSError:  # it may not be read
        return
    paths = list(map(Path, inside))
    if (folder / PLAN).is_file() and (folder / RUNS).is_dir():
        paths = [path for path in paths if path.name not in (BEST, TUNING)]
    for path in paths:
        if (path / CONFIG).exists() or (levels > 1 and not path.is_symlink()):
            yield from _find_runs(path, levels - 1)


def _steps_so_far(directory: RunDirectory) -> int:
    return max(map(step_of, checkpoints(directory.checkpoints)), default=0)


def _rank(entry: RunEntry) -> tuple[bool, tuple[str, ...], float]:
    if entry.metric is None or entry.value is None:
        return True, (), 0.0
    return False, entry.group, entry.metric.cost(entry.value)


def _entry(path: Path) -> RunEntry:
    directory = RunDirectory(path)
    config: dict[str, Any] = {}
    try:
        config = directory.config()
        settings = resolve(config["settings"])
        results = read_results(directory)
        weights = path / WEIGHTS
        damaged = not is_complete(weights) if results or weights.exists() else False
        scored = results if not damaged else None
        return RunEntry(
            path=str(path),
            arch=settings.model_name,
            corpus=config["corpus"]["name"],
            parameters=config["parameters"]["total"],
            task=settings.task.name,
            metric=scored.headline_metric if scored else None,
            value=scored.headline if scored else None,
            steps=results.steps if results else _steps_so_far(directory),
            date=results.date if results else config["created"],
            status="damaged weights" if damaged else "finished" if results else "unfinished",
            data=config["corpus"]["fingerprint"],
            rule=_rule(config["corpus"], settings),
            mode=results.mode if results else "",
            window=results.window if results and results.mode == "window" else None,
            tokenizer=settings.tokenizer.name,
            fitted_on_validation=settings.mixture_sees_validation,
            started_from=_started_from(config),
        )
    except PluginNotAllowed as error:
        return RunEntry(
            path=str(path),
            arch=str(config["settings"]["backbone"]["name"]),
            corpus=config["corpus"]["name"],
            parameters=config["parameters"]["total"],
            task=str(config["settings"]["task"]["name"]),
            metric=None,
            value=None,
            steps=config["settings"]["train"]["steps"] or 0,
            date=config["created"],
            status=f"needs --plugin {error.name}",
            started_from=_started_from(config),
        )
    except (SeqlabError, TypeError, AttributeError, KeyError):
        return RunEntry(str(path), "?", "?", 0, "", None, None, 0, "", "damaged")


def _started_from(config: dict[str, Any]) -> str:
    return next((origin["path"] for origin in config.get("origins", [])[:1] if origin["role"] == "init"), "")


def _rule(corpus: dict[str, Any], settings: RunSettings) -> str:
    """How the data was split, and whether lines were scored one by one: a model of them is no rival of one that reads
    on."""
    rule: str = corpus.get("rule", settings.corpus.split_ratios)
    return f"{rule}, by lines" if settings.corpus.documents == "lines" and "lines" not in rule else rule
