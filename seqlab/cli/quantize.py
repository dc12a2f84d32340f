"""seqlab quantize: a run with int8 weights."""

import shlex
from pathlib import Path
from typing import Annotated

from typer import Option

from seqlab.cli import options

EXAMPLES = (
    "seqlab quantize runs/my-gru-1 --out runs/my-gru-int8",
    "seqlab quantize runs/my-gru-1 --out runs/my-gru-int8 --overwrite",
)


def quantize(
    run: options.RunFolder,
    out: Annotated[Path, Option(help="Folder of the new run.")],
    overwrite: Annotated[bool, Option("--overwrite", help="Replace the run in that folder.")] = False,
) -> None:
    """Quantize the weights to int8, one scale per row: about a quarter of the size, used like any other run."""
    from seqlab import api
    from seqlab.cli.show import console, metrics_table, next_steps, using_command

    quantized = api.quantize(run, out, overwrite=overwrite)
    before, after = quantized.bytes
    console.print(f"Weights: {before:,} bytes before, {after:,} bytes after ({after / before:.0%}).")
    if quantized.metrics is None:
        console.print("The training data is gone or has changed, so the new run was not scored.")
    else:
        metrics_table("validation", [(run.name, quantized.metrics[0]), (out.name, quantized.metrics[1])])
    scored = f"seqlab evaluate {shlex.quote(str(out))}" if quantized.metrics else ""
    next_steps(using_command(api.load(out)), scored)
