"""seqlab distill: a small model that learns from a large one, and whether that helped."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

from typer import Argument

from seqlab.cli import options
from seqlab.cli.options import Model, Protocol
from seqlab.registry import BACKBONES, CORPORA

EXAMPLES = (
    "seqlab distill runs/my-transformer-1 --arch gru --budget steps=2000",
    "seqlab distill runs/my-transformer-1 other.txt --teacher-weight 0.7",
)


def distill(
    teacher: Annotated[Path, Argument(help="Folder of the teacher: a run, or a comparison for its best run.")],
    source: Annotated[
        list[str] | None,
        Argument(help=f"Files, a folder, - or one of {', '.join(CORPORA)}; default the teacher's data."),
    ] = None,
    arch: Annotated[str, Model(help=f"Architecture of the student: {', '.join(BACKBONES)}.")] = "gru",
    teacher_weight: Annotated[
        float | None, Model(help="Weight of the distillation loss, above 0, up to 1; default 0.5.")
    ] = None,
    temperature: Annotated[float | None, Model(help="Softmax temperature of that loss; default 1.")] = None,
    layers: options.Layers = None,
    embedding: options.Embedding = None,
    batch_size: options.BatchSize = None,
    window: options.Window = None,
    match: Annotated[
        str | None,
        Protocol(help="Student size: params=N, flops=N (per token) or none; default by the data.", metavar="KIND=N"),
    ] = None,
    budget: Annotated[str | None, Protocol(help="Training: steps=N, tokens=N or seconds=N.", metavar="KIND=N")] = None,
    minutes: options.Minutes = None,
    seeds: options.Seeds = None,
    tune: options.Trials = None,
    jobs: options.Jobs = None,
    split_ratios: Annotated[str | None, Protocol(help="Split of other data; for its own data the teacher's.")] = None,
    out: options.ComparisonFolder = None,
    config: options.Config = None,
    assignments: options.Assignments = None,
) -> None:
    """Train a student on text and on a teacher's predicted distribution, and compare it with the same student alone."""
    named = {"teacher", "source", "out", "config", "assignments"}
    choices = {name: value for name, value in locals().items() if name not in {*named, "named"} and value is not None}
    from seqlab import api
    from seqlab.cli.show import next_steps, print_comparison

    comparison = api.distill(
        teacher,
        source or None,
        out=out,
        settings=options.read_settings(config, assignments),
        command=shlex.join(["seqlab", *sys.argv[1:]]),
        **choices,
    )
    print_comparison(comparison)
    folder = shlex.quote(str(comparison.directory))
    next_steps(
        f"seqlab generate {folder}", f"seqlab bench {shlex.quote(str(teacher))} {folder}", f"seqlab audit {folder}"
    )
