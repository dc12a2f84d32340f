"""How run directories are made hostile: files with hashes that fit, and the list of cases.

hostile_tensors.py and hostile_json.py have the cases, hostile_runs.py opens them.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seqlab import api
from seqlab.runs import manifest
from seqlab.runs.checkpoint import checkpoints
from seqlab.runs.directory import RunDirectory
from seqlab.storage import sha256

Spoil = Callable[[Path], Path]  # changes a run and returns the file that is to be refused
CASES: dict[str, tuple[Spoil, Callable[[Path], object]]] = {}


def safetensors(header: Any, body: bytes = b"", length: int | None = None) -> bytes:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(raw) if length is None else length).to_bytes(8, "little") + raw + body


def parts(content: bytes) -> tuple[dict[str, Any], bytes]:
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def tensor(shape: Any, first: Any, last: Any, dtype: Any = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [first, last]}


def put(run: Path, name: str, content: bytes) -> Path:
    RunDirectory(run).write_file(name, content)
    return run / name


def put_in_checkpoint(run: Path, name: str, content: bytes) -> Path:
    newest = checkpoints(run / "checkpoints")[-1]
    files, facts = manifest.read_manifest(newest)
    (newest / name).write_bytes(content)
    (newest / manifest.NAME).write_bytes(manifest.manifest({**files, name: [sha256(content)]}, facts))
    return newest / name


def case(name: str, open_run: Callable[[Path], object] = api.load) -> Callable[[Spoil], None]:
    return lambda spoil: CASES.update({name: (spoil, open_run)})
