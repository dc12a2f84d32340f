"""Runs a comparison: plan, tune, train, measure, judge, report. The same call resumes it after an interruption."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from filelock import FileLock

from seqlab.comparison.execution.jobs import LOCKS, LOGS, Job
from seqlab.comparison.execution.launcher import Launcher
from seqlab.comparison.execution.launchers import open_launcher, with_places
from seqlab.comparison.execution.measuring import SHOWS, run_shows
from seqlab.comparison.execution.pool import Pool
from seqlab.comparison.execution.progress import ProgressView
from seqlab.comparison.execution.tuning import tune
from seqlab.comparison.judgment.collect import collect_results, results_without_models
from seqlab.comparison.plan.data import ComparisonData, prepare_data
from seqlab.comparison.plan.plan import Plan, PlannedModel, read_plan, refuse_other, write_plan
from seqlab.comparison.plan.planning import make_plan, with_winners
from seqlab.comparison.plan.request import ComparisonRequest
from seqlab.comparison.plan.summary import plan_summary
from seqlab.comparison.report import write_report
from seqlab.comparison.report.table import table
from seqlab.comparison.results import NAME, Results, read_comparison, write_comparison
from seqlab.distributed.world import launched
from seqlab.errors import DataError, UsageError
from seqlab.models.parameter_count import refuse_absurd
from seqlab.runs.directory import TUNING, folder_name, link_best_run
from seqlab.runs.run import Run, load
from seqlab.storage import storage_errors
from seqlab.text_table import aligned_table
from seqlab.training.progress import clock
from seqlab.training.request import least_sizes

WAIT = 0.5  # seconds between two looks for the results


@dataclass(eq=False, repr=False)
class Comparison:
    """A finished comparison."""

    directory: Path
    results: Results

    @classmethod
    def load(cls, directory: str | Path) -> "Comparison":
        """A finished comparison, from its folder; `seqlab.load` gives its best run."""
        return cls(Path(directory), read_comparison(Path(directory)))

    def __repr__(self) -> str:
        return f"Comparison('{self.directory}': {', '.join(entrant.name for entrant in self.results.entrants)})"

    def table(self) -> str:
        """Every entrant and baseline with its score and costs, the best first."""
        brief = table(self.results, brief=True)
        return aligned_table([brief.headers, *brief.lines()])

    @property
    def verdicts(self) -> list[str]:
        """The verdict on every pair, as sentences."""
        return [pair.sentence for pair in self.results.pairs]

    @property
    def best(self) -> Run:
        """The recommended run, ready to use."""
        if not self.results.entrants:
            raise UsageError(f"'{self.directory}' has no run: its recipe has no models.")
        return load(self.directory / self.results.best.path)

    def report(self, path: str | Path | None = None) -> Path:
        """Write the report and its figures into the comparison's folder or another one."""
        return write_report(self.results, Path(path) if path else self.directory, self.directory)


def run_comparison(
    request: ComparisonRequest,
    directory: Path,
    command: str,
    view: ProgressView,
    remarks: Callable[[ComparisonData], list[str]] = lambda _: [],
) -> Comparison:
    """Do everything that is not done yet, from the plan to the report; `remarks` adds notes that need the data."""
    began, resumes = time.monotonic(), (directory / TUNING).exists()
    for model in request.models.values():
        refuse_absurd(model, least_sizes(model))
    _create_directory(directory, request)
    plan = data = None
    if request.models:
        data = prepare_data(request, directory, view.log)
        with open_launcher(request, directory, view) as launcher:
            request = with_places(request, launcher)
            with FileLock(directory / LOCKS / "plan.lock"):
                draft = _draft_plan(request, directory, data, view.log, remarks, began)
            view.log(plan_summary(draft, request, data, directory))
            launcher.threads = draft.threads
            plan, jobs = _train(draft, request, directory, data, launcher)
        if not launched().is_writer:  # of several processes, one judges
            return _written_by_another(directory)
        _measure(plan, jobs, request, directory, view)
    shows = run_shows(request.recipe, directory, view.log)
    if not (directory / NAME).is_file():
        if plan is None or data is None:
            results = results_without_models(request, command)
        else:
            view.log("all runs are done: scoring baselines, auditing, writing the report")
            results = collect_results(plan, request, data, directory, command)
        write_comparison(replace(results, shows=shows), directory)
    results = read_comparison(directory)
    write_report(results, directory, directory)
    if results.entrants:
        link_best_run(directory, Path(results.best.path))
    if plan is not None:
        view.log(time_taken(plan, time.monotonic() - began, resumes))
    return Comparison(directory, results)


def _written_by_another(directory: Path) -> Comparison:
    while not (directory / NAME).is_file():
        time.sleep(WAIT)
    return Comparison.load(directory)


def time_taken(plan: Plan, seconds: float, resumes: bool) -> str:
    """The estimate beside the time that was needed; a command that resumed has not seen all of it."""
    if resumes:
        return (
            f"this command resumed the comparison and took {clock(seconds)}; estimated for all: {clock(plan.estimate)}"
        )
    return f"estimated {clock(plan.estimate)}, took {clock(seconds)} ({seconds / plan.estimate:.1f} times the estimate)"


def _train(
    draft: Plan, request: ComparisonRequest, directory: Path, data: ComparisonData, launcher: Launcher
) -> tuple[Plan, list[Job]]:
    """Tune, train and score in parallel."""
    plan = _frozen_plan(draft, request, directory, data, launcher)
    jobs = [_job(model, seed, data.deciding_split) for model in plan.models for seed in plan.seeds]
    launcher.run(jobs, "runs")
    return plan, jobs


def _measure(plan: Plan, jobs: Sequence[Job], request: ComparisonRequest, directory: Path, view: ProgressView) -> None:
    """Measure one run at a time and on this machine, because measures are timed."""
    recipe = request.recipe
    if recipe is not None and recipe.measures:
        measuring = [replace(job, measures=list(recipe.measures), writing=asdict(recipe.writing)) for job in jobs]
        with Pool(directory, 1, plan.threads, view) as pool:
            pool.run(measuring, "measures")


def default_directory(request: ComparisonRequest) -> Path:
    """The same folder for the same request, so that the same command resumes."""
    recipe, models = request.recipe, list(request.models.values())
    name = recipe.name if recipe is not None else Path(models[0].corpus.source[0]).stem
    return Path("runs") / f"{folder_name(name)}-comparison"


def _create_directory(directory: Path, request: ComparisonRequest) -> None:
    """Create the folder, or refuse one that holds something else."""
    plan = read_plan(directory) or read_plan(directory / TUNING)
    if plan is not None:
        refuse_other(plan, request, directory)
    elif directory.exists() and (not directory.is_dir() or (request.models and _is_foreign(directory))):
        raise UsageError(f"'{directory}' is not a comparison. Choose another --out.")
    with storage_errors(directory, 0):
        (directory / LOCKS).mkdir(parents=True, exist_ok=True)


def _is_foreign(directory: Path) -> bool:
    """Whether the folder holds more than what a comparison writes before its plan."""
    return any(item.name not in (LOCKS, LOGS, TUNING, SHOWS, "corpus.txt") for item in directory.iterdir())


def _draft_plan(
    request: ComparisonRequest,
    directory: Path,
    data: ComparisonData,
    log: Callable[[str], None],
    remarks: Callable[[ComparisonData], list[str]],
    began: float,
) -> Plan:
    """The plan before tuning, made once; its estimate counts from `began`, when the command started."""
    draft = read_plan(directory) or read_plan(directory / TUNING)
    if draft is None:
        draft = make_plan(request, data, log)
        spent = time.monotonic() - began
        draft = replace(draft, notes=[*draft.notes, *remarks(data)], estimate=spent + draft.estimate)
        (directory / TUNING).mkdir(exist_ok=True)
        write_plan(draft, directory / TUNING)
    fingerprint = data.dataset.fingerprint
    if draft.fingerprints != {"corpus": fingerprint, "tokenizer": data.dataset.vocabulary.fingerprint}:
        raise DataError(
            f"the text has changed since '{directory}' was planned: its SHA-256 was "
            f"{draft.fingerprints['corpus'][:12]}, now it is {fingerprint[:12]}. Restore it, or choose another --out."
        )
    return draft


def _frozen_plan(
    draft: Plan, request: ComparisonRequest, directory: Path, data: ComparisonData, launcher: Launcher
) -> Plan:
    """The plan with its learning rates, fixed before the first run."""
    plan = read_plan(directory)
    if plan is not None:
        return plan
    plan = draft
    if draft.trials:
        tuned, winners = tune(draft, request.comparison, directory, launcher)
        plan = with_winners(tuned, request, data, winners, launcher.view.log)
    with FileLock(directory / LOCKS / "plan.lock"):
        frozen = read_plan(directory)  # another command on the same comparison may have come first
        if frozen is None:
            write_plan(plan, directory)
    return frozen or plan


def _job(model: PlannedModel, seed: int, split: str) -> Job:
    settings = model.changed(**{"train.seed": seed}).settings
    return Job(model.run_path(seed), settings, split, model.seconds + model.evaluation_seconds)


def python_call(function: str, positional: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    """The Python call that repeats a comparison."""
    arguments = [repr(str(value) if isinstance(value, Path) else value) for value in positional]
    arguments += [f"{key}={value!r}" for key, value in keywords.items() if value is not None]
    return f"seqlab.{function}({', '.join(arguments)})"
