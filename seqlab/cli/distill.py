"""seqlab distill: a small model that learns from a large one, and whether that helped."""

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from seqlab.registry import BACKBONES, CORPORA

Fair = partial(Option, rich_help_panel="Comparison")
Student = partial(Option, rich_help_panel="Student")
Where = partial(Option, rich_help_panel="Where")


def distill(
    teacher: Annotated[Path, Argument(help="The run to learn from; a comparison stands for its best.")],
    text: Annotated[
        list[str] | None, Argument(help=f"The teacher's if not given. Files, a folder, - or: {', '.join(CORPORA)}.")
    ] = None,
    arch: Annotated[str, Student(help=f"One of {', '.join(BACKBONES)}.")] = "gru",
    mix: Annotated[float | None, Student(help="Share of the loss that is the teacher's; 0.5 if not given.")] = None,
    temperature: Annotated[float | None, Student(help="Of both in that share; 1 if not given.")] = None,
    layers: Annotated[int | None, Student(help="How many are stacked.")] = None,
    embedding: Annotated[int | None, Student(help="Width of the embedding.")] = None,
    batch_size: Annotated[int | None, Student(help="Sequences per step.")] = None,
    window: Annotated[int | None, Student(help="Tokens per sequence; the teacher's if not given.")] = None,
    match: Annotated[
        str | None, Fair(help="Size: params=N or flops=N (per token) or none; by the text.", metavar="KIND=N")
    ] = None,
    budget: Annotated[str | None, Fair(help="Equal training: steps=, tokens= or seconds=N.", metavar="KIND=N")] = None,
    minutes: Annotated[float | None, Fair(help="Without a budget, how long all may take; 15 if not given.")] = None,
    seeds: Annotated[int | None, Fair(help="Runs of each; 3 if not given.")] = None,
    tune: Annotated[int | None, Fair(help="Short trials of each; 3 if not given, 0 for none.")] = None,
    jobs: Annotated[int | None, Fair(help="Runs at a time; one a core if not given.")] = None,
    split_ratios: Annotated[str | None, Fair(help="Of another text; of its own the teacher's.")] = None,
    out: Annotated[Path | None, Where(help="The comparison's folder; the same command goes on there.")] = None,
    assignments: Annotated[
        list[str] | None, Where("--set", metavar="SECTION.KEY=VALUE", help="Any setting of both students.")
    ] = None,
) -> None:
    """Train a student on a text and on a teacher's doubts, and compare it with the same student without."""
    given = {name: value for name, value in locals().items() if value is not None}
    options = {name: value for name, value in given.items() if name not in ("teacher", "text", "out", "assignments")}
    from seqlab.cli.compare import finished_comparison
    from seqlab.cli.show import next_steps
    from seqlab.comparison.distill import distill as run_distillation
    from seqlab.config import parse_assignment

    done = run_distillation(
        teacher,
        text or None,
        out=out,
        settings=dict(map(parse_assignment, assignments or [])),
        command=shlex.join(["seqlab", *sys.argv[1:]]),
        **options,
    )
    finished_comparison(done)
    place = shlex.quote(str(done.directory))
    next_steps(f"seqlab generate {place}", f"seqlab bench {shlex.quote(str(teacher))} {place}", f"seqlab audit {place}")
