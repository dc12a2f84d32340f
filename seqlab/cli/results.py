"""seqlab results: the pages of published results, written from their records."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

EXAMPLES = ("seqlab results", "seqlab results results --out docs")


def results(
    records: Annotated[Path, Argument(help="The folder of records.")] = Path("results"),
    out: Annotated[Path, Option(help="Where results.md and results/ are written.")] = Path("docs"),
    add: Annotated[
        list[Path] | None, Option(help="A finished comparison to record first, under the name of its recipe.")
    ] = None,
) -> None:
    """Write the pages of results from the records of finished comparisons."""
    from seqlab.cli.show import console
    from seqlab.comparison.records.overview import record_comparison, write_pages

    for comparison in add or []:
        console.print(f"Recorded: {record_comparison(comparison, records, out)}", markup=False)
    console.print(f"Written: {write_pages(records, out)[0]}", markup=False)
