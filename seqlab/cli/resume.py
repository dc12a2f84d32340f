"""seqlab resume: go on where a run stopped."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option


def resume(
    run: Annotated[Path, Argument(help="The run's folder.")],
    more: Annotated[int | None, Option(help="Train a finished run for this many steps more.", min=1)] = None,
) -> None:
    """Go on with an interrupted run, or train a finished one further."""
    from seqlab import api
    from seqlab.cli.show import finished_run, next_steps, using_command

    done = api.resume(run, more)
    finished_run(done)
    next_steps(using_command(done), f"seqlab evaluate {run}")
