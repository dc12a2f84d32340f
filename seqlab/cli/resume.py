"""seqlab resume: continue a run that was interrupted."""

import shlex
from typing import Annotated

from typer import Option

from seqlab.cli import options

EXAMPLES = ("seqlab resume runs/my-gru-1", "seqlab resume runs/my-gru-1 --more 1000")


def resume(
    run: options.RunFolder,
    more: Annotated[int | None, Option(help="Train a finished run for this many more steps.", min=1)] = None,
) -> None:
    """Continue an interrupted run, or train a finished one further."""
    from seqlab import api
    from seqlab.cli.show import next_steps, print_run, using_command

    resumed = api.resume(run, more)
    print_run(resumed)
    next_steps(using_command(resumed), f"seqlab evaluate {shlex.quote(str(run))}")
