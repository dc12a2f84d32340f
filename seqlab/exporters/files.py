"""The files of an export."""

from pathlib import Path

from seqlab.storage import storage_errors, write_atomic


def write_files(out: Path, contents: dict[str, bytes]) -> list[Path]:
    """Write one file per name into the folder `out`; returns their paths."""
    with storage_errors(out, 0):
        out.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write_atomic(out / name, content)
    return [out / name for name in contents]
