"""Where documents begin in a flat array of tokens. Without starts the whole array is one document.

A document's first token is context only: it is neither predicted nor counted as if it had been, and no context
reaches back across it.
"""

import numpy as np


def first_tokens(length: int, starts_D: np.ndarray | None) -> np.ndarray:
    """True at the first token of each document (N)."""
    first_N = np.zeros(length, bool)
    if starts_D is None:
        first_N[:1] = True
    else:
        assert starts_D[0] == 0 and (np.diff(starts_D) > 0).all(), "starts begin at 0 and rise"
        first_N[starts_D] = True
    return first_N


def part(
    tokens_N: np.ndarray, starts_D: np.ndarray | None, begin: int, end: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """A stretch of the tokens and the starts within it; a document that the stretch enters halfway starts there."""
    if starts_D is not None:
        starts_D = np.append(0, starts_D[(starts_D > begin) & (starts_D < end)] - begin)
    return tokens_N[begin:end], starts_D
