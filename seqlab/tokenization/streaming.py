"""Text while it is generated: tokens may end in the middle of a character, which is held back until it is whole."""

import codecs

from seqlab.tokenization.tokenizer import Ids, Tokenizer


class TextStream:
    """What `push` and `flush` return, joined, is what `decode` gives for all the ids at once."""

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, ids: Ids) -> str:
        """The text that these ids complete."""
        return self._decoder.decode(self._tokenizer.decode_bytes(ids))

    def flush(self) -> str:
        """The rest: U+FFFD for a character that was never completed. The stream can then be used afresh."""
        return self._decoder.decode(b"", final=True)
