"""What is written down of a run: its settings and facts at the start, its results, curves and card at the end."""

import platform
import subprocess
from dataclasses import asdict, dataclass
from typing import Any

import torch

from seqlab import __version__
from seqlab.config import RunSettings
from seqlab.data.splits import SplitText
from seqlab.data.tokens import TokenPart
from seqlab.errors import TrainingFailed
from seqlab.metrics.likelihood import of_scores
from seqlab.models.sizes import parameters
from seqlab.models.tokens import TokenModel
from seqlab.runs.curves import draw_curves
from seqlab.runs.layout import RunDirectory
from seqlab.runs.load import load_run
from seqlab.runs.log import read_log
from seqlab.runs.results import Results, today, write_card, write_results
from seqlab.tasks.text import TextTask
from seqlab.text.tokenizer import Tokenizer
from seqlab.training.floors import measure_floors
from seqlab.training.loop import EVALUATED_TOKENS, Progress


@dataclass(frozen=True)
class Session:
    """Everything that a run works with."""

    directory: RunDirectory
    settings: RunSettings
    config: dict[str, Any]
    split: SplitText
    tokenizer: Tokenizer
    task: TextTask
    model: TokenModel


def describe(settings: RunSettings, split: SplitText, tokenizer: Tokenizer, budget: dict[str, Any]) -> dict[str, Any]:
    """config.json: every setting, resolved, and the facts that a result depends on."""
    count = parameters(settings, tokenizer.vocabulary)
    return {
        "settings": settings.resolved(),
        "budget": budget,
        "corpus": {"name": split.corpus.name, "about": split.corpus.about, **asdict(split.survey)},
        "vocabulary": tokenizer.vocabulary,
        "tokenizer_fingerprint": tokenizer.fingerprint,
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
    settings: RunSettings, config: dict[str, Any], parts: dict[str, TokenPart], task: TextTask, run: RunDirectory
) -> str:
    count, train = config["parameters"], parts["train"].facts
    steps = settings.train.steps or 0
    about = f" ({config['corpus']['about']})" if config["corpus"]["about"] else ""
    epochs = steps * settings.train.accumulate / task.epoch
    return (
        f"{settings.backbone.name}, {count['total']:,} parameters ({count['core']:,} of them core), "
        f"{settings.tokenizer.name} vocabulary of {config['vocabulary']:,}\n"
        f"{config['corpus']['name']}{about}: {train.tokens:,} training tokens, "
        f"{len(parts['validation']):,} for validation\n"
        f"{steps:,} steps ({epochs:.1f} passes over the text) on {settings.train.threads} threads, into {run.path}"
    )


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
    scores = session.task.score(model, "validation", limit=10 * EVALUATED_TOKENS)
    floors_found = measure_floors(session.split, session.task.parts, session.tokenizer)
    results = Results(
        validation=of_scores(scores),
        context=scores.context,
        window=session.task.settings.window,
        steps=progress.step,
        best_step=progress.best_step,
        ended=progress.finished,
        seconds=round(progress.seconds, 1),
        unknown_share=scores.unknown_tokens / scores.tokens,
        floors=[floor for floor in floors_found if floor.name.startswith(session.task.floors)],
        date=today(),
    )
    write_results(directory, results)
    title = f"{settings.backbone.name} on {session.split.corpus.name}"
    draw_curves(read_log(directory.metrics), title, directory.curves)
    write_card(directory, settings, session.config, results)
    return directory
