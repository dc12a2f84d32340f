"""Reading tokenizer.json with distrust: what we do not write is refused, and nothing in a file is ever run.

The messages say what is wrong with the content; `load_tokenizer` puts the file's name before them.
"""

import json
from pathlib import Path
from typing import Any

from seqlab.errors import DataError

FORMAT = "seqlab-tokenizer"
VERSION = 1
HEADER = ("format", "version", "name", "documents")
LARGEST_FILE = 64 * 2**20
MOST_BRACKETS = 2**21  # twice what the largest list of merges has; each costs far more memory than its one byte


def read_object(path: Path) -> dict[str, Any]:
    """The one JSON object that a file holds."""
    with path.open("rb") as file:
        stored = file.read(LARGEST_FILE + 1)
    if len(stored) > LARGEST_FILE:
        raise DataError(f"it is larger than {LARGEST_FILE:,} bytes")
    if stored.count(b"[") + stored.count(b"{") > MOST_BRACKETS:
        raise DataError(f"it has more than {MOST_BRACKETS:,} lists")
    try:
        content = json.loads(stored.decode(), object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError):
        raise DataError("it is not JSON") from None
    if not isinstance(content, dict):
        raise DataError("it is not a JSON object")
    return content


def check_version(content: dict[str, Any]) -> None:
    """Refuse what is no tokenizer of ours, or a later one."""
    if content.get("format") != FORMAT:
        others = ", ".join(shown(key) for key in list(content)[:8] if key not in HEADER)
        has = f", and it has {others}, which seqlab does not write" if others else ""
        raise DataError(f"its 'format' is {shown(content.get('format'))}, expected '{FORMAT}'{has}")
    version = content.get("version")
    if type(version) is int and version > VERSION:
        raise DataError(f"its version is {version} and this seqlab reads {VERSION}: upgrade seqlab")
    if type(version) is not int or version != VERSION:
        raise DataError(f"its 'version' is {shown(version)}, expected {VERSION}")


def check_keys(content: dict[str, Any], name: str, *own: str) -> None:
    """Refuse a header or keys that the tokenizer `name` would not have written; `own` are its keys after the header."""
    check_version(content)
    expected = (*HEADER, *own)
    for key in content:
        if key not in expected:
            raise DataError(f"it has {shown(key)}, which seqlab does not write: expected only {', '.join(expected)}")
    for key in expected:
        if key not in content:
            raise DataError(f"its '{key}' is missing")
    if content["name"] != name:
        raise DataError(f"its 'name' is {shown(content['name'])}, expected '{name}'")
    checked_bool(content, "documents")


def checked_bool(content: dict[str, Any], key: str) -> bool:
    if not isinstance(content[key], bool):
        raise DataError(f"its '{key}' is {shown(content[key])}, expected true or false")
    return content[key]


def checked_symbols(content: dict[str, Any], key: str, most: int) -> list[str]:
    """The list of symbols under a key: text, none empty, none twice."""
    symbols = content[key]
    if not isinstance(symbols, list) or not 1 <= len(symbols) <= most:
        raise DataError(f"its '{key}' is not a list of 1 to {most:,} symbols")
    seen: set[str] = set()
    for index, symbol in enumerate(symbols):
        if not isinstance(symbol, str) or not symbol:
            raise DataError(f"its {key}[{index}] is {shown(symbol)}, expected text")
        if symbol in seen:
            raise DataError(f"its {key}[{index}] is {shown(symbol)}, a symbol that is there before")
        seen.add(symbol)
    try:
        "".join(symbols).encode()
    except UnicodeEncodeError:
        raise DataError(f"its '{key}' hold half of a surrogate pair, which is not a character") from None
    return symbols


def shown(value: Any) -> str:
    """A value from a file, short enough for a message."""
    if value is None:
        return "missing"
    return repr(value)[:60] if isinstance(value, str | int | float) else f"a {type(value).__name__}"


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise DataError("it has a key twice")
    return content
