"""Finished runs as points of a scaling law: their size, the tokens that they were trained on, and their loss."""

from collections.abc import Iterable
from pathlib import Path

from seqlab.comparison.results import read_comparison
from seqlab.errors import DataError, UsageError
from seqlab.runs.directory import RunDirectory
from seqlab.runs.load import load_parts
from seqlab.runs.results import read_results
from seqlab.scale.law import TrainedPoint
from seqlab.tasks.text_settings import TextSettings

LOSS = "nats_per_token"


def trained_points(folders: Iterable[Path], arch: str) -> list[TrainedPoint]:
    """The runs of an architecture in comparisons and run folders; all of them on the same text and tokenizer."""
    points: list[TrainedPoint] = []
    texts: dict[tuple[str, str, str], Path] = {}
    for folder in folders:
        found, text = _of_run(folder, arch) if RunDirectory(folder).is_run() else _of_comparison(folder, arch)
        points += found
        texts.setdefault(text, folder)
    if len(texts) > 1:
        first, second = list(texts.values())[:2]
        raise UsageError(
            f"'{first}' and '{second}' have different texts, tokenizers or scored splits, so their losses cannot be "
            f"compared: give runs on one text, or comparisons on one text."
        )
    if not points:
        raise UsageError(f"there is no finished run of --arch {arch} there: give comparisons or runs with one.")
    return points


def _of_comparison(folder: Path, arch: str) -> tuple[list[TrainedPoint], tuple[str, str, str]]:
    results = read_comparison(folder)
    points = [
        TrainedPoint(results.entrant(run.name).parameters, run.tokens, _loss(run.metrics, folder))
        for run in results.runs
        if run.arch == arch
    ]
    tokenizer = f"{results.protocol.get('tokenizer')} {results.protocol.get('vocab_size')}"
    return points, (str(results.corpus.get("name")), tokenizer, str(results.protocol.get("scored_split")))


def _of_run(folder: Path, arch: str) -> tuple[list[TrainedPoint], tuple[str, str, str]]:
    _, config, settings, _ = load_parts(folder)
    results = read_results(RunDirectory(folder))
    text = str(config["corpus"]["name"]), f"{settings.tokenizer.name} {config['vocab_size']}", "validation"
    if results is None:
        raise DataError(f"'{folder}' is not finished: seqlab resume {folder}")
    if settings.backbone.name != arch:
        return [], text
    task = settings.task.settings
    if not isinstance(task, TextSettings):
        raise UsageError(f"'{folder}' is no language model: a scaling law is fitted to losses per token of text.")
    tokens = results.steps * settings.train.accumulate * task.batch_size * task.trained_window
    return [TrainedPoint(config["parameters"]["total"], tokens, _loss(results.validation, folder))], text


def _loss(metrics: dict[str, float], folder: Path) -> float:
    if LOSS not in metrics:
        raise UsageError(f"'{folder}' has no loss per token: a scaling law is fitted to language models.")
    return metrics[LOSS]
