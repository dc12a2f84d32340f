"""The cache directory: encoded texts, downloaded corpora, compiled kernels. Everything in it can be rebuilt."""

import os
from pathlib import Path

from seqlab.errors import StorageError


def cache_directory(*parts: str) -> Path:
    """A folder in SEQLAB_CACHE or in the user's cache directory, created with access for the user only."""
    root = os.environ.get("SEQLAB_CACHE")
    base = Path(root) if root else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seqlab"
    directory = base.joinpath(*parts)
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StorageError(
            f"the cache '{directory}' cannot be created: {error.strerror}. Set SEQLAB_CACHE to a folder of your own."
        ) from None
    return directory
