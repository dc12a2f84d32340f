"""The report of a comparison: a self-contained page, a Markdown table, and figures for papers.

The same results.json and pictures of measures give the same bytes.
"""

from pathlib import Path

from seqlab.comparison.report.clean import cleaned
from seqlab.comparison.report.figures import write_figures
from seqlab.comparison.report.measures import measure_sections
from seqlab.comparison.report.page import page
from seqlab.comparison.report.table import markdown
from seqlab.comparison.results import Results
from seqlab.storage import refuse_link, storage_errors, write_atomic

NAME, TABLE, FIGURES = "report.html", "table.md", "figures"


def write_report(results: Results, directory: Path, comparison: Path | None = None) -> Path:
    """Write page, table and figures into a folder; `comparison` is the folder with the pictures of measures."""
    shown = cleaned(results)
    measures = measure_sections(shown, comparison or directory)
    figures = directory / FIGURES
    refuse_link(figures)
    with storage_errors(figures, 0):
        figures.mkdir(parents=True, exist_ok=True)
    write_figures(shown, figures)
    write_atomic(directory / TABLE, markdown(shown).encode())
    write_atomic(directory / NAME, page(shown, measures).encode())
    return directory / NAME
