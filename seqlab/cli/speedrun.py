"""seqlab speedrun: the best language model that this machine can make in some minutes."""

import shlex
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from seqlab.cli import options

EXAMPLES = (
    "seqlab speedrun my.txt",
    "seqlab speedrun --minutes 20",
    "seqlab speedrun my.txt --out runs/best --seeds 3",
)


def speedrun(
    source: Annotated[
        list[str] | None, Argument(help="Files, a folder, or a built-in text; default tiny-shakespeare.")
    ] = None,
    minutes: Annotated[int, Option(help="5, 20 or 60, from raw text to result.")] = 5,
    seeds: Annotated[int | None, Option(help="Runs, each with its own clock; default 1, or 3 without a text.")] = None,
    first_seed: Annotated[int, Option(help="First seed; another machine may have the ones before it.")] = 0,
    out: Annotated[Path | None, Option(help="Folder; default runs/speedrun-<text>-<minutes>.")] = None,
    as_json: options.Json = False,
) -> None:
    """Make the best language model of a text within some minutes, without questions."""
    from seqlab import api
    from seqlab.cli.show import console, next_steps, table

    record = api.speedrun(source or None, minutes=minutes, seeds=seeds, first_seed=first_seed, out=out)
    if as_json:
        console.print_json(data=record.as_dict())
        return
    columns = ["", "nats/char", "carried", "network alone", "steps", "seconds"]
    rows = [
        [f"seed {one.seed}", *(f"{nats:.4f}" for nats in (one.window, one.carried, one.network)), f"{one.steps:,}",
         f"{one.seconds:.0f}"]
        for one in record.attempts
    ]  # fmt: skip
    window = record.attempts[0].tokens or record.recipe["task"]["window"]
    table(
        f"{record.text}, validation in windows of {window}, {minutes} minutes on {record.attempts[0].machine}",
        columns,
        rows,
    )
    for sentence in record.sentences:
        console.print(sentence, markup=False, soft_wrap=True)
    best = shlex.quote(min(record.attempts, key=lambda attempt: attempt.window).path)
    next_steps(f"seqlab generate {best}", f"seqlab evaluate {best}", f"seqlab audit {best}")
