"""The files of an export."""

import warnings
from collections.abc import Sequence
from pathlib import Path

from seqlab.errors import SeqlabWarning
from seqlab.runs.directory import WEIGHTS
from seqlab.runs.run import Run
from seqlab.storage import storage_errors, write_atomic


def write_files(run: Run, out: Path, contents: dict[str, bytes]) -> list[Path]:
    """Write one file per name into the folder `out`; returns their paths."""
    with storage_errors(out, 0):
        out.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write_atomic(out / name, content)
    files = [out / name for name in contents]
    _warn_of_float32(run, files)
    return files


def _warn_of_float32(run: Run, files: Sequence[Path]) -> None:
    """Say that the files of a run with int8 weights are larger than it is."""
    if run.settings.model.precision != "int8":
        return
    sizes = [f"{path} {path.stat().st_size:,} bytes" for path in files if path.suffix in (".onnx", ".safetensors")]
    own = (run.path / WEIGHTS).stat().st_size
    warnings.warn(
        f"the int8 weights of '{run.path}' ({own:,} bytes) are exported as float32: {', '.join(sizes)}",
        SeqlabWarning,
        stacklevel=5,
    )
