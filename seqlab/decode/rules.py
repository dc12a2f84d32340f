"""What a decoder may not choose, and when a row is over. Stop strings are made in stopping.py."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Stop = Callable[[int, Sequence[int]], bool]


@dataclass(frozen=True)
class DecodingRules:
    """`end` closes a row and stays its last token; `stop` is asked (row, tokens without prompt) after each token."""

    end: int | None = None
    banned: Sequence[int] = ()
    stop: Stop | None = None

    def finishes(self, row: int, tokens: Sequence[int]) -> bool:
        """Whether the last token closed the row."""
        return tokens[-1] == self.end or (self.stop is not None and self.stop(row, tokens))
