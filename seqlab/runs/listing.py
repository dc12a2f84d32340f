"""The runs in a folder, at a glance."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from seqlab.config import resolve
from seqlab.errors import SeqlabError
from seqlab.runs.directory import CONFIG, RunDirectory
from seqlab.runs.results import LOWER, read_results


@dataclass(frozen=True)
class RunEntry:
    path: str
    arch: str
    corpus: str
    parameters: int
    task: str
    figure: str  # the headline of its task
    value: float | None  # of that on validation, once finished
    steps: int
    date: str
    status: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def list_runs(folder: Path) -> list[RunEntry]:
    """All runs in a folder, in the studies and the best of the comparisons there; damaged ones are named too.

    Tasks by name, and of each the best first; a run that is linked to as well is named once."""
    found = [path.parent for path in (*folder.glob(f"*/{CONFIG}"), *folder.glob(f"*/*/{CONFIG}"))]
    once = {path.resolve(): path for path in sorted(found, key=lambda path: (not path.is_symlink(), path))}
    entries = [_entry(path) for path in sorted(once.values())]
    return sorted(entries, key=_rank)


def _rank(entry: RunEntry) -> tuple[bool, str, str, float]:
    lower_is_better = entry.figure in LOWER
    return entry.value is None, entry.task, entry.figure, (entry.value or 0.0) * (1 if lower_is_better else -1)


def _entry(path: Path) -> RunEntry:
    directory = RunDirectory(path)
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
            figure=results.headline if results else "",
            value=results.validation[results.headline] if results else None,
            steps=results.steps if results else settings.train.steps or 0,
            date=results.date if results else config["created"],
            status="finished" if results else "unfinished",
        )
    except (SeqlabError, TypeError, AttributeError, KeyError):
        return RunEntry(str(path), "?", "?", 0, "", "", None, 0, "", "damaged")
