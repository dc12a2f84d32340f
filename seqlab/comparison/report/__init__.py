"""The written report of a comparison: one page that opens offline, a table in markdown, and figures for papers.

All of it is a function of results.json and of the pictures of measures: the same results give the same bytes.
"""

from pathlib import Path

from seqlab.comparison.report.clean import cleaned
from seqlab.comparison.report.figures import write_figures
from seqlab.comparison.report.measures import measure_sections
from seqlab.comparison.report.page import page
from seqlab.comparison.report.table import markdown
from seqlab.comparison.results import Results
from seqlab.storage import storage_errors, write_atomic

NAME, TABLE, FIGURES = "report.html", "table.md", "figures"


def write_report(results: Results, directory: Path, comparison: Path | None = None) -> Path:
    """Write page, table and figures into a folder; `comparison` is where the pictures of measures are."""
    shown = cleaned(results)
    measures = measure_sections(shown, comparison or directory)
    figures = directory / FIGURES
    with storage_errors(figures, 0):
        figures.mkdir(parents=True, exist_ok=True)
    write_figures(shown, figures)
    write_atomic(directory / TABLE, markdown(shown).encode())
    write_atomic(directory / NAME, page(shown, measures).encode())
    return directory / NAME
