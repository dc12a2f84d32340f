"""Tables as text: aligned columns for a terminal, and Markdown."""

from collections.abc import Sequence


def aligned_table(rows: Sequence[Sequence[str]], right_from: int = 1) -> str:
    """Rows of cells in aligned columns; the first row holds the headings."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = (
        "  ".join(cell.ljust(width) if at < right_from else cell.rjust(width) for at, (cell, width) in enumerate(pairs))
        for pairs in (list(zip(row, widths, strict=True)) for row in rows)
    )
    return "\n".join(line.rstrip() for line in lines)


def markdown_table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: bool = False) -> str:
    """A Markdown table; with `right`, all columns but the first are right-aligned."""
    rule = ["---", *(["---:" if right else "---"] * (len(headers) - 1))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (headers, rule, *rows))
