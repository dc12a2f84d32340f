"""seqlab results: the records of finished recipes as one page."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

EXAMPLES = ("seqlab results", "seqlab results results --out docs")


def results(
    folder: Annotated[Path, Argument(help="Where the records lie.")] = Path("docs/results"),
    out: Annotated[Path | None, Option(help="The page to write; <folder>.md if not given.")] = None,
) -> None:
    """Make a page of tables and curves from the records that recipes leave."""
    from seqlab.cli.show import out as console
    from seqlab.studies.page import write_page

    console.print(f"Written: {write_page(folder, out or folder.with_suffix('.md'))}")
