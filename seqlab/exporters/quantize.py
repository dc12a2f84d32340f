"""int8 quantization: a run with a quarter of the bytes that works like any other run, for every architecture."""

from dataclasses import dataclass, replace
from pathlib import Path

from seqlab.errors import SeqlabError, UsageError
from seqlab.models.int8 import to_int8
from seqlab.runs import tensors
from seqlab.runs.checkpoint import weights_of
from seqlab.runs.directory import WEIGHTS, RunDirectory, begin_run
from seqlab.runs.evaluation import evaluate
from seqlab.runs.load import LoadedRun, load_run
from seqlab.runs.results import read_results, timestamp, write_card, write_results


@dataclass(frozen=True)
class QuantizedRun:
    """`metrics` on validation before and after; None if the data of the run are no longer available."""

    run: RunDirectory
    bytes: tuple[int, int]
    metrics: tuple[dict[str, float], dict[str, float]] | None


def quantize(path: Path, out: Path, overwrite: bool = False) -> QuantizedRun:
    """Write the int8 run to `out`, and evaluate both runs on validation."""
    run = load_run(path)
    if run.settings.model.precision == "int8":
        raise UsageError(f"'{path}' is already int8.")
    directory = begin_run(out, overwrite)
    settings = run.settings.with_values(**{"model.precision": "int8"})
    config = {key: value for key, value in run.config.items() if key not in ("format", "version")}
    config = {**config, "settings": settings.resolved()}
    directory.write_config(config)
    directory.write_vocabulary(run.vocabulary)
    directory.write_file(WEIGHTS, tensors.to_bytes(to_int8(weights_of(run.model))))
    sizes = ((run.directory.path / WEIGHTS).stat().st_size, (directory.path / WEIGHTS).stat().st_size)
    return QuantizedRun(directory, sizes, _score(run, load_run(out)))


def _score(before: LoadedRun, after: LoadedRun) -> tuple[dict[str, float], dict[str, float]] | None:
    """Both on validation. The new run keeps the results of the first, with its own metrics."""
    known = read_results(before.directory)
    try:
        scored = [evaluate(run, None, "validation", None) for run in (before, after)]
    except SeqlabError:
        return None
    first, second = ({name: float(value) for name, value in task.metrics(scores).items()} for task, scores in scored)
    if known is not None:
        results = replace(known, validation=second, criterion=scored[1][1].criterion, date=timestamp())
        write_results(after.directory, results)
        write_card(after.directory, after.settings, after.config, results)
    return first, second
