"""Stop strings: a row is over when its text contains one of them. Give it to Rules as `stop`."""

from collections.abc import Sequence
from typing import Protocol

from seqlab.errors import UsageError

PARTIAL_CHARACTERS = 3  # characters at the start of a tail that may be pieces of one that was cut through


class TokenDecoder(Protocol):
    """All that is asked of a tokenizer."""

    def decode(self, ids: Sequence[int], /) -> str: ...


class StopStrings:
    """Looks for strings in the text of the generated tokens; the prompt's text does not count."""

    def __init__(self, tokenizer: TokenDecoder, strings: Sequence[str]):
        if isinstance(strings, str) or "" in strings:
            raise UsageError(f"the stop strings are {strings!r}: give a list of strings, none of them empty.")
        self._tokenizer = tokenizer
        self._strings = tuple(strings)
        self._longest = max(map(len, strings), default=0)

    def __call__(self, row: int, tokens: Sequence[int]) -> bool:
        """Whether a stop string is complete; asked after every token, it needs only the tail of the text."""
        return self._first(self._tail(tokens)) is not None

    def cut(self, tokens: Sequence[int]) -> str:
        """The text before the first stop string, all of it if there is none."""
        text = self._tokenizer.decode(tokens)
        return text[: self._first(text)]

    def _first(self, text: str) -> int | None:
        return min((place for place in map(text.find, self._strings) if place >= 0), default=None)

    def _tail(self, tokens: Sequence[int]) -> str:
        """A text in which any stop string that the last token completed is whole."""
        needed = self._longest + PARTIAL_CHARACTERS
        count = needed + 1
        while count < len(tokens) and len(self._tokenizer.decode(tokens[-count:-1])) < needed:
            count *= 2
        return self._tokenizer.decode(tokens[-count:])
