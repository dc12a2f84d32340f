"""A manifest: the SHA-256 of every file beside it, and of itself. Files that do not match are not used."""

import json
from pathlib import Path
from typing import Any, TypeGuard

from seqlab.errors import DataError
from seqlab.storage import JSON_LIMIT, from_json, read_bytes, sha256, to_json

NAME = "manifest.json"


def manifest(files: dict[str, list[str]], facts: dict[str, Any] | None = None) -> bytes:
    """The content of a manifest. A file may have two hashes while it is being replaced."""
    body = {"files": files, "facts": facts or {}}
    return to_json({**body, "sha256": _hash(body)})


def read_manifest(directory: Path) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Its files and facts; DataError if it does not match its own hash."""
    path = directory / NAME
    stored = read_bytes(path, JSON_LIMIT)
    content = from_json(stored, path)
    files, facts = content.get("files"), content.get("facts")
    if not _are_files(files) or not isinstance(facts, dict):
        raise DataError(f"'{path}' is damaged: it does not say which files there are.")
    try:
        # compare the serialized form including the hash: any changed byte shows
        intact = stored == manifest(files, facts)
    except RecursionError:
        intact = False
    if not intact:
        raise DataError(f"'{path}' is damaged: its SHA-256 is not the one it holds.")
    return files, facts


def read_verified(directory: Path, name: str, limit: int | None = None) -> bytes:
    """The content of a file; DataError if its hash is not the one in the manifest."""
    files, _ = read_manifest(directory)
    content = read_bytes(directory / name, limit)
    if sha256(content) not in files.get(name, []):
        raise DataError(f"'{directory / name}' is damaged: its SHA-256 is not the one in {NAME}.")
    return content


def _are_files(files: Any) -> TypeGuard[dict[str, list[str]]]:
    lists = files.values() if isinstance(files, dict) else [None]
    return all(isinstance(hashes, list) and all(isinstance(item, str) for item in hashes) for hashes in lists)


def _hash(body: dict[str, Any]) -> str:
    return sha256(json.dumps(body, sort_keys=True).encode())
