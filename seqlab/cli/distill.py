"""seqlab distill: a small model that learns from a large one, and whether that helped."""

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from seqlab.registry import BACKBONES, CORPORA

EXAMPLES = (
    "seqlab distill runs/my-transformer-1 --arch gru --budget steps=2000",
    "seqlab distill runs/my-transformer-1 other.txt --teacher-weight 0.7",
)

Fair = partial(Option, rich_help_panel="Comparison")
Student = partial(Option, rich_help_panel="Student")
Settings = partial(Option, rich_help_panel="Settings and output")


def distill(
    teacher: Annotated[Path, Argument(help="Folder of the teacher: a run, or a comparison for its best run.")],
    source: Annotated[
        list[str] | None,
        Argument(help=f"Files, a folder, - or one of {', '.join(CORPORA)}; default the teacher's data."),
    ] = None,
    arch: Annotated[str, Student(help=f"{', '.join(BACKBONES)}.")] = "gru",
    teacher_weight: Annotated[
        float | None, Student(help="Weight of the distillation loss, from 0 to 1; default 0.5.")
    ] = None,
    temperature: Annotated[float | None, Student(help="Softmax temperature of that loss; default 1.")] = None,
    layers: Annotated[int | None, Student(help="Number of layers.")] = None,
    embedding: Annotated[int | None, Student(help="Embedding size.")] = None,
    batch_size: Annotated[int | None, Student(help="Sequences per batch.")] = None,
    window: Annotated[int | None, Student(help="Tokens per training window; default the teacher's.")] = None,
    match: Annotated[
        str | None,
        Fair(help="Student size: params=N, flops=N (per token) or none; default by the data.", metavar="KIND=N"),
    ] = None,
    budget: Annotated[str | None, Fair(help="Training: steps=N, tokens=N or seconds=N.", metavar="KIND=N")] = None,
    minutes: Annotated[float | None, Fair(help="Time for everything if there is no budget; default 15.")] = None,
    seeds: Annotated[int | None, Fair(help="Runs per student; default 3.")] = None,
    tune: Annotated[int | None, Fair(help="Short tuning trials per student; default 3, 0 for none.")] = None,
    jobs: Annotated[int | None, Fair(help="Runs in parallel; default one per core.")] = None,
    split_ratios: Annotated[str | None, Fair(help="Split of other data; for its own data the teacher's.")] = None,
    out: Annotated[
        Path | None, Settings(help="Folder of the comparison; the same command continues one that was stopped.")
    ] = None,
    config: Annotated[Path | None, Settings(help="Read settings from a TOML file.")] = None,
    assignments: Annotated[
        list[str] | None, Settings("--set", metavar="SECTION.KEY=VALUE", help="Any setting of both students.")
    ] = None,
) -> None:
    """Train a student on text and on a teacher's predicted distribution, and compare it with the same student alone."""
    named = ("teacher", "source", "out", "config", "assignments")
    options = {name: value for name, value in locals().items() if name not in (*named, "named") and value is not None}
    from seqlab import api
    from seqlab.cli.compare import finished_comparison
    from seqlab.cli.settings import read_settings
    from seqlab.cli.show import next_steps

    comparison = api.distill(
        teacher,
        source or None,
        out=out,
        settings=read_settings(config, assignments),
        command=shlex.join(["seqlab", *sys.argv[1:]]),
        **options,
    )
    finished_comparison(comparison)
    folder = shlex.quote(str(comparison.directory))
    next_steps(
        f"seqlab generate {folder}", f"seqlab bench {shlex.quote(str(teacher))} {folder}", f"seqlab audit {folder}"
    )
