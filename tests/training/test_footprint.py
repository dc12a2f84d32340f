"""Memory: the estimate before training, settings that fit into a limit, and a sentence where it does not suffice."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import seqlab
from benchmarks.memory import LIMIT, SIZES, in_process, setting
from seqlab.cli.app import app
from seqlab.config import RunSettings
from seqlab.contracts import Backbone
from seqlab.errors import TrainingFailed, UsageError
from seqlab.models.parameter_count import in_units
from seqlab.precision import lstm_rounds, training_precision
from seqlab.registry import BACKBONES
from seqlab.runs.load import build_model
from seqlab.runs.machine import free_memory
from seqlab.runs.reopen import make_task
from seqlab.testing.activations import kept_bytes
from seqlab.training.fit import ALLOCATOR_SHARE, fit_memory, in_words, memory_errors
from seqlab.training.footprint import footprint
from seqlab.training.memory_limit import MemoryLimit, parse_size
from seqlab.training.progress import Reporter
from seqlab.training.step import TrainingStep
from tests.training.train_cases import material_of, run_settings, task_and_model


class Listener(Reporter):
    def __init__(self) -> None:
        self.said: list[str] = []

    def log(self, message: str) -> None:
        self.said.append(message)


def test_sizes_are_read_as_people_write_them() -> None:
    assert [parse_size(text) for text in ("2GB", "512 MiB", "1.5k", "7")] == [2 * 10**9, 512 * 2**20, 1500, 7]
    for text in ("", "2XB", "-1GB", "0", "lots"):
        with pytest.raises(UsageError, match="is not an amount of memory"):
            parse_size(text)


def test_free_memory_is_within_the_machine() -> None:
    free = free_memory()
    assert free is None or 2**20 < free < 2**50


def test_a_limit_of_a_control_group_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both layouts, with the files of a real one in another place."""
    from seqlab.runs import machine

    files = {"memory.max": "1000", "memory.current": "700", "memory.stat": "anon 500\ninactive_file 50"}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(machine, "Path", lambda path: tmp_path if str(path) == "/sys/fs/cgroup" else Path(path))
    assert machine.free_in_group("", "/") == [350]
    (tmp_path / "memory.max").write_text("max")
    assert machine.free_in_group("", "/") == []


def test_the_estimate_is_for_the_windows_that_are_trained_on() -> None:
    short = footprint(setting("lstm", {"task.window": 32}), 100)
    assert footprint(setting("lstm", {"task.window": 256, "task.train_window": 32}), 100) == short


@pytest.mark.parametrize("accumulate", [1, 4])
def test_the_gradient_of_parts_is_that_of_the_whole(accumulate: int) -> None:
    """Summed over all predictions: parts of different lengths count by their predictions."""
    torch.set_default_dtype(torch.float64)
    try:
        settings = run_settings(documents="lines", accumulate=accumulate, clip_norm=None)
        task, model = task_and_model(settings)
        step = TrainingStep(model, task, settings.train)
        step.gradients(0)
        parts = [task.batch("train", settings.train.seed, index) for index in range(accumulate)]
        losses = [task.loss(model, part, None, 0) for part in parts]
        whole = torch.stack([loss.total for loss in losses]).sum() / sum(loss.count for loss in losses)
        expected = torch.autograd.grad(whole, list(model.parameters()))
    finally:
        torch.set_default_dtype(torch.float32)
    for parameter, gradient in zip(model.parameters(), expected, strict=True):
        assert parameter.grad is not None
        np.testing.assert_allclose(parameter.grad.numpy(), gradient.numpy(), atol=1e-12)


def large(**changes: int) -> RunSettings:
    return run_settings(batch_size=12, window=64).with_values(**{"backbone.hidden": 64, **changes})


def test_fitting_divides_the_batch_and_keeps_its_size() -> None:
    settings, listener = large(), Listener()
    data = material_of(settings)
    whole = footprint(settings, data.vocabulary.sizes).peak
    fitted = fit_memory(settings, data, MemoryLimit(True, whole // 2), listener.log)
    assert fitted.task.settings.batch_size * fitted.train.accumulate == 12 and fitted.train.accumulate > 1
    assert footprint(fitted, data.vocabulary.sizes).peak < whole // 2
    assert "a batch of 12 sequences is taken in" in listener.said[0] and "weights" in listener.said[0]
    assert fit_memory(settings, data, MemoryLimit(True, 10 * whole), listener.log) == settings
    assert "fits as it is" in listener.said[-1]


def deep(arch: str, **changes: Any) -> RunSettings:
    return setting(arch, {"backbone.layers": 6, "backbone.hidden": 16, "model.embedding": 16, **changes})


@pytest.mark.parametrize("arch", ["transformer", "lstm", "gru"])
def test_layers_are_computed_again_where_dividing_is_not_enough(arch: str) -> None:
    """A limit between one row with all of its activations and one row without the inside of its layers."""
    settings, listener = deep(arch, **{"task.batch_size": 4, "task.window": 2048}), Listener()
    data = material_of(settings)
    row = settings.with_values(**{"task.batch_size": 1, "train.accumulate": 4})
    kept, again = (footprint(row.with_values(**{"train.recompute": on}), data.vocabulary.sizes) for on in (False, True))
    assert again.peak < 0.8 * kept.peak and again.held == kept.held
    limit = int((again.peak + kept.peak) / 2 / (1 - ALLOCATOR_SHARE))
    fitted = fit_memory(settings, data, MemoryLimit(True, limit), listener.log)
    assert fitted.train.recompute and fitted.task.settings.batch_size * fitted.train.accumulate == 4
    estimate = footprint(fitted, data.vocabulary.sizes)
    assert estimate.peak <= limit * (1 - ALLOCATOR_SHARE)
    assert "train.recompute=true" in listener.said[0] and in_units(estimate.peak) in listener.said[0]
    with pytest.raises(UsageError, match=r"computed again \(train.recompute\), training needs"):
        fit_memory(settings, data, MemoryLimit(True, again.peak), print)


def test_a_batch_that_carries_state_is_not_divided_but_recomputed() -> None:
    settings, listener = deep("gru", **{"task.batching": "stream", "task.window": 512}), Listener()
    data = material_of(settings)
    kept = footprint(settings, data.vocabulary.sizes).peak
    fitted = fit_memory(settings, data, MemoryLimit(True, int(kept * 1.1)), listener.log)
    assert fitted == settings.with_values(**{"train.recompute": True})
    assert "the batch stays whole, and the inside of layers is computed again" in listener.said[0]


def test_layers_that_cannot_be_computed_again_are_not_chosen() -> None:
    settings = deep("feedforward")
    with pytest.raises(UsageError) as refused:
        fit_memory(settings, material_of(settings), MemoryLimit(True, 1000), print)
    assert "recompute" not in str(refused.value)


def test_every_architecture_says_truly_whether_it_recomputes() -> None:
    """What the estimate takes off is what the module computes again."""
    for arch in BACKBONES:
        settings = setting(arch, {})
        model = build_model(settings, 8)
        again = any(module.recomputes for module in model.modules() if isinstance(module, Backbone))
        assert bool(settings.backbone.settings.recomputed_bytes(8, 8)) == again, arch


def test_what_cannot_fit_is_refused_with_the_numbers() -> None:
    settings = large()
    with pytest.raises(UsageError, match=r"even in the smallest parts of a batch.*\(weights .* are the limit"):
        fit_memory(settings, material_of(settings), MemoryLimit(True, 1000), print)
    stream = run_settings(batching="stream")
    with pytest.raises(UsageError, match="rows carry their state"):
        fit_memory(stream, material_of(stream), MemoryLimit(True, 1000), print)


def test_without_fit_too_much_is_said_and_the_batch_stays() -> None:
    settings, listener = large(), Listener()
    data = material_of(settings)
    returning = settings.with_values(**{"train.keep_memory": False})
    assert fit_memory(settings, data, MemoryLimit(False, 1000), listener.log) == returning
    assert "training needs about" in listener.said[0] and "--fit" in listener.said[0]
    assert fit_memory(settings, data, MemoryLimit(False, 10**12), listener.log) == settings and len(listener.said) == 2


def test_freed_memory_is_kept_only_where_there_is_twice_the_estimate() -> None:
    settings, listener = large(), Listener()
    data = material_of(settings)
    peak = footprint(settings, data.vocabulary.sizes).peak
    for limit in (MemoryLimit(True, int(1.9 * peak)), MemoryLimit(False, int(1.9 * peak))):
        fitted = fit_memory(settings, data, limit, listener.log)
        assert fitted == settings.with_values(**{"train.keep_memory": False})
        assert "freed memory is returned at once (train.keep_memory=false)" in listener.said[-1]
    assert fit_memory(settings, data, MemoryLimit(True, int(2.1 * peak)), listener.log) == settings


def test_what_the_process_has_already_counts() -> None:
    settings, listener = large(), Listener()
    data = material_of(settings)
    peak = footprint(settings, data.vocabulary.sizes).peak
    assert fit_memory(settings, data, MemoryLimit(True, 4 * peak, held=peak), listener.log) == settings
    assert f"{in_units(peak)} of which the process has before training" in listener.said[-1]
    divided = fit_memory(settings, data, MemoryLimit(True, 4 * peak, held=int(3.5 * peak)), listener.log)
    assert divided.train.accumulate > 1
    with pytest.raises(UsageError, match="nothing is left for training"):
        fit_memory(settings, data, MemoryLimit(True, peak, held=peak), print)


@pytest.mark.parametrize("arch", list(BACKBONES))
def test_the_parts_of_an_estimate_are_its_sum(arch: str) -> None:
    for changes in ({}, {"train.precision": "bf16"}, {"train.accumulate": 2}, {"task.batch_size": 1}):
        estimate = footprint(setting(arch, changes), 100)
        phase, parts = estimate.largest_phase
        assert sum(parts.values()) == estimate.peak >= estimate.held
        assert phase in in_words(estimate) and all(size >= 0 for size in parts.values())


def test_a_limit_needs_fit() -> None:
    error = CliRunner().invoke(app, ["train", "my.txt", "--memory", "2GB"]).exception
    assert isinstance(error, UsageError) and "--memory does nothing without --fit" in str(error)
    with pytest.raises(UsageError, match="'much' is not an amount of memory"):
        seqlab.train("my.txt", fit="much")


def test_torch_running_out_of_memory_is_said() -> None:
    settings = large()
    data = material_of(settings)
    said = pytest.raises(TrainingFailed, match=r"not enough memory: training needs about .* 'checkpoints'")
    with said, memory_errors(settings, data, "checkpoints"):
        torch.empty(2**60, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="other"), memory_errors(settings, data, "checkpoints"):
        raise RuntimeError("other")


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["transformer", "lstm", "gru"])
def test_the_estimate_with_recomputation_is_near_the_measured_peak(arch: str) -> None:
    changes = {"backbone.hidden": 256, "backbone.layers": 4, "task.batch_size": 32, "train.recompute": True}
    found = in_process(arch, changes)
    assert found["estimate"] == pytest.approx(found["measured"], rel=LIMIT), json.dumps(found)


@pytest.mark.parametrize("precision", ["float32", "bf16"])
@pytest.mark.parametrize("arch", list(BACKBONES))
def test_what_a_batch_keeps_is_what_torch_keeps(arch: str, precision: str) -> None:
    """The model with its output layer and its loss: logits count three times, of which one is kept."""
    if precision == "bf16" and not lstm_rounds():
        pytest.skip("this processor's LSTM kernel has no bfloat16 form")
    settings = setting(arch, {"backbone.hidden": 64, "model.embedding": 48, "train.precision": precision})
    settings = settings.with_values(**{"task.batch_size": 3, "task.window": 40, "train.threads": 1})
    data = material_of(settings)
    task, model = make_task(settings, data), build_model(settings, data.vocabulary.sizes).train()
    batch = task.batch("train", 0, 0)

    def loss() -> torch.Tensor:
        with training_precision(precision, torch.device("cpu")):
            return task.loss(model, batch, None, 0).total

    kept, _ = kept_bytes(loss, model.parameters())
    estimate = footprint(settings, data.vocabulary.sizes)
    assert estimate.activations + estimate.loss // 3 == pytest.approx(kept, rel=0.08)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("arch", list(BACKBONES))
def test_the_estimate_is_near_the_measured_peak(arch: str, size: str) -> None:
    found = in_process(arch, SIZES[size])
    assert found["estimate"] == pytest.approx(found["measured"], rel=LIMIT), json.dumps(found)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["lstm-attention", "transformer", "rnn"])
def test_a_process_stays_inside_its_limit(arch: str, tmp_path: Path) -> None:
    (tmp_path / "my.txt").write_text("the cat sat on the mat. " * 4000)
    program = "import seqlab.__main__, seqlab.runs.machine as machine\n"
    program += "try:\n    seqlab.__main__.main()\nfinally:\n    print('peak', machine.peak_memory())"
    words = f"train my.txt --arch {arch} --batch-size 128 --window 256 --hidden 128 --layers 2 --steps 2 --out r"
    done = subprocess.run(
        [sys.executable, "-c", program, *words.split(), "--fit", "--memory", "1GB"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) < 10**9, done.stderr


@pytest.mark.slow
def test_running_out_of_memory_ends_with_70_and_a_checkpoint(tmp_path: Path) -> None:
    """A real process under a limit of its address space."""
    (tmp_path / "my.txt").write_text("the cat sat on the mat. " * 4000)
    program = (
        "import resource, sys, seqlab.training.session as session, seqlab.training.loop as loop\n"
        "from seqlab.__main__ import main\n"
        "begin = loop.Trainer.run\n"
        "def run(self):\n"
        "    self._began = 0.0; self._seconds_before = 0.0; self._save()\n"
        "    used = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, used + 2**28))\n"
        "    return begin(self)\n"
        "loop.Trainer.run = run\n"
        "main()"
    )
    words = "train my.txt --arch transformer --hidden 256 --batch-size 256 --window 256 --steps 5 --threads 1 --out r"
    done = subprocess.run(
        [sys.executable, "-c", program, *words.split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 70, done.stderr
    assert "there is not enough memory: training needs about" in done.stderr and "Traceback" not in done.stderr
    assert (tmp_path / "r" / "checkpoints" / "step-0").is_dir()
