"""A view of the tokens alone."""

from collections.abc import Sequence

from seqlab.inspection.reading import Reading
from seqlab.inspection.sheet import Sheet, TokenColumn, one


def widths(readings: Sequence[Reading]) -> Sheet:
    """How many characters each token has."""
    tokens = one(readings, "widths").tokens
    counts = list(map(len, tokens))
    columns = [TokenColumn(token, cells=[(0, str(count))]) for token, count in zip(tokens, counts, strict=True)]
    return Sheet("widths", f"{sum(counts)} characters", {"counts": counts}, lanes=["characters"], columns=columns)
