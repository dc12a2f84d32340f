"""Documents in a flat array of tokens; without starts, the array is one document.

The first token of a document is context only: it is not predicted, and no context reaches back across it.
"""

import numpy as np


def first_tokens(length: int, starts_D: np.ndarray | None) -> np.ndarray:
    """True at the first token of each document (N)."""
    first_N = np.zeros(length, bool)
    if starts_D is None:
        first_N[:1] = True
    else:
        assert starts_D[0] == 0 and (np.diff(starts_D) > 0).all(), "starts begin at 0 and increase"
        first_N[starts_D] = True
    return first_N


def slice_documents(
    tokens_N: np.ndarray, starts_D: np.ndarray | None, begin: int, end: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """A slice of the tokens and the starts within it; a document that is cut starts at the beginning of the slice."""
    if starts_D is not None:
        starts_D = np.append(0, starts_D[(starts_D > begin) & (starts_D < end)] - begin)
    return tokens_N[begin:end], starts_D
