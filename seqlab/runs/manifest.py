"""A manifest: the SHA-256 of every file beside it, and of itself. What it does not vouch for is not used."""

import json
from pathlib import Path
from typing import Any

from seqlab.errors import DataError
from seqlab.runs.storage import read_bytes, read_json, sha256, to_json

NAME = "manifest.json"


def manifest(files: dict[str, list[str]], facts: dict[str, Any] | None = None) -> bytes:
    """The content of a manifest. A file may have two hashes while it is being replaced."""
    body = {"files": files, "facts": facts or {}}
    return to_json({**body, "sha256": _own(body)})


def read_manifest(directory: Path) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Its files and facts, after it has vouched for itself."""
    path = directory / NAME
    content = read_json(path)
    own = content.pop("sha256", None)
    files, facts = content.get("files"), content.get("facts")
    if own != _own(content) or not isinstance(files, dict) or not isinstance(facts, dict):
        raise DataError(f"'{path}' is damaged: its SHA-256 is not the one it holds.")
    # one canonical spelling, so that no byte of the file is beyond the hash
    if read_bytes(path) != manifest(files, facts):
        raise DataError(f"'{path}' is damaged: it is not spelt as it was written.")
    return files, facts


def verified(directory: Path, name: str) -> bytes:
    """A file's content, if it is the one that the manifest vouches for."""
    files, _ = read_manifest(directory)
    content = read_bytes(directory / name)
    if sha256(content) not in files.get(name, []):
        raise DataError(f"'{directory / name}' is damaged: its SHA-256 is not the one in {NAME}.")
    return content


def _own(body: dict[str, Any]) -> str:
    return sha256(json.dumps(body, sort_keys=True).encode())
