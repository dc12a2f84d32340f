"""seqlab report: write a comparison's report again, or one report on several."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option


def report(
    comparisons: Annotated[list[Path], Argument(help="Folders of finished comparisons.")],
    out: Annotated[Path | None, Option(help="Where to write; needed for several.")] = None,
) -> None:
    """Write the report of a comparison again, or put several that may be mixed into one."""
    from seqlab.cli.show import out as console
    from seqlab.comparison.judgment.merge import merge
    from seqlab.comparison.plan.plan import NAME as PLAN
    from seqlab.comparison.report import write_report
    from seqlab.comparison.results import read_comparison, write_comparison
    from seqlab.errors import UsageError

    found = [read_comparison(folder) for folder in comparisons]
    if len(found) == 1:
        path = write_report(found[0], out or comparisons[0])
    else:
        merged = merge(found, [str(folder) for folder in comparisons])
        if out is None:
            raise UsageError("several comparisons were named: say with --out where their report should go.")
        if (out / PLAN).exists():
            raise UsageError(f"'{out}' is a comparison itself: choose another --out.")
        out.mkdir(parents=True, exist_ok=True)
        write_comparison(merged, out)
        path = write_report(merged, out)
    console.print(f"Report: {path}", markup=False)
