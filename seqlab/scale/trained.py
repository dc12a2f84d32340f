"""Finished runs as points of a scaling law: their size, the tokens that they were trained on, and their loss."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqlab.comparison.results import read_comparison
from seqlab.config import RunSettings
from seqlab.errors import DataError, UsageError
from seqlab.runs.directory import RunDirectory
from seqlab.runs.load import load_parts
from seqlab.runs.results import read_results
from seqlab.scale.law import TrainedPoint
from seqlab.tasks.text_settings import TextSettings

LOSS = "nats_per_token"


@dataclass(frozen=True)
class LossPerToken:
    """What was measured: losses with another text, tokenizer, window or split are another quantity."""

    task: str
    mode: str
    split: str
    text: tuple[str, str]  # its fingerprint, and the rule of its splits
    tokenizer: dict[str, Any]  # name and options
    tokenizer_fingerprint: str
    vocab_size: int
    window: int


@dataclass(frozen=True)
class TrainedRuns:
    """Runs of an architecture, all of them with the same loss."""

    points: list[TrainedPoint]
    measured: LossPerToken


def trained_runs(folders: Iterable[Path], arch: str) -> TrainedRuns:
    """The runs of an architecture in comparisons and run folders."""
    points: list[TrainedPoint] = []
    first: tuple[LossPerToken, Path] | None = None
    for folder in folders:
        found, measured = _of_run(folder, arch) if RunDirectory(folder).is_run() else _of_comparison(folder, arch)
        points += found
        first = first or (measured, folder)
        if measured != first[0]:
            raise UsageError(
                f"'{first[1]}' and '{folder}' have different texts, tokenizers, windows or scored splits, so their "
                f"losses cannot be compared: give runs on one text, or comparisons on one text."
            )
    if first is None or not points:
        raise UsageError(f"there is no finished run of --arch {arch} there: give comparisons or runs with one.")
    return TrainedRuns(points, first[0])


def _of_comparison(folder: Path, arch: str) -> tuple[list[TrainedPoint], LossPerToken]:
    results = read_comparison(folder)
    if not results.runs:
        raise UsageError(f"'{folder}' has no runs: a scaling law is fitted to language models.")
    points = [
        TrainedPoint(results.entrant(run.name).parameters, run.tokens, _loss(run.metrics, folder))
        for run in results.runs
        if run.arch == arch
    ]
    _, config, settings, _ = load_parts(folder / results.runs[0].path)
    return points, _measured(folder, config, settings, str(results.protocol.get("scored_split")))


def _of_run(folder: Path, arch: str) -> tuple[list[TrainedPoint], LossPerToken]:
    _, config, settings, _ = load_parts(folder)
    results = read_results(RunDirectory(folder))
    if results is None:
        raise DataError(f"'{folder}' is not finished: seqlab resume {folder}")
    measured = _measured(folder, config, settings, "validation")
    if settings.backbone.name != arch:
        return [], measured
    task = settings.task.settings_as(TextSettings)
    tokens = results.steps * settings.train.accumulate * task.batch_size * task.trained_window
    return [TrainedPoint(config["parameters"]["total"], tokens, _loss(results.validation, folder))], measured


def _measured(folder: Path, config: dict[str, Any], settings: RunSettings, split: str) -> LossPerToken:
    task = settings.task.settings
    if not isinstance(task, TextSettings):
        raise UsageError(f"'{folder}' is no language model: a scaling law is fitted to losses per token of text.")
    return LossPerToken(
        task=settings.task.name,
        mode=task.option("mode", "window"),
        split=split,
        text=(config["corpus"]["fingerprint"], config["corpus"]["rule"]),
        tokenizer=settings.tokenizer.flat(),
        tokenizer_fingerprint=config["tokenizer_fingerprint"],
        vocab_size=config["vocab_size"],
        window=task.window,
    )


def _loss(metrics: dict[str, float], folder: Path) -> float:
    if LOSS not in metrics:
        raise UsageError(f"'{folder}' has no loss per token: a scaling law is fitted to language models.")
    return metrics[LOSS]
