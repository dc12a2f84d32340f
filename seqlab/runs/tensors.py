"""Tensors in safetensors files: they contain no code, and nothing is allocated before the header is checked."""

import json
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from seqlab.errors import DataError

LARGEST_HEADER = 1 << 20  # some thousand tensors
MOST_DIMENSIONS = 8
SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}


def to_bytes(tensors: dict[str, Tensor]) -> bytes:
    # copies, because a state may contain a tensor twice, which the library refuses to write
    copies = {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format) for name, tensor in tensors.items()
    }
    return safetensors.torch.save(copies)


def from_bytes(content: bytes, path: Path, expected: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a file; names, shapes and types must match `expected`, where a size of 0 matches any."""
    _compare(check_header(content, path), expected, path)
    try:
        return safetensors.torch.load(content)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise DataError(f"'{path}' is damaged: {error}.") from None


def check_header(content: bytes, path: Path) -> dict[str, Any]:
    """The entries of the header, after checking that sizes and offsets fit the file."""
    length = int.from_bytes(content[:8], "little") if len(content) >= 8 else -1
    if not 2 <= length <= min(len(content) - 8, LARGEST_HEADER):
        raise DataError(f"'{path}' is damaged: its header claims {length:,} of its {len(content):,} bytes.")
    try:
        header = json.loads(content[8 : 8 + length])
        assert isinstance(header, dict)
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        spans = sorted(_span(entry) for entry in entries.values())
    except (ValueError, RecursionError, AssertionError, KeyError, TypeError, AttributeError):
        raise DataError(f"'{path}' is damaged: its header cannot be read.") from None
    ends = [0, *(last for _, last in spans)]
    if any(first != end for (first, _), end in zip(spans, ends, strict=False)) or ends[-1] != len(content) - 8 - length:
        raise DataError(f"'{path}' is damaged: its tensors overlap, leave holes or reach beyond the file.")
    return entries


def _span(entry: dict[str, Any]) -> tuple[int, int]:
    first, last = entry["data_offsets"]
    size = SIZES[entry["dtype"]]
    if len(entry["shape"]) > MOST_DIMENSIONS:
        raise ValueError
    for extent in entry["shape"]:
        if not isinstance(extent, int) or extent < 0:
            raise ValueError
        size *= extent
    if not (isinstance(first, int) and isinstance(last, int) and first >= 0 and last - first == size):
        raise ValueError
    return first, last


def _compare(header: dict[str, Any], expected: dict[str, Tensor], path: Path) -> None:
    for name in sorted(expected.keys() ^ header.keys())[:1]:
        raise DataError(f"'{path}' does not fit the settings: tensor '{name}' is {_which(name, expected)}.")
    for name, tensor in expected.items():
        shape = list(tensor.shape)
        if not _fits(header[name]["shape"], shape) or header[name]["dtype"] != _dtype(tensor.dtype):
            actual, required = f"{header[name]['dtype']} {header[name]['shape']}", f"{_dtype(tensor.dtype)} {shape}"
            raise DataError(f"'{path}' does not fit the settings: '{name}' is {actual}, expected {required}.")


def _fits(actual: list[int], expected: list[int]) -> bool:
    return len(actual) == len(expected) and all(b in (0, a) for a, b in zip(actual, expected, strict=True))


def _which(name: str, expected: dict[str, Tensor]) -> str:
    return "missing" if name in expected else "not part of this model"


def _dtype(dtype: torch.dtype) -> str:
    names = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}
    return names.get(dtype) or {torch.int64: "I64", torch.int8: "I8", torch.bool: "BOOL"}[dtype]
