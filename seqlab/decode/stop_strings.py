"""Stop strings: a row is finished when its text contains one of them. Pass to DecodingRules as `stop`."""

from collections.abc import Sequence
from typing import Protocol

from seqlab.errors import UsageError

PARTIAL_CHARACTERS = 3  # a character that is cut at the start of a tail can decode to this many characters


class TokenDecoder(Protocol):
    """What stop strings require of a tokenizer."""

    def decode(self, ids: Sequence[int], /) -> str: ...


class StopStrings:
    """Searches the text of the generated tokens; the prompt does not count."""

    def __init__(self, tokenizer: TokenDecoder, strings: Sequence[str]):
        is_list = isinstance(strings, Sequence) and not isinstance(strings, str)  # pyright: ignore[reportUnnecessaryIsInstance]
        if not is_list or not all(isinstance(string, str) and string for string in strings):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"the stop strings are {strings!r}: give a list of strings, none of them empty.")
        self._tokenizer = tokenizer
        self._strings = tuple(strings)
        self._longest = max(map(len, strings), default=0)

    def __call__(self, row: int, tokens: Sequence[int]) -> bool:
        """Whether the last token completes a stop string. Called after every token, so it decodes only the tail."""
        return self._first(self._tail(tokens)) is not None

    def cut(self, tokens: Sequence[int]) -> str:
        """The text before the first stop string, all of it if there is none."""
        text = self._tokenizer.decode(tokens)
        return text[: self._first(text)]

    def _first(self, text: str) -> int | None:
        return min((index for index in map(text.find, self._strings) if index >= 0), default=None)

    def _tail(self, tokens: Sequence[int]) -> str:
        """The end of the text, long enough for any stop string that the last token completes."""
        needed = self._longest + PARTIAL_CHARACTERS
        count = needed + 1
        while count < len(tokens) and len(self._tokenizer.decode(tokens[-count:-1])) < needed:
            count *= 2
        return self._tokenizer.decode(tokens[-count:])
