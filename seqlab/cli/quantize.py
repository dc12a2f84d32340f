"""seqlab quantize: a run in a quarter of the bytes."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option


def quantize(
    run: Annotated[Path, Argument(help="The run's folder.")],
    out: Annotated[Path, Option(help="The folder of the new run.")],
    overwrite: Annotated[bool, Option("--overwrite", help="Replace the run in that folder.")] = False,
) -> None:
    """Make a run whose weights are int8, one scale for each row: smaller, and used like any other."""
    from seqlab import api
    from seqlab.cli.show import metrics_table, next_steps, using_command
    from seqlab.cli.show import out as shown

    done = api.quantize(run, out, overwrite=overwrite)
    before, after = done.bytes
    shown.print(f"{before:,} bytes of weights have become {after:,}: {after / before:.0%}.")
    if done.metrics is None:
        shown.print("The data that it was trained on are not there any more, so it was not scored.")
    else:
        metrics_table("validation", [(run.name, done.metrics[0]), (out.name, done.metrics[1])])
    next_steps(using_command(api.load(out), str(out)), f"seqlab evaluate {out}")
