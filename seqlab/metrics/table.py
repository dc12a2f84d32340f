"""Numbers under each other."""

from collections.abc import Sequence


def columns(rows: Sequence[Sequence[str]], right_from: int = 1) -> str:
    """Rows of cells as aligned text; the first row are the headings."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = (
        "  ".join(cell.ljust(width) if at < right_from else cell.rjust(width) for at, (cell, width) in enumerate(pairs))
        for pairs in (list(zip(row, widths, strict=True)) for row in rows)
    )
    return "\n".join(line.rstrip() for line in lines)
