"""Reading tokenizer.json defensively: only what seqlab writes is accepted, and nothing in the file is run.

Messages describe the content; `load_tokenizer` puts the file's name before them.
"""

import json
from pathlib import Path
from typing import Any

from seqlab.errors import DataError

FORMAT = "seqlab-tokenizer"
VERSION = 1
HEADER = ("format", "version", "name", "documents")
MAX_FILE_BYTES = 64 * 2**20
MAX_BRACKETS = 2**21  # twice those of the largest list of merges; a parsed list takes far more memory than its bracket


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file."""
    with path.open("rb") as file:
        stored = file.read(MAX_FILE_BYTES + 1)
    if len(stored) > MAX_FILE_BYTES:
        raise DataError(f"it is larger than {MAX_FILE_BYTES:,} bytes")
    if stored.count(b"[") + stored.count(b"{") > MAX_BRACKETS:
        raise DataError(f"it has more than {MAX_BRACKETS:,} lists")
    try:
        content = json.loads(stored.decode(), object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError):
        raise DataError("it is not JSON") from None
    if not isinstance(content, dict):
        raise DataError("it is not a JSON object")
    return content


def check_version(content: dict[str, Any]) -> None:
    """DataError for a file that is not a seqlab tokenizer, or a later version of one."""
    if content.get("format") != FORMAT:
        others = ", ".join(quote(key) for key in list(content)[:8] if key not in HEADER)
        has = f", and it has {others}, which seqlab does not write" if others else ""
        raise DataError(f"its 'format' is {quote(content.get('format'))}, expected '{FORMAT}'{has}")
    version = content.get("version")
    if type(version) is int and version > VERSION:
        raise DataError(f"its version is {version} and this seqlab reads {VERSION}: upgrade seqlab")
    if type(version) is not int or version != VERSION:
        raise DataError(f"its 'version' is {quote(version)}, expected {VERSION}")


def check_keys(content: dict[str, Any], name: str, *keys: str) -> None:
    """DataError unless the content has the header of the tokenizer `name`, these keys, and nothing else."""
    check_version(content)
    expected = (*HEADER, *keys)
    for key in content:
        if key not in expected:
            raise DataError(f"it has {quote(key)}, which seqlab does not write: expected only {', '.join(expected)}")
    for key in expected:
        if key not in content:
            raise DataError(f"its '{key}' is missing")
    if content["name"] != name:
        raise DataError(f"its 'name' is {quote(content['name'])}, expected '{name}'")
    check_bool(content, "documents")


def check_bool(content: dict[str, Any], key: str) -> bool:
    """The truth value under a key."""
    if not isinstance(content[key], bool):
        raise DataError(f"its '{key}' is {quote(content[key])}, expected true or false")
    return content[key]


def check_tokens(content: dict[str, Any], key: str, max_count: int) -> list[str]:
    """The tokens under a key: a list of distinct, non-empty texts."""
    tokens = content[key]
    if not isinstance(tokens, list) or not 1 <= len(tokens) <= max_count:
        raise DataError(f"its '{key}' is not a list of 1 to {max_count:,} tokens")
    seen: set[str] = set()
    for index, token in enumerate(tokens):
        if not isinstance(token, str) or not token:
            raise DataError(f"its {key}[{index}] is {quote(token)}, expected text")
        if token in seen:
            raise DataError(f"its {key}[{index}] is {quote(token)}, which is in the list already")
        seen.add(token)
    try:
        "".join(tokens).encode()
    except UnicodeEncodeError:
        raise DataError(f"its '{key}' contain half of a surrogate pair, which is not a character") from None
    return tokens


def quote(value: Any) -> str:
    """A value from a file, short enough for a message."""
    if value is None:
        return "missing"
    return repr(value)[:60] if isinstance(value, str | int | float) else f"a {type(value).__name__}"


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise DataError("it has a key twice")
    return content
