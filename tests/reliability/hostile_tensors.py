"""Crafted safetensors: as the weights of a run, and as those, the moments and the state of a checkpoint."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hostile_making import case, parts, put, put_in_checkpoint, safetensors, tensor
from reliability_runs import resume

from seqlab.runs.checkpoint import checkpoints

EMPTY = tensor([0], 0, 0)
WEIGHTS: dict[str, bytes] = {
    "a header of exabytes": safetensors({}, length=2**63),
    "a header longer than the file": safetensors({}, b"x" * 100, length=1000),
    "a header of no bytes": safetensors(b""),
    "no header": b"abc",
    "nothing": b"",
    "a header that is no object": safetensors([1, 2, 3]),
    "a header that is no JSON": safetensors(b"{'a': 1}"),
    "a header of bad UTF-8": safetensors(b'{"\xff": 1}'),
    "a header nested 100,000 deep": safetensors(b"[" * 100_000),
    "a header with a number of 5,000 digits": safetensors(b'{"a": {"dtype": "F32", "shape": [' + b"9" * 5000 + b"]}}"),
    "100,000 tensors": safetensors({f"t{i}": EMPTY for i in range(100_000)}),
    "10,000 tensors": safetensors({f"t{i}": EMPTY for i in range(10_000)}),
    "a shape of 10^12": safetensors({"a": tensor([10**12], 0, 4 * 10**12)}),
    "a shape of 10^12 in 4 bytes": safetensors({"a": tensor([10**12], 0, 4)}, b"abcd"),
    "a shape of 2^64 that wraps around to nothing": safetensors({"a": tensor([2**32, 2**32], 0, 0)}),
    "a negative shape": safetensors({"a": tensor([-1, -1], 0, 4)}, b"abcd"),
    "a shape of 300,000 dimensions": safetensors({"a": tensor([9] * 300_000, 0, 4)}, b"abcd"),
    "a shape of 300,000 dimensions, one of them none": safetensors({"a": tensor([9] * 300_000 + [0], 0, 0)}),
    "a shape of fractions": safetensors({"a": tensor([0.5, 2], 0, 4)}, b"abcd"),
    "a shape of words": safetensors({"a": tensor("four", 0, 4)}, b"abcd"),
    "an unknown type": safetensors({"a": tensor([1], 0, 4, "pickle")}, b"abcd"),
    "a type that is a list": safetensors({"a": tensor([1], 0, 4, ["F32"])}, b"abcd"),
    "places before the start": safetensors({"a": tensor([1], -4, 0)}, b"abcd"),
    "places beyond the end": safetensors({"a": tensor([1], 10**18, 10**18 + 4)}, b"abcd"),
    "places in reverse": safetensors({"a": tensor([1], 4, 0)}, b"abcd"),
    "three places": safetensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 2, 4]}}, b"abcd"),
    "overlapping tensors": safetensors({"a": tensor([1], 0, 4), "b": tensor([1], 0, 4)}, b"abcd"),
    "a hole between tensors": safetensors({"a": tensor([1], 0, 4), "b": tensor([1], 8, 12)}, b"abcd" * 3),
    "bytes after the last tensor": safetensors({"a": tensor([1], 0, 4)}, b"abcd" * 2),
    "64 MiB of something else": safetensors({"a": tensor([2**24], 0, 2**26)}, bytes(2**26)),
    "64 MiB that no tensor claims": safetensors({}, bytes(2**26)),
    "words as metadata": safetensors({"__metadata__": "words"}),
}
for _name, _content in WEIGHTS.items():
    case(f"weights: {_name}")(lambda run, content=_content: put(run, "model.safetensors", content))
    if len(_content) > 1 << 20:
        continue
    case(f"checkpoint: {_name}", resume)(
        lambda run, content=_content: put_in_checkpoint(run, "weights.safetensors", content)
    )
    case(f"optimizer: {_name}", resume)(
        lambda run, content=_content: put_in_checkpoint(run, "optimizer.safetensors", content)
    )


def changed(content: bytes, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    """The file with another header over the same bytes."""
    header, body = parts(content)
    return safetensors(change(header), body)


FITTING: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "a tensor under another name": lambda h: {("other" if n == "output.bias" else n): e for n, e in h.items()},
    "a tensor transposed": lambda h: {n: {**e, "shape": e["shape"][::-1]} for n, e in h.items()},
    "a tensor of another type": lambda h: {n: {**e, "dtype": "I32"} for n, e in h.items()},
    "a tensor more": lambda h: {**h, "other": EMPTY},
}
for _name, _change in FITTING.items():
    case(f"weights: {_name}")(
        lambda run, change=_change: put(
            run, "model.safetensors", changed((run / "model.safetensors").read_bytes(), change)
        )
    )


def moments(run: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Path:
    stored = (checkpoints(run / "checkpoints")[-1] / "optimizer.safetensors").read_bytes()
    return put_in_checkpoint(run, "optimizer.safetensors", changed(stored, change))


@case("optimizer: moments of one element", resume)
def short_moments(run: Path) -> Path:
    """Torch's kernel takes a moment to be as long as its parameter: whoever trusts these writes beyond them."""
    header, _ = parts((checkpoints(run / "checkpoints")[-1] / "optimizer.safetensors").read_bytes())
    short = {name: tensor([1], 4 * i, 4 * i + 4) for i, name in enumerate(header)}
    return put_in_checkpoint(run, "optimizer.safetensors", safetensors(short, bytes(4 * len(short))))


case("optimizer: half of the moments", resume)(
    lambda run: moments(run, lambda h: {n.replace("exp_avg_sq", "x"): e for n, e in h.items()})
)
case("optimizer: a name that only looks like a number", resume)(lambda run: moments(run, lambda h: {**h, "²": EMPTY}))
case("optimizer: a parameter that there is not", resume)(lambda run: moments(run, lambda h: {**h, "99.step": EMPTY}))

STATE = {"0": tensor([4], 0, 32, "I64"), "1": tensor([4, 16], 32, 288), "2": tensor([4, 16], 288, 544)}
CARRIED: dict[str, bytes] = {
    "one tensor less": safetensors({"0": STATE["0"], "1": STATE["1"]}, bytes(288)),
    "another batch": safetensors({"0": tensor([1], 0, 8, "I64")}, bytes(8)),
    "another width": safetensors({**STATE, "2": tensor([4, 8], 288, 416)}, bytes(416)),
    "another type": safetensors({**STATE, "0": tensor([4], 0, 32, "F64")}, bytes(544)),
}
for _name, _content in CARRIED.items():
    case(f"carry: {_name}", resume)(lambda run, content=_content: put_in_checkpoint(run, "carry.safetensors", content))
