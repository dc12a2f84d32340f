"""What reading texts for their vectors met: counted, so that it can be said."""

from dataclasses import dataclass

import numpy as np


@dataclass
class ReadCounts:
    """Texts and tokens, and how many of them are unknown or cut."""

    texts: int = 0
    tokens: int = 0
    unknown: int = 0  # tokens
    unread: int = 0  # texts without a token that is known
    cut: int = 0  # texts that are longer than the model can read

    def add(self, ids_T: np.ndarray, known: int, limit: int | None) -> None:
        """Count a text of which so many tokens are known, and the first `limit` are read."""
        self.texts += 1
        self.tokens += len(ids_T)
        self.unknown += len(ids_T) - known
        self.unread += not known
        self.cut += limit is not None and len(ids_T) > limit

    def notes(self, limit: int | None) -> list[str]:
        notes = []
        if self.cut:
            notes.append(
                f"{self.cut:,} of {self.texts:,} texts have more than the {limit:,} tokens that the model reads: their "
                f"vectors are those of their beginning"
            )
        if self.unknown:
            notes.append(f"{self.unknown / self.tokens:.2%} of the tokens are unknown to the model")
        if self.unread:
            notes.append(
                f"{self.unread:,} of {self.texts:,} texts have no token that the model knows: their vectors mean "
                f"nothing"
            )
        return notes
