"""Tensors go through a file unchanged, and files that are not as expected are refused. tests/reliability has more."""

from pathlib import Path

import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st

from seqlab.errors import DataError
from seqlab.runs.tensors import from_bytes, read_header, to_bytes

SHAPES = st.lists(st.integers(0, 4), max_size=4)
TYPES = st.sampled_from([torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool])
PATH = Path("file.safetensors")


@given(
    st.dictionaries(st.text(min_size=1, max_size=20).filter(lambda n: n != "__metadata__"), st.tuples(SHAPES, TYPES))
)
def test_tensors_come_back(given_: dict[str, tuple[list[int], torch.dtype]]) -> None:
    tensors = {name: torch.randn(shape).mul(9).to(dtype) for name, (shape, dtype) in given_.items()}
    content = to_bytes(tensors)
    result = from_bytes(content, PATH, tensors)
    assert result.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert torch.equal(result[name], tensor) and result[name].dtype == tensor.dtype
    assert safetensors.torch.load(content).keys() == tensors.keys()  # others can read it too
    assert read_header(content, PATH).keys() == tensors.keys()


def test_views_are_written_as_they_read() -> None:
    matrix = torch.arange(12.0).view(3, 4)
    views = {"transposed": matrix.t(), "part": matrix[1:, ::2], "whole": matrix, "again": matrix}
    result = from_bytes(to_bytes(views), PATH, views)
    assert all(torch.equal(result[name], view) for name, view in views.items())


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ({"a": torch.zeros(2, 3), "b": torch.zeros(1)}, "'b' is missing"),
        ({}, "'a' is not part of this model"),
        ({"a": torch.zeros(3, 2)}, r"'a' is F32 \[2, 3\], expected F32 \[3, 2\]"),
        ({"a": torch.zeros(2, 3, dtype=torch.float64)}, r"'a' is F32 \[2, 3\], expected F64 \[2, 3\]"),
    ],
)
def test_what_does_not_fit_is_said(expected: dict[str, torch.Tensor], said: str) -> None:
    with pytest.raises(DataError, match=said):
        from_bytes(to_bytes({"a": torch.zeros(2, 3)}), PATH, expected)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_or_read(content: bytes) -> None:
    try:
        from_bytes(content, PATH, {})
    except DataError as error:
        assert str(PATH) in str(error)


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_any_changed_header_is_refused_or_read(place: int, change: int) -> None:
    tensors = {"a": torch.zeros(2, 3), "b": torch.ones(2)}
    content = bytearray(to_bytes(tensors))
    content[place % (len(content) - 32)] ^= change
    try:
        result = from_bytes(bytes(content), PATH, tensors)
    except DataError as error:
        assert str(PATH) in str(error)
    else:
        assert {name: tensor.shape for name, tensor in result.items()} == {name: t.shape for name, t in tensors.items()}
