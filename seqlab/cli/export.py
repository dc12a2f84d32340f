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

    written = api.export(run, out, form=form)
    for path in written:
        shown.print(f"{path}  {path.stat().st_size:,} bytes", markup=False)
    example = next((path for path in written if path.name == "example.py"), None)
    if example is not None:
        words = example.read_text(encoding="utf-8").split('"""')[1].partition("example.py ")[2]
        next_steps(f"python {example} {words.replace(chr(92), '')}")
