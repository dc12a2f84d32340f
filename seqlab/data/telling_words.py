"""A word of a text that shows whether its encoding was guessed right."""

import re
from collections import Counter

WESTERN, LATIN_9, LATIN_9_BEGINS = "cp1252", "iso8859_15", 0xA0
LOOK_ALIKE = ("cp1250", "cp1254")  # besides Latin-9: their small letters outside ASCII are mostly those of Windows-1252
FOREIGN_WORD = re.compile(r"\S{0,20}[^\x00-\x7f]\S{0,20}")


class TellingWord:
    """A word with a character outside ASCII.

    Windows-1252 is a guess. There, it has a character whose byte other encodings read differently: a sign rather than a
    letter, and the rarest, since a word that is right in both encodings would hide a wrong guess."""

    def __init__(self, codec: str):
        self.is_guess = codec == WESTERN
        self._counts: Counter[str] = Counter()
        self._words: dict[str, str] = {}

    def update(self, text: str) -> str:
        """The word so far, with another block of the text; nothing if all is ASCII."""
        if not self.is_guess:
            found = FOREIGN_WORD.search(text) if not self._words else None
            self._words |= {"": found[0]} if found else {}
            return self._words.get("", "")
        for character in sorted(character for character in set(text) if not character.isascii()):
            self._counts[character] += text.count(character)
            self._words.setdefault(character, _word_with(character, text))
        return self._words[min(self._words, key=self._rank)] if self._words else ""

    def _rank(self, character: str) -> tuple[bool, bool, int, int]:
        length = len(self._words[character])  # a longer word is recognized sooner
        return not _differs(character), character.isalpha(), self._counts[character], -length


def _differs(character: str) -> bool:
    """Whether another encoding reads the byte of a character as another one."""
    raw = character.encode(WESTERN)
    codecs = LOOK_ALIKE if raw[0] < LATIN_9_BEGINS else (*LOOK_ALIKE, LATIN_9)
    return any(raw.decode(codec, errors="replace") != character for codec in codecs)


def _word_with(character: str, text: str) -> str:
    match = re.search(rf"\S{{0,20}}{re.escape(character)}\S{{0,20}}", text)
    return match[0] if match else character
