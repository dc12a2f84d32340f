"""The runs in a folder, the best first."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from seqlab.config import resolve
from seqlab.errors import SeqlabError
from seqlab.metrics.metric import Metric
from seqlab.registry import PluginNotAllowed
from seqlab.runs.directory import CONFIG, RunDirectory
from seqlab.runs.results import read_results


@dataclass(frozen=True)
class RunEntry:
    path: str
    arch: str
    corpus: str
    parameters: int
    task: str
    metric: Metric | None  # the headline metric, once finished
    value: float | None  # of it, on validation
    steps: int
    date: str
    status: str

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "metric": self.metric.key if self.metric else None}


def list_runs(folder: Path) -> list[RunEntry]:
    """All runs in a folder and the best run of each comparison in it, damaged runs too.

    Sorted by task, the best run of each first; a run that is also linked to is listed once."""
    paths = [path.parent for path in (*folder.glob(f"*/{CONFIG}"), *folder.glob(f"*/*/{CONFIG}"))]
    once = {path.resolve(): path for path in sorted(paths, key=lambda path: (not path.is_symlink(), path))}
    entries = [_entry(path) for path in sorted(once.values())]
    return sorted(entries, key=_rank)


def _rank(entry: RunEntry) -> tuple[bool, str, str, float]:
    if entry.metric is None or entry.value is None:
        return True, entry.task, "", 0.0
    return False, entry.task, entry.metric.key, entry.metric.cost(entry.value)


def _entry(path: Path) -> RunEntry:
    directory = RunDirectory(path)
    config: dict[str, Any] = {}
    try:
        config = directory.config()
        settings = resolve(config["settings"])
        results = read_results(directory)
        return RunEntry(
            path=str(path),
            arch=settings.backbone.name,
            corpus=config["corpus"]["name"],
            parameters=config["parameters"]["total"],
            task=settings.task.name,
            metric=results.headline_metric if results else None,
            value=results.headline if results else None,
            steps=results.steps if results else settings.train.steps or 0,
            date=results.date if results else config["created"],
            status="finished" if results else "unfinished",
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
        )
    except (SeqlabError, TypeError, AttributeError, KeyError):
        return RunEntry(str(path), "?", "?", 0, "", None, None, 0, "", "damaged")
