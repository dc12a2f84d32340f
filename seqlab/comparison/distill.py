"""distill: a student that learns from a teacher's doubts too, compared with the same student without."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from seqlab.comparison.compare import Comparison, carry_out, python_call
from seqlab.comparison.execution.progress import view_for_stderr
from seqlab.comparison.plan.prepared import Prepared
from seqlab.comparison.plan.request import asked
from seqlab.config import Source
from seqlab.errors import UsageError
from seqlab.recipes import Recipe
from seqlab.runs.directory import folder_name
from seqlab.runs.reopen import teacher_at
from seqlab.runs.run import load

TAUGHT, ALONE = "distilled", "plain"


def distill(
    teacher: str | Path,
    source: Source | None = None,
    *,
    arch: str = "gru",
    mix: float | None = None,
    temperature: float | None = None,
    out: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    command: str | None = None,
    **options: Any,
) -> Comparison:
    """Train a student on a text and on what a finished run thinks of it, and say whether that helped.

    The text is the teacher's own if none is given. `options` are those of a comparison and the one-word settings of
    its runs; split, window and tokenizer are the teacher's unless they are set."""
    if str(options.get("budget", "")).startswith("flops"):
        raise UsageError("what the teacher computes is not counted in FLOPs: give a budget in steps or seconds.")
    recipe = students(teacher, arch, {"teacher_weight": mix, "temperature": temperature})
    wanted = asked(source, recipe, settings or {}, options)
    corpus = next(iter(wanted.models.values())).corpus.source[0]
    told = {"arch": arch, "mix": mix, "temperature": temperature, "out": out and str(out)}
    told |= {"settings": settings and dict(settings), **options}
    return carry_out(
        wanted,
        Path(out) if out else Path("runs") / f"{folder_name(Path(corpus).stem)}-distilled",
        command or python_call("distill", [teacher] if source is None else [teacher, source], told),
        view_for_stderr(),
        partial(_teacher_beside, teacher),
    )


def students(teacher: str | Path, arch: str, taught: Mapping[str, float | None]) -> Recipe:
    """Both read what the teacher reads; the one that is alone gives its doubts no weight."""
    tables = teacher_at(teacher)[0].resolved()
    own = {
        "corpus": {key: tables["corpus"][key] for key in ("source", "documents", "split_ratios")},
        "tokenizer": tables["tokenizer"],
        "backbone": {"name": arch},
    }
    given = {key: value for key, value in taught.items() if value is not None}
    task = {"name": "language", "teacher": str(teacher), "window": tables["task"]["window"], **given}
    models = {TAUGHT: {**own, "task": task}, ALONE: {**own, "task": {**task, "teacher_weight": 0.0}}}
    about = "a student with and without its teacher"
    return Recipe("distillation", about, models, comparison={"match": None, "tune": 3})


def _teacher_beside(path: str | Path, prepared: Prepared) -> list[str]:
    """How well the teacher does on the same part: what a student could reach."""
    run, task = load(path), prepared.task(next(iter(prepared.models.values())))
    reached = task.metrics(task.score(run.model, prepared.decides))
    size = sum(weight.numel() for weight in run.model.parameters())
    return [
        f"the teacher, {run.settings.backbone.name} with {size:,} parameters, has {reached['bits_per_char']:.3f} "
        f"bits/char on the {prepared.decides} part; what it computes for its student counts in seconds, not in FLOPs"
    ]
