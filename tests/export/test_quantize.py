"""int8 runs: a quarter of the bytes, nearly the same figures, the same use; and what is kept is found again exactly."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import seqlab
from seqlab import api
from seqlab.decode.engines.packing import WeightPacker
from seqlab.errors import DataError, UsageError
from seqlab.kernels.linear import pack_tiles
from seqlab.models.int8 import dequantize, from_int8, quantize, to_int8
from seqlab.registry import BACKBONES

ENGINES = [name for name in BACKBONES if BACKBONES.load(name).declares("compiled_engine")]
TEXT = "".join(f"the {w} sat on the {v}.\n" for w in ("cat", "dog", "hen", "fox") for v in ("mat", "hut", "sea")) * 30


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """Each architecture, trained a little, and its int8 form."""
    folder = tmp_path_factory.mktemp("quantized")
    (folder / "my.txt").write_text(TEXT)
    folders = {}
    for name in ENGINES:
        small: dict[str, Any] = {
            "hidden": 128,
            "embedding": 64,
            "batch_size": 8,
            "window": 16,
            "threads": 1,
            "layers": 2,
            "sample_tokens": 0,
        }
        api.train(folder / "my.txt", arch=name, steps=40, out=folder / name, **small)
        api.quantize(folder / name, folder / f"{name}-8")
        folders[name] = (folder / name, folder / f"{name}-8")
    return folders


@given(
    rows=st.integers(1, 9),
    columns=st.integers(1, 40),
    seed=st.integers(0, 999),
    scale=st.sampled_from([1e-20, 1e-3, 1.0, 1e20]),
)
@settings(max_examples=60)
def test_what_is_kept_is_found_again(rows: int, columns: int, seed: int, scale: float) -> None:
    weight = torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed)) * scale
    weight[0] = 0
    integers, scale_R = quantize(weight)
    near = dequantize(integers, scale_R)
    assert torch.all(scale_R > 0), "a row of zeros would be divided by zero"
    assert torch.all((near - weight).abs() <= scale_R[:, None] * 0.5001)
    again, scales = quantize(near)
    assert torch.equal(again, integers) and torch.allclose(scales, scale_R, rtol=1e-6, atol=0)
    packed = WeightPacker(int8=True).matrix(near)
    assert np.array_equal(packed.w_NKC, pack_tiles(integers.numpy()))


def test_only_matrices_are_changed() -> None:
    weights = {"w": torch.randn(3, 4), "b": torch.randn(3), "w.scale.x": torch.randn(2), "kernel": torch.randn(4, 3, 2)}
    kept = to_int8(weights)
    assert {name for name, tensor in kept.items() if tensor.dtype == torch.int8} == {"w", "kernel"}
    back = from_int8(kept)
    assert back.keys() == weights.keys() and torch.equal(back["b"], weights["b"]) and back["kernel"].shape == (4, 3, 2)


@pytest.mark.parametrize("name", ENGINES)
def test_it_is_smaller_and_nearly_as_good(name: str, runs: dict[str, tuple[Path, Path]]) -> None:
    first, second = runs[name]
    before, after = ((path / "model.safetensors").stat().st_size for path in (first, second))
    assert after <= 0.30 * before
    metrics = [seqlab.load(path).evaluate().metrics["bits_per_char"] for path in (first, second)]
    assert metrics[1] == pytest.approx(metrics[0], rel=0.01) and metrics[1] != metrics[0]
    kept = json.loads((second / "results.json").read_text())["validation"]["bits_per_char"]
    assert kept == pytest.approx(metrics[1], abs=1e-9)


# every architecture has loops of its own for int8, each compiled for some seconds
SOON = ("gru", "transformer")
PATHS = [name if name in SOON else pytest.param(name, marks=pytest.mark.slow) for name in ENGINES]


@pytest.mark.parametrize("name", PATHS)
def test_it_writes_the_same_by_both_paths(name: str, runs: dict[str, tuple[Path, Path]]) -> None:
    run = seqlab.load(runs[name][1])
    plain, ours = (run.generate("the ", 80, samples=9, seed=3, engine=how) for how in ("plain", "compiled"))
    assert ours.texts == plain.texts and ours.texts[0]


def test_a_classifier_that_reads_in_both_directions(tmp_path: Path) -> None:
    rows = [
        f"a {'fine' if number % 2 else 'dull'} film {number}\t{'good' if number % 2 else 'bad'}" for number in range(40)
    ]
    (tmp_path / "labels.tsv").write_text("\n".join(["text\tlabel", *rows]) + "\n")
    small: dict[str, Any] = {"hidden": 48, "embedding": 32, "batch_size": 8, "threads": 1}
    run = api.train(tmp_path / "labels.tsv", arch="lstm-attention", steps=10, out=tmp_path / "run", **small)
    assert not run.model.backbone.causal
    quantized = api.quantize(run, tmp_path / "run-8")
    before, after = (seqlab.load(path).model.state_dict() for path in (run.path, tmp_path / "run-8"))
    changed = {name for name, weight in before.items() if not torch.equal(weight, after[name])}
    assert changed == {name for name, weight in before.items() if weight.dim() > 1} and quantized.metrics is not None
    for name in changed:  # at most half a step of the row's scale
        assert ((after[name] - before[name]).abs() <= before[name].abs().amax(1, keepdim=True) / 127 * 0.5001).all()


def test_it_is_not_trained_further(runs: dict[str, tuple[Path, Path]], tmp_path: Path) -> None:
    first, second = runs["gru"]
    with pytest.raises(UsageError, match="int8 cannot be trained"):
        api.resume(second, more=3)
    with pytest.raises(UsageError, match="is already int8"):
        api.quantize(second, tmp_path / "again")
    with pytest.raises(UsageError, match=r"already contains a run\. Replace it with --overwrite"):
        api.quantize(first, second)
    again = api.train(like=second, steps=2, out=tmp_path / "like", threads=1)
    assert again.settings.model.precision == "float32"
    begun = api.train(first.parent / "my.txt", init=second, arch="gru", steps=2, out=tmp_path / "init", threads=1,
                      hidden=128, embedding=64, layers=2, batch_size=8, window=16)  # fmt: skip
    assert begun.settings.model.precision == "float32"


def test_scales_that_do_not_fit_are_refused(runs: dict[str, tuple[Path, Path]], tmp_path: Path) -> None:
    """A float32 file under int8 settings, with hashes that fit."""
    from seqlab.runs.directory import RunDirectory, begin_run
    from seqlab.runs.load import load_parts

    quantized, config, _, vocabulary = load_parts(runs["rnn"][1])
    directory = begin_run(tmp_path / "made", overwrite=False)
    directory.write_config({key: value for key, value in config.items() if key not in ("format", "version")})
    directory.write_vocabulary(vocabulary)
    directory.write_file("model.safetensors", (runs["rnn"][0] / "model.safetensors").read_bytes())
    with pytest.raises(DataError, match="does not fit the settings"):
        seqlab.load(RunDirectory(tmp_path / "made").path)
    assert quantized.path == runs["rnn"][1]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", ENGINES)
def test_a_trained_model_loses_at_most_half_a_percent(name: str, shared_data: Path, tmp_path: Path) -> None:
    text = shared_data / "tiny-shakespeare" / "input.txt"
    sizes: dict[str, Any] = {"hidden": 256, "embedding": 128, "steps": 400, "threads": 1}
    run = api.train(text, arch=name, out=tmp_path / "run", **sizes).path
    before, after = api.quantize(run, tmp_path / "small").metrics or ({}, {})
    assert after["bits_per_char"] <= 1.005 * before["bits_per_char"]
