"""int8 quantization: a run with a quarter of the bytes that works like any other run, for every architecture."""

from dataclasses import dataclass, replace
from pathlib import Path

from seqlab.errors import SeqlabError, UsageError
from seqlab.mixing.mixture import MIXTURE_FILE
from seqlab.models.int8 import to_int8
from seqlab.runs import tensors
from seqlab.runs.checkpoint import weights_of
from seqlab.runs.directory import WEIGHTS, RunDirectory, new_run
from seqlab.runs.load import load_run
from seqlab.runs.results import timestamp, write_card, write_results
from seqlab.runs.run import Run


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
    if out.resolve() == run.path.resolve():
        raise UsageError(f"'{out}' is the run itself, whose weights would be lost: choose another --out.")
    with new_run(out, overwrite) as directory:
        settings = run.settings.with_values(**{"model.precision": "int8"})
        config = {key: value for key, value in run.config.items() if key not in ("format", "version")}
        directory.write_config({**config, "settings": settings.resolved()})
        directory.write_vocabulary(run.vocabulary)
        directory.write_file(WEIGHTS, tensors.to_bytes(to_int8(weights_of(run.model))))
        mixture = getattr(run.model, "mixture", None)
        if mixture is not None:
            directory.write_file(MIXTURE_FILE, tensors.to_bytes(mixture.tensors()))
        sizes = ((run.directory.path / WEIGHTS).stat().st_size, (directory.path / WEIGHTS).stat().st_size)
        return QuantizedRun(directory, sizes, _score(run, load_run(out)))


def _score(before: Run, after: Run) -> tuple[dict[str, float], dict[str, float]] | None:
    """Both on validation. The new run keeps the results of the first, with its own metrics."""
    try:
        first, second = before.evaluate(), after.evaluate()
    except SeqlabError:
        return None
    if before.results is not None:
        criterion = second.scores.criterion
        results = replace(before.results, validation=second.metrics, criterion=criterion, date=timestamp())
        write_results(after.directory, results)
        write_card(after.directory, after.settings, after.config, results)
    return first.metrics, second.metrics
