"""Which tokens a decoder must not choose, and when a row is finished. stop_strings.py makes stop functions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Stop = Callable[[int, Sequence[int]], bool]


@dataclass(frozen=True)
class DecodingRules:
    """`end` finishes a row and stays its last token; `stop` gets (row, tokens without prompt) after each token."""

    end: int | None = None
    banned: Sequence[int] = ()
    stop: Stop | None = None

    def finishes(self, row: int, tokens: Sequence[int]) -> bool:
        """Whether the last token finishes the row."""
        return tokens[-1] == self.end or (self.stop is not None and self.stop(row, tokens))
