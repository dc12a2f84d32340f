"""Text for a terminal: control characters in names, labels and texts are shown as escapes, not obeyed.

The escapes are those of JSON, which may have some of these characters as they are in its strings."""

import re

# all control characters but tab and newline, and those that turn the direction of writing
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
