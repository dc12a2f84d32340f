"""Text from corpora, models and file names, made safe to display.

Templates escape markup. This module removes what escaping cannot handle: characters that HTML and XML forbid, marks
that reverse the direction of the surrounding text, lone surrogates, and the end of very long strings.
"""

import re
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter

from seqlab.comparison.results import Results

LONGEST = 4000  # characters of one string
# Unicode has visible symbols for control characters
PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
# the other control characters, surrogates, marks that change the writing direction, and noncharacters
FORBIDDEN = re.compile("[\x80-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]")


def clean_text(text: str) -> str:
    shown = FORBIDDEN.sub("\ufffd", text[:LONGEST].translate(PICTURES))
    return shown if len(text) <= LONGEST else f"{shown}… ({len(text):,} characters in all)"


def cleaned(results: Results) -> Results:
    """The same results with clean strings, keys of tables included."""
    return TypeAdapter(Results).validate_python(_clean(asdict(results)))


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list | tuple) else value
