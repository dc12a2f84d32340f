"""Characters between spaces, with _ for a space, as some benchmarks publish their text: the text that they spell."""

import re
from collections.abc import Iterable, Iterator

from seqlab.errors import DataError

TWO_SYMBOLS = re.compile(r"\S\S+")


def join_symbols(blocks: Iterable[str], name: str) -> Iterator[str]:
    """The text of symbols; DataError if two of them are not separated."""
    last = ""
    for block in blocks:
        if joined := TWO_SYMBOLS.search(last + block):
            raise DataError(
                f"'{name}' has {joined[0][:20]!r} between spaces, and corpus.layout=symbols expects one character, as "
                f"in 't h e _ f o x'. Leave the layout out to read the text as it is."
            )
        last = block[-1]
        if text := re.sub(r"[^\S\n]", "", block).replace("_", " "):
            yield text
