"""seqlab export: a run for other programs."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option


def export(
    run: Annotated[Path, Argument(help="The run's folder.")],
    out: Annotated[Path, Option(help="The folder to be filled.")],
    form: Annotated[
        str, Option("--format", help="onnx: graphs, and a program that runs them; transformers: for that library.")
    ] = "onnx",
) -> None:
    """Write a run in a form that other programs read, after checking that it computes the same."""
    from seqlab import api
    from seqlab.cli.show import next_steps
    from seqlab.cli.show import out as shown

    for path in api.export(run, out, form=form):
        shown.print(f"{path}  {path.stat().st_size:,} bytes", markup=False)
    if form == "onnx":
        next_steps(f'python {out / "example.py"} "The " 100')
