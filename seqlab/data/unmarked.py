"""UTF-16 and UTF-32 without a byte-order mark, of any script.

Such bytes have controls that no other text has. They are read so only if what they spell is text: hardly anything but
letters, marks, digits and signs, in few scripts, with the white space or the stops that every text has."""

import codecs
import math
import re
import unicodedata
from collections import Counter

WIDE = {"utf-32-le": 4, "utf-32-be": 4, "utf-16-le": 2, "utf-16-be": 2}  # bytes of a character; the longer one first
SAMPLE_BYTES = 1 << 16
MIN_BYTES = 16  # fewer could be anything
MIN_CONTROLS = 0.01  # the share of bytes
CONTROLS = bytes({*range(32), 127} - {*b"\t\n\r\f\v\x1a\x1b"})
ASCII = bytes({0, *range(32, 127)})
MAX_ASCII = 0.95  # the share of bytes; with more, UTF-16 spells ASCII, or this is ASCII with NULs between
MIN_READABLE = 0.99  # the share of characters
MIN_WORDS = 0.5  # the share of letters, marks, digits and white space
SCRIPTS, MIN_IN_SCRIPTS = 3, 0.95  # the share of letters in so many scripts: Japanese has three
READABLE = "\t\n\r\f\xad\u200b\u200c\u200d\u200e\u200f\ufeff"  # besides what has a glyph
BETWEEN_WORDS = re.compile("[ \t\n\u1361\u3000\u3001\u3002\uff0c]")


def recognize_unmarked(raw: bytes) -> str | None:
    """The codec of a file that begins so; None for any other encoding, binary data, and too few bytes."""
    if len(raw) < MIN_BYTES:
        return None
    fitting = _fitting(raw[:SAMPLE_BYTES])
    return next((codec for codec, text in fitting.items() if BETWEEN_WORDS.search(text)), None)


def suspect_unmarked(raw: bytes) -> str | None:
    """The codec that a file may have: what it spells looks like text, but it is too short to be sure."""
    return next(iter(_fitting(raw[:SAMPLE_BYTES])), None)


def _fitting(raw: bytes) -> dict[str, str]:
    """The codecs in which the bytes are plausible, and the text; first the one whose characters are most alike."""
    if len(raw) - len(raw.translate(None, CONTROLS)) < max(1, MIN_CONTROLS * len(raw)):
        return {}
    texts: dict[str, str] = {}
    for codec in WIDE:
        try:
            texts[codec] = codecs.getincrementaldecoder(codec)().decode(raw)  # it may end within a character
        except UnicodeDecodeError:
            continue
    plausible = [codec for codec, text in texts.items() if text and _is_plausible(text, raw, WIDE[codec])]
    return {codec: texts[codec] for codec in sorted(plausible, key=lambda codec: _spread(texts[codec]))}


def _is_plausible(text: str, raw: bytes, size: int) -> bool:
    readable = words = 0
    scripts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        kind = unicodedata.category(character)
        readable += count * (kind[0] in "LMNPSZ" or character in READABLE)
        words += count * (kind[0] in "LMZ" or kind == "Nd" or character in READABLE)
        if kind[0] == "L":
            scripts[re.split("[ -]", unicodedata.name(character, ""))[0]] += count
    in_ascii = size == 2 and len(raw) - len(raw.translate(None, ASCII)) > MAX_ASCII * len(raw)
    return (
        readable >= MIN_READABLE * len(text)
        and words >= MIN_WORDS * len(text)
        and sum(count for _, count in scripts.most_common(SCRIPTS)) >= MIN_IN_SCRIPTS * scripts.total()
        and (not in_ascii or 2 * sum(map(str.isascii, text)) > len(text))
    )


def _spread(text: str) -> float:
    """The entropy of the blocks of 256 that characters are from: it is low in the right order of bytes."""
    blocks = Counter(ord(character) >> 8 for character in text)
    return -sum(count / len(text) * math.log2(count / len(text)) for count in blocks.values())
