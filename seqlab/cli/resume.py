"""seqlab resume: continue a run that was interrupted."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

EXAMPLES = ("seqlab resume runs/my-gru-1", "seqlab resume runs/my-gru-1 --more 1000")


def resume(
    run: Annotated[Path, Argument(help="Folder of the run.")],
    more: Annotated[int | None, Option(help="Train a finished run for this many more steps.", min=1)] = None,
) -> None:
    """Continue an interrupted run, or train a finished one further."""
    from seqlab import api
    from seqlab.cli.show import finished_run, next_steps, using_command

    resumed = api.resume(run, more)
    finished_run(resumed)
    next_steps(using_command(resumed), f"seqlab evaluate {run}")
