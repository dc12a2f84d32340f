"""Text from corpora, models and file names, made fit to be shown.

Markup is escaped where it is written. Here goes what no escaping helps against: characters that HTML and XML forbid,
that turn the direction of the text around them, or that are only half of one; and strings without end.
"""

import re
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter

from seqlab.comparison.results import Results

LONGEST = 4000  # characters of one string
# Unicode's pictures of the control characters: a reader sees that there was one
PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
# the other controls, halves of surrogate pairs, marks that turn the direction of writing, and what is no character
FORBIDDEN = re.compile("[\x80-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]")


def clean_text(text: str) -> str:
    shown = FORBIDDEN.sub("\ufffd", text[:LONGEST].translate(PICTURES))
    return shown if len(text) <= LONGEST else f"{shown}… ({len(text):,} characters in all)"


def cleaned(results: Results) -> Results:
    """The same results with every string clean, the keys of tables too."""
    return TypeAdapter(Results).validate_python(_clean(asdict(results)))


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(one) for key, one in value.items()}
    return [_clean(one) for one in value] if isinstance(value, list | tuple) else value
