"""seqlab report: rewrite the report of a comparison, or write one report on several."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

EXAMPLES = ("seqlab report runs/my", "seqlab report runs/first runs/second --out runs/both")


def report(
    comparisons: Annotated[list[Path], Argument(help="Folders of finished comparisons.")],
    out: Annotated[Path | None, Option(help="Folder for the report; required for several comparisons.")] = None,
) -> None:
    """Rewrite the report of a comparison, or merge several comparisons that share data and protocol into one."""
    from seqlab.cli.show import console
    from seqlab.comparison.judgment.merge import merge
    from seqlab.comparison.report import refuse_foreign_report, write_report
    from seqlab.comparison.results import read_comparison, write_comparison
    from seqlab.errors import UsageError
    from seqlab.runs.directory import PLAN

    results = [read_comparison(folder) for folder in comparisons]
    if out is not None and (out / PLAN).exists() and [out.resolve()] != [folder.resolve() for folder in comparisons]:
        raise UsageError(f"'{out}' is a comparison itself: choose another --out.")
    if out is not None and out not in comparisons:
        refuse_foreign_report(out)
    if len(results) == 1:
        path = write_report(results[0], out or comparisons[0])
    else:
        merged = merge(results, [str(folder) for folder in comparisons])
        if out is None:
            raise UsageError("several comparisons were given: name a folder for their report with --out.")
        out.mkdir(parents=True, exist_ok=True)
        write_comparison(merged, out)
        path = write_report(merged, out)
    console.print(f"Report: {path}", markup=False)
