"""compare: plan, tune, train, judge, write up. Stopped anywhere, the same call goes on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from filelock import FileLock

from seqlab.comparison.execution.jobs import LOCKS, Job
from seqlab.comparison.execution.pool import Pool
from seqlab.comparison.execution.progress import View, view_for_stderr
from seqlab.comparison.execution.tuning import tune
from seqlab.comparison.judgment.collect import gather
from seqlab.comparison.plan.plan import RUNS, TUNING, Plan, read_plan, refuse_other, write_plan
from seqlab.comparison.plan.planning import jobs_of, make_plan, with_winners
from seqlab.comparison.plan.prepared import Prepared, prepare
from seqlab.comparison.plan.request import ComparisonRequest, asked
from seqlab.comparison.plan.summary import plan_in_words
from seqlab.comparison.report import write_report
from seqlab.comparison.report.table import table
from seqlab.comparison.results import NAME, Results, read_comparison, write_comparison
from seqlab.config import Source
from seqlab.errors import DataError, UsageError
from seqlab.models.parameter_count import refuse_absurd
from seqlab.runs.directory import folder_name, link_best_run
from seqlab.runs.run import Run, load
from seqlab.storage import storage_errors
from seqlab.text_table import aligned_table
from seqlab.training.progress import NullReporter
from seqlab.training.request import least_sizes


class Comparison:
    """A finished comparison."""

    def __init__(self, directory: Path, results: Results):
        self.directory, self.results = directory, results

    def __repr__(self) -> str:
        return f"Comparison('{self.directory}': {', '.join(one.name for one in self.results.entrants)})"

    def table(self) -> str:
        """Every entrant and floor with its loss and its cost, the best first."""
        made = table(self.results, brief=True)
        return aligned_table([made.heads, *made.lines()])

    @property
    def verdicts(self) -> list[str]:
        """What can be said of every pair, in sentences."""
        return [pair.sentence for pair in self.results.pairs]

    @property
    def best(self) -> Run:
        """The recommended run, ready to use."""
        return load(self.directory / self.results.best.path)

    def report(self, path: str | Path | None = None) -> Path:
        """Write the report and its figures, into the comparison's own folder or another."""
        return write_report(self.results, Path(path) if path else self.directory)


def compare(
    source: Source | None = None,
    *,
    out: str | Path | None = None,
    recipe: str | None = None,
    settings: Mapping[str, Any] | None = None,
    command: str | None = None,
    view: View | None = None,
    **options: Any,
) -> Comparison:
    """Train several architectures on one text under one plan, and say which to use.

    `options` are those of a comparison (archs, seeds, match, budget, minutes, tune, tune_over, jobs, negligible) and
    the one-word settings of its runs (tokenizer, window, batch, layers, ...). A comparison that was stopped goes on."""
    view = view or view_for_stderr()
    wanted = asked(source, recipe, settings or {}, options, view.log)
    told = {"out": out and str(out), "recipe": recipe, "settings": settings and dict(settings), **options}
    return carry_out(
        wanted,
        Path(out) if out else default_directory(wanted),
        command or python_call("compare", [] if source is None else [source], told),
        view,
    )


def carry_out(
    wanted: ComparisonRequest,
    directory: Path,
    command: str,
    view: View,
    remarks: Callable[[Prepared], list[str]] = lambda _: [],
) -> Comparison:
    """All of it, as far as it is not done; `remarks` are of the data, to be kept in mind."""
    for model in wanted.models.values():
        refuse_absurd(model, least_sizes(model))
    _enter(directory, wanted)
    prepared = prepare(wanted, directory, _Saying(view))
    with FileLock(directory / LOCKS / "plan.lock"):
        draft = _drafted(wanted, directory, prepared, view, remarks)
    view.log(plan_in_words(draft, wanted, prepared, directory))
    with Pool(directory, jobs_of(wanted), draft.threads, view) as pool:
        plan = _planned(draft, wanted, directory, prepared, pool)
        pool.run([_job(plan, prepared, name, seed) for name in wanted.models for seed in plan.seeds], "runs")
    if not (directory / NAME).is_file():
        view.log("all runs are done: counting, auditing and writing up")
        results = gather(plan, wanted, prepared, directory, command)
        write_comparison(results, directory)
    return _written_up(directory)


def _written_up(directory: Path) -> Comparison:
    results = read_comparison(directory)
    write_report(results, directory)
    link_best_run(directory, Path(results.best.path))
    return Comparison(directory, results)


def default_directory(wanted: ComparisonRequest) -> Path:
    """The same for the same text, so that the same command goes on."""
    source = next(iter(wanted.models.values())).corpus.source[0]
    return Path("runs") / f"{folder_name(wanted.recipe or Path(source).stem)}-comparison"


def _enter(directory: Path, wanted: ComparisonRequest) -> None:
    """Make the folder, or refuse one that holds something else."""
    plan = read_plan(directory) or read_plan(directory / TUNING)
    if plan is not None:
        refuse_other(plan, wanted, directory)
    elif directory.exists() and (not directory.is_dir() or _foreign(directory)):
        raise UsageError(f"'{directory}' holds something that is not a comparison. Choose another --out.")
    with storage_errors(directory, 0):
        (directory / LOCKS).mkdir(parents=True, exist_ok=True)


def _foreign(directory: Path) -> bool:
    """Whether there is anything but what a comparison leaves that was stopped before its plan was made."""
    return any(item.name not in (LOCKS, TUNING, "corpus.txt") for item in directory.iterdir())


def _drafted(
    wanted: ComparisonRequest, directory: Path, prepared: Prepared, view: View, remarks: Callable[[Prepared], list[str]]
) -> Plan:
    """The plan as it stands before tuning, made once."""
    draft = read_plan(directory) or read_plan(directory / TUNING)
    if draft is None:
        draft = make_plan(wanted, prepared, _Saying(view))
        draft = replace(draft, notes=[*draft.notes, *remarks(prepared)])
        (directory / TUNING).mkdir(exist_ok=True)
        write_plan(draft, directory / TUNING)
    found = prepared.dataset.fingerprint
    if draft.fingerprints != {"corpus": found, "tokenizer": prepared.dataset.vocabulary.fingerprint}:
        raise DataError(
            f"the text is no longer the one that '{directory}' was planned for: its SHA-256 was "
            f"{draft.fingerprints['corpus'][:12]}, now {found[:12]}. Bring it back, or choose another --out."
        )
    return draft


def _planned(draft: Plan, wanted: ComparisonRequest, directory: Path, prepared: Prepared, pool: Pool) -> Plan:
    """The plan with its rates, frozen before the first run."""
    plan = read_plan(directory)
    if plan is not None:
        return plan
    plan = draft
    if draft.trials:
        told, winners = tune(draft, wanted.comparison, directory, pool)
        plan = with_winners(told, wanted, prepared, winners, _Saying(pool.view))
    with FileLock(directory / LOCKS / "plan.lock"):
        frozen = read_plan(directory)  # another command on the same comparison may have come first
        if frozen is None:
            write_plan(plan, directory)
    return frozen or plan


def _job(plan: Plan, prepared: Prepared, name: str, seed: int) -> Job:
    model = plan.model(name)
    settings = model.changed(**{"train.seed": seed}).settings
    seconds = model.seconds + model.evaluation_seconds
    return Job(f"{RUNS}/{name}-{seed}", settings, prepared.decides, seconds)


def python_call(function: str, given: Sequence[Any], named: Mapping[str, Any]) -> str:
    """The call that repeats a comparison."""
    words = [repr(str(one) if isinstance(one, Path) else one) for one in given]
    words += [f"{key}={value!r}" for key, value in named.items() if value is not None]
    return f"seqlab.{function}({', '.join(words)})"


class _Saying(NullReporter):
    """Puts what is said while a text is prepared on the view."""

    def __init__(self, view: View):
        self._view = view

    def log(self, message: str) -> None:
        self._view.log(message)
