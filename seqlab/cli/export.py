"""seqlab export: a run for other programs."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

EXAMPLES = (
    "seqlab export runs/my-gru-1 --out exported",
    "seqlab export runs/my-transformer-1 --out exported --format transformers",
)


def export(
    run: Annotated[Path, Argument(help="Folder of the run.")],
    out: Annotated[Path, Option(help="An empty or new folder for the files.")],
    format: Annotated[
        str, Option(help="onnx: graphs and a program that runs them; transformers: files for that library.")
    ] = "onnx",
) -> None:
    """Export a model for other programs, and check that it computes the same."""
    from seqlab import api
    from seqlab.cli.show import next_steps
    from seqlab.cli.show import out as console

    files = api.export(run, out, format=format)  # pyright: ignore[reportArgumentType]  # it refuses other formats
    for path in files:
        console.print(f"{path}  {path.stat().st_size:,} bytes", markup=False)
    example = next((path for path in files if path.name == "example.py"), None)
    if example is not None:
        arguments = example.read_text(encoding="utf-8").split('"""')[1].partition("example.py ")[2]
        next_steps(f"python {example} {arguments.replace(chr(92), '')}")
