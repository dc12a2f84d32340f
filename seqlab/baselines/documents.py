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


def context_lengths(length: int, starts_D: np.ndarray | None, window: int | None = None) -> np.ndarray:
    """How many tokens before each one are its context (N): all of its document or, with a window, those since the last
    window began. Windows lie end to end; the first token of one is the last target of the window before it."""
    first_N = first_tokens(length, starts_D)
    positions_N = np.arange(length)
    before_N = positions_N - np.maximum.accumulate(np.where(first_N, positions_N, 0))
    return before_N if window is None else np.where(before_N > 0, (before_N - 1) % window + 1, 0)


def slice_documents(
    tokens_N: np.ndarray, starts_D: np.ndarray | None, begin: int, end: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """A slice of the tokens and the starts within it; a document that is cut starts at the beginning of the slice."""
    sliced_N = tokens_N[begin:end]
    if starts_D is None or not len(sliced_N):
        return sliced_N, None
    return sliced_N, np.append(0, starts_D[(starts_D > begin) & (starts_D < end)] - begin)
