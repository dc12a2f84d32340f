"""Decoding while a text is generated: a character that tokens have not completed yet is held back."""

import codecs

from seqlab.tokenization.tokenizer import Ids, Tokenizer


class TextStream:
    """The results of `push` and `flush`, joined, equal `decode` of all ids at once."""

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, ids: Ids) -> str:
        """The text that these ids complete."""
        return self._decoder.decode(self._tokenizer.decode_bytes(ids))

    def flush(self) -> str:
        """The rest: U+FFFD for an incomplete character. The stream can then be used again."""
        return self._decoder.decode(b"", final=True)
