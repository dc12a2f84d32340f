"""Tensors in safetensors files: they contain no code, and no tensor is created before the header is checked."""

import json
from pathlib import Path

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from seqlab.errors import DataError

LARGEST_HEADER = 1 << 20  # some thousand tensors
DTYPES = {
    **{torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"},
    **{torch.int64: "I64", torch.int32: "I32", torch.int8: "I8", torch.bool: "BOOL"},
}


def to_bytes(tensors: dict[str, Tensor]) -> bytes:
    """The content of a file. A state may contain a tensor twice, which the library refuses to write: such a tensor is
    copied. The others are not, since the moments of a large model are most of its memory."""
    ready: dict[str, Tensor] = {}
    storages: set[int] = set()
    for name, tensor in tensors.items():
        plain = tensor.detach().cpu().contiguous()
        storage = plain.untyped_storage()
        is_shared = storage.data_ptr() in storages or storage.nbytes() > plain.nbytes
        ready[name] = plain.clone() if is_shared else plain
        storages.add(storage.data_ptr())
    return safetensors.torch.save(ready)


def from_bytes(content: bytes, path: Path, expected: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a file; names, shapes and types must match `expected`, where a size of 0 matches any."""
    header = read_header(content, path)
    for name in sorted(expected.keys() ^ header.keys())[:1]:
        problem = "missing" if name in expected else "not part of this model"
        raise DataError(f"'{path}' does not fit the settings: tensor '{name}' is {problem}.")
    for name, tensor in expected.items():
        (dtype, shape), (expected_dtype, expected_shape) = header[name], (DTYPES[tensor.dtype], list(tensor.shape))
        same_rank = len(shape) == len(expected_shape)
        fits = same_rank and all(b in (0, a) for a, b in zip(shape, expected_shape, strict=True))
        if not fits or dtype != expected_dtype:
            actual, required = f"{dtype} {shape}", f"{expected_dtype} {expected_shape}"
            raise DataError(f"'{path}' does not fit the settings: '{name}' is {actual}, expected {required}.")
    return safetensors.torch.load(content)


def is_complete(path: Path) -> bool:
    """Whether a file is as long as its own header says; only the header is read."""
    try:
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(length if length <= LARGEST_HEADER else 0))
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        return path.stat().st_size == 8 + length + max(ends, default=0)
    except (OSError, ValueError, TypeError, AttributeError, LookupError, RecursionError):
        return False


def read_header(content: bytes, path: Path) -> dict[str, tuple[str, list[int]]]:
    """The type and the shape of every tensor; the library checks that sizes and offsets fit the file."""
    length = int.from_bytes(content[:8], "little")
    if length > LARGEST_HEADER:
        raise DataError(f"'{path}' is damaged: its header claims {length:,} of its {len(content):,} bytes.")
    try:
        return {name: (entry["dtype"], entry["shape"]) for name, entry in safetensors.deserialize(content)}
    except (safetensors.SafetensorError, ValueError) as error:
        raise DataError(f"'{path}' is damaged: {error}.") from None
