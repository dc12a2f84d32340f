"""What is written down of a run: its settings and facts at the start, its results, curves and card at the end."""

import platform
import subprocess
from dataclasses import asdict, dataclass
from typing import Any

import torch

from seqlab import __version__
from seqlab.config import RunSettings
from seqlab.contracts import TextScores
from seqlab.errors import TrainingFailed
from seqlab.models.model import Model
from seqlab.models.parameter_count import parameters
from seqlab.runs.curves import draw_curves
from seqlab.runs.directory import RunDirectory
from seqlab.runs.load import load_run
from seqlab.runs.log import read_log
from seqlab.runs.results import Results, today, write_card, write_results
from seqlab.tasks.dataset import Dataset
from seqlab.tasks.task import Task
from seqlab.training.baselines import measure_baselines
from seqlab.training.loop import EVALUATED_TOKENS, Progress


@dataclass(frozen=True)
class Session:
    """Everything that a run works with."""

    directory: RunDirectory
    settings: RunSettings
    config: dict[str, Any]
    dataset: Dataset
    task: Task
    model: Model


def describe(settings: RunSettings, dataset: Dataset, budget: dict[str, Any]) -> dict[str, Any]:
    """config.json: every setting, resolved, and the facts that a result depends on."""
    vocabulary = dataset.vocabulary
    count = parameters(settings, vocabulary.sizes)
    return {
        "settings": settings.resolved(),
        "budget": budget,
        "corpus": dataset.facts(),
        "vocab_size": vocabulary.tokenizer.vocab_size,
        "tokenizer_fingerprint": vocabulary.fingerprint,
        "parameters": {**asdict(count), "total": count.total},
        "threads": settings.train.threads,
        "versions": {"seqlab": __version__, "torch": torch.__version__, "python": platform.python_version()},
        "machine": f"{platform.system()} {platform.machine()}",
        "git": _git_revision(),
        "created": today(),
    }


def _git_revision() -> str | None:
    try:
        found = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None if found.returncode == 0 else None


def plan_in_words(
    settings: RunSettings, config: dict[str, Any], dataset: Dataset, task: Task, run: RunDirectory
) -> str:
    count = config["parameters"]
    steps = settings.train.steps or 0
    about = f" ({config['corpus']['about']})" if config["corpus"]["about"] else ""
    unit = "examples" if "rule" in config["corpus"] else "text"
    epochs = steps * settings.train.accumulate / task.epoch
    return (
        f"{_architecture(settings)}, {count['total']:,} parameters ({count['core']:,} of them core), "
        f"{settings.tokenizer.name} vocabulary of {config['vocab_size']:,}\n"
        f"{config['corpus']['name']}{about}: {_amounts(dataset)}\n"
        f"{steps:,} steps ({epochs:.1f} passes over the {unit}) on {settings.train.threads} threads, into {run.path}"
    )


def _architecture(settings: RunSettings) -> str:
    if settings.decoder is None:
        return settings.backbone.name
    return f"{settings.backbone.name} to {settings.decoder.name}"


def _amounts(dataset: Dataset) -> str:
    sizes: dict[str, int] = {name: len(part) for name, part in dataset.splits.items()}
    unit = "examples" if "rule" in dataset.facts() else "tokens"
    test = f", {sizes['test']:,} to test" if "test" in sizes else ""
    return f"{sizes['train']:,} training {unit}, {sizes['validation']:,} for validation{test}"


def finish(session: Session, progress: Progress) -> RunDirectory:
    """Score the best weights, hold them against the floors, draw the curves and write the card."""
    directory, settings = session.directory, session.settings
    if progress.best_loss is None:
        raise TrainingFailed(
            f"no evaluation of '{directory.path}' gave a finite loss, so there are no best weights. "
            f"Train again with a lower learning rate (train.lr={settings.train.lr / 3:.1g})."
        )
    loaded = load_run(directory.path)
    model = loaded.model.to(settings.train.device)
    task = session.task
    scores = task.score(model, "validation", limit=10 * EVALUATED_TOKENS)
    of_text = isinstance(scores, TextScores)
    results = Results(
        validation={name: float(value) for name, value in task.metrics(scores).items()},
        headline=task.headline,
        criterion=scores.criterion,
        mode=task.modes[0],
        window=task.settings.window if of_text else None,
        steps=progress.step,
        best_step=progress.best_step,
        ended=progress.finished,
        seconds=round(progress.seconds, 1),
        unknown_share=scores.unknown_tokens / scores.tokens if of_text else 0.0,
        baselines=measure_baselines(settings, session.dataset, task, task.units(scores)),
        date=today(),
    )
    write_results(directory, results)
    title = f"{settings.backbone.name} on {session.dataset.name}"
    draw_curves(read_log(directory.metrics), title, directory.curves)
    write_card(directory, settings, session.config, results)
    return directory
