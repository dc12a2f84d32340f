"""The report of a comparison: a self-contained page, a Markdown table, and figures for papers.

The same results.json, pictures of measures and test-looks.jsonl give the same bytes.
"""

from pathlib import Path

from seqlab.comparison.report.clean import cleaned
from seqlab.comparison.report.figures import write_figure_files, write_figures
from seqlab.comparison.report.look_back import look_back_figure
from seqlab.comparison.report.measures import measure_sections
from seqlab.comparison.report.page import page
from seqlab.comparison.report.table import markdown
from seqlab.comparison.results import NAME as RESULTS
from seqlab.comparison.results import Results
from seqlab.errors import UsageError
from seqlab.runs.looks import describe_looks, read_looks
from seqlab.storage import refuse_link, storage_errors, write_atomic

NAME, TABLE, FIGURES = "report.html", "table.md", "figures"


def refuse_foreign_report(directory: Path) -> None:
    """UsageError for a folder where a report would replace files of somebody else."""
    there = [name for name in (NAME, TABLE, RESULTS) if (directory / name).exists()]
    if there and not (NAME in there and b"seqlab" in (directory / NAME).read_bytes()):
        raise UsageError(f"'{directory / there[0]}' exists, and seqlab did not write it: choose another --out.")


def write_report(results: Results, directory: Path, comparison: Path | None = None) -> Path:
    """Write page, table and figures into a folder; `comparison` is the folder with the pictures of measures."""
    shown = cleaned(results)
    measures = measure_sections(shown, comparison or directory)
    figures = directory / FIGURES
    refuse_link(figures)
    with storage_errors(figures, 0):
        figures.mkdir(parents=True, exist_ok=True)
    write_figures(shown, figures)
    if shown.distances:
        write_figure_files({"distances": look_back_figure(shown)}, figures)
    write_atomic(directory / TABLE, markdown(shown).encode())
    looks = read_looks(comparison or directory)
    write_atomic(directory / NAME, page(shown, measures, describe_looks(looks) if looks else "").encode())
    return directory / NAME
