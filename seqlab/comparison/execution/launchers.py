"""The launchers by name; what a launcher needs is imported only if it is asked for."""

from collections.abc import Callable
from pathlib import Path

from seqlab.comparison.execution.launcher import Launcher
from seqlab.comparison.execution.pool import Pool
from seqlab.comparison.execution.progress import ProgressView
from seqlab.comparison.plan.estimate import own_jobs
from seqlab.comparison.plan.request import ComparisonRequest
from seqlab.runs.directory import COMPARISON_RESULTS


def open_launcher(request: ComparisonRequest, directory: Path, view: ProgressView) -> Launcher:
    """The launcher that is asked for; a comparison that is finished needs no cluster."""
    name = "local" if (directory / COMPARISON_RESULTS).is_file() else request.comparison.launcher
    return LAUNCHERS[name](request, directory, view)


def with_places(request: ComparisonRequest, launcher: Launcher) -> ComparisonRequest:
    """The request with as many runs at once as a cluster has places for."""
    first = next(iter(request.models.values())).train
    places = launcher.places(first.threads or 1, first.device)
    return request if places is None else request.with_jobs(places)


def _local(request: ComparisonRequest, directory: Path, view: ProgressView) -> Launcher:
    return Pool(directory, own_jobs(request), 1, view)


def _ray(request: ComparisonRequest, directory: Path, view: ProgressView) -> Launcher:
    from seqlab.comparison.execution.cluster.launcher import RayLauncher

    return RayLauncher(directory, request.comparison.address, view)


LAUNCHERS: dict[str, Callable[[ComparisonRequest, Path, ProgressView], Launcher]] = {"local": _local, "ray": _ray}
