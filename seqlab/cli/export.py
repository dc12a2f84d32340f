"""seqlab export: a run for other programs."""

import ast
import shlex
from pathlib import Path
from typing import Annotated

from typer import Option

from seqlab.cli import options

EXAMPLES = (
    "seqlab export runs/my-gru-1 --out exported",
    "seqlab export runs/my-transformer-1 --out exported --format transformers",
)


def export(
    run: options.RunFolder,
    out: Annotated[Path, Option(help="An empty or new folder for the files.")],
    format: Annotated[
        str, Option(help="onnx: graphs and a program that runs them; transformers: files for that library.")
    ] = "onnx",
) -> None:
    """Export a model for other programs, and check that it computes the same."""
    from seqlab import api
    from seqlab.cli.show import console, next_steps

    files = api.export(run, out, format=format)  # pyright: ignore[reportArgumentType]  # it refuses other formats
    for path in files:
        console.print(f"{path}  {path.stat().st_size:,} bytes", markup=False)
    example = next((path for path in files if path.name == "example.py"), None)
    if example is not None:
        about = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or ""
        next_steps(f"python {shlex.quote(str(example))} {about.partition('example.py ')[2]}")
