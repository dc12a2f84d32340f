"""Distillation: a student trained on a teacher's predicted distribution, compared with the same student alone."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from seqlab.comparison.compare import Comparison, python_call, run_comparison
from seqlab.comparison.execution.progress import view_for_stderr
from seqlab.comparison.plan.data import ComparisonData
from seqlab.comparison.plan.request import build_request
from seqlab.config import DataSource
from seqlab.errors import UsageError, refuse_given
from seqlab.recipes import Recipe
from seqlab.runs.directory import folder_name
from seqlab.runs.reopen import teacher_at
from seqlab.runs.run import load
from seqlab.training.unused_settings import UNTAUGHT

# settings of its students: what is read, and how
TEACHER_CORPUS = (
    *("source", "documents", "layout", "text_column", "skip_limit", "sharded"),
    *("split_ratios", "split", "validation", "test"),
)


def distill(
    teacher: str | Path,
    source: DataSource | None = None,
    *,
    arch: str = "gru",
    teacher_weight: float | None = None,
    temperature: float | None = None,
    out: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    command: str | None = None,
    **options: Any,
) -> Comparison:
    """Train a student with and without a teacher, and compare the two (`seqlab.api.distill` has the details)."""
    if str(options.get("budget", "")).startswith("flops"):
        raise UsageError("the teacher's computation is not counted in FLOPs: give a budget in steps or seconds.")
    if teacher_weight == 0:
        raise UsageError(UNTAUGHT.format("teacher_weight"))
    if source is None:
        refuse_given({"split_ratios": options.get("split_ratios")}, "on the teacher's own data, whose split is kept")
    recipe = students(teacher, arch, {"teacher_weight": teacher_weight, "temperature": temperature})
    view = view_for_stderr()
    request = build_request(source, recipe, settings or {}, options, view.log)
    corpus = next(iter(request.models.values())).corpus.source[0]
    arguments = {"arch": arch, "teacher_weight": teacher_weight, "temperature": temperature, "out": out and str(out)}
    arguments |= {"settings": settings and dict(settings), **options}
    return run_comparison(
        request,
        Path(out) if out else Path("runs") / f"{folder_name(Path(corpus).stem)}-distilled",
        command or python_call("distill", [teacher] if source is None else [teacher, source], arguments),
        view,
        partial(_teacher_score, teacher),
    )


def students(teacher: str | Path, arch: str, distillation: Mapping[str, float | None]) -> Recipe:
    """Two models on the teacher's corpus and tokenizer; the plain one gives the teacher no weight."""
    tables = teacher_at(teacher)[0].resolved()
    shared = {
        "corpus": {key: tables["corpus"][key] for key in TEACHER_CORPUS},
        "tokenizer": tables["tokenizer"],
        "backbone": {"name": arch},
    }
    options = {key: value for key, value in distillation.items() if value is not None}
    task = {"name": "language", "teacher": str(teacher), "window": tables["task"]["window"], **options}
    models = {"distilled": {**shared, "task": task}, "plain": {**shared, "task": {**task, "teacher_weight": 0.0}}}
    about = "a student with and without its teacher"
    return Recipe("distillation", about, models, comparison={"match": None, "tune": 3})


def _teacher_score(path: str | Path, data: ComparisonData) -> list[str]:
    """The teacher's score on the same split, as a note for the report."""
    run, task = load(path), data.task(data.shared)
    metrics = task.metrics(task.score(run.model, data.deciding_split))
    size = sum(weight.numel() for weight in run.model.parameters())
    return [
        f"the teacher, {run.settings.model_name} with {size:,} parameters, has {metrics['bits_per_char']:.3f} "
        f"bits/char on the {data.deciding_split} split; its computation counts in seconds, not in FLOPs"
    ]
