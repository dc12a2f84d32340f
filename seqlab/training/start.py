"""Before training: where the run may be, the content of config.json, and a summary of the plan."""

import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from seqlab import __version__
from seqlab.config import RunSettings
from seqlab.data.documents.encoded import PairSplit
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.text.tokens import TokenSplit
from seqlab.distributed.world import joined
from seqlab.errors import UsageError
from seqlab.models.model import Model
from seqlab.models.parameter_count import parameters
from seqlab.registry import CORPORA
from seqlab.runs.directory import RunDirectory, best_run_path, refuse_occupied
from seqlab.runs.machine import git_revision
from seqlab.runs.origins import origins, split_fingerprint
from seqlab.runs.results import timestamp
from seqlab.runs.run import Run
from seqlab.tasks.dataset import AnyDataset
from seqlab.tasks.task import Task
from seqlab.tasks.too_long import left_out
from seqlab.tokenization.vocabulary import vocabulary_in_words
from seqlab.training.evaluations import EVALUATED_TOKENS, FINAL_TOKENS
from seqlab.wording import counted


@dataclass(frozen=True)
class TrainingSession:
    """Everything that training a run needs."""

    directory: RunDirectory
    settings: RunSettings
    config: dict[str, Any]
    dataset: AnyDataset
    task: Task
    model: Model


def check_out(settings: RunSettings, out: Path, overwrite: bool, init: Path | None) -> None:
    """UsageError, before anything is read, if no run may begin there."""
    task = settings.task.settings
    needed = {
        "to start from": init,
        "that is the teacher": task.option("teacher", None),
        "that chooses negatives": task.mining_run,
    }
    for purpose, run in needed.items():
        if run is not None and best_run_path(Path(run)).resolve() == out.resolve():
            raise UsageError(f"'{out}' is the run {purpose}, and would be lost: choose another --out.")
    corpus = settings.corpus
    files = [Path(item) for item in (*corpus.source, *corpus.validation, *corpus.test) if item not in CORPORA]
    if any(file.resolve().is_relative_to(out.resolve()) for file in files):
        raise UsageError(f"'{out}' contains the training text: choose another --out.")
    refuse_occupied(out, overwrite)


def run_config(
    settings: RunSettings,
    dataset: AnyDataset,
    budget: dict[str, Any],
    asked_threads: int | None,
    init: Run | None = None,
) -> dict[str, Any]:
    """The content of config.json: every resolved setting, and the facts that a result depends on."""
    vocabulary = dataset.vocabulary
    count, facts = parameters(settings, vocabulary.sizes), dataset.facts()
    train = dataset.splits["train"]
    too_long = {"left_out": left_out(dataset, settings)} if "examples" in facts else {}
    trained_on = {"training_characters": train.stats.characters} if isinstance(train, TokenSplit) else {}
    return {
        "settings": settings.resolved(),
        "budget": budget,
        "corpus": {**facts, **too_long, **trained_on},
        "folder": str(Path.cwd()),  # that the names of files are relative to
        "training_fingerprint": split_fingerprint(dataset.data),
        "test_fingerprint": split_fingerprint(dataset.data, "test") if "test" in dataset.splits else None,
        "origins": origins(settings, init),
        "vocab_size": vocabulary.tokenizer.vocab_size,
        "tokenizer_fingerprint": vocabulary.fingerprint,
        "parameters": {**asdict(count), "total": count.total},
        "threads": settings.train.threads,
        "asked_threads": asked_threads,  # None: the cores were divided among the processes
        "processes": joined().size,
        "versions": {"seqlab": __version__, "torch": torch.__version__, "python": platform.python_version()},
        "machine": f"{platform.system()} {platform.machine()}",
        "git": git_revision(),
        "created": timestamp(),
    }


def plan_summary(session: TrainingSession) -> str:
    """The model, the data and the budget in three lines, printed before the first step."""
    settings, config = session.settings, session.config
    count = config["parameters"]
    steps, computing = settings.train.steps or 0, _computing(settings.train.threads or 1, settings.train.shard)
    about = f" ({config['corpus']['about']})" if config["corpus"]["about"] else ""
    unit = "examples" if "examples" in config["corpus"] else "text"
    epochs = steps * settings.train.accumulate / session.task.steps_per_epoch
    return (
        f"{_architecture(settings)}, {count['total']:,} parameters ({count['core']:,} of them core), "
        f"{vocabulary_in_words(session.dataset.vocabulary, settings.tokenizer.settings)}\n"
        f"{config['corpus']['name']}{about}: {_amounts(session.dataset, settings)}\n"
        f"{counted(steps, 'step')} ({epochs:.1f} passes over the {unit}) on {computing}, "
        f"into {session.directory.path}{_evaluated(session.dataset.splits['validation'])}"
    )


def _computing(threads: int, sharded: bool) -> str:
    if joined().size == 1:
        return counted(threads, "thread")
    return f"{joined().size} processes with {counted(threads, 'thread')} each{', which share the weights' * sharded}"


def _evaluated(validation: Any) -> str:
    """How much of a long validation split is scored, as a further line."""
    if isinstance(validation, PairSplit):
        if validation.scored_tokens <= EVALUATED_TOKENS:
            return ""
        documents = counted(len(validation.table), "document")
        return f"\nevaluations rank the relevant ones and {EVALUATED_TOKENS:,} tokens of {documents}, the results all"
    tokens = int(validation.lengths_N.sum()) if isinstance(validation, ExampleSplit) else len(validation)
    if tokens <= EVALUATED_TOKENS:
        return ""
    final = "all" if tokens <= FINAL_TOKENS else f"the first {FINAL_TOKENS:,}"
    return f"\nevaluations score the first {EVALUATED_TOKENS:,} of {tokens:,} validation tokens, the results {final}"


def _architecture(settings: RunSettings) -> str:
    if settings.decoder is None:
        return settings.backbone.name
    return f"{settings.backbone.name} to {settings.decoder.name}"


def _amounts(dataset: AnyDataset, settings: RunSettings) -> str:
    """How much is trained on, validated on and tested on; training examples that are too long are left out."""
    sizes: dict[str, int] = {name: len(split) for name, split in dataset.splits.items()}
    sizes["train"] -= left_out(dataset, settings)
    unit = "example" if "examples" in dataset.facts() else "token"
    test = f", {sizes['test']:,} to test" if "test" in sizes else ""
    return f"{counted(sizes['train'], f'training {unit}')}, {sizes['validation']:,} for validation{test}"
