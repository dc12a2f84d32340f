"""The data that all entrants share: splits, vocabulary, and batch sizes that fit it."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from seqlab.comparison.plan.request import ComparisonRequest
from seqlab.config import RunSettings
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.files import STANDARD_INPUT
from seqlab.data.text.corpus import open_corpus
from seqlab.registry import TASKS
from seqlab.runs.load import build_model
from seqlab.runs.origins import origins
from seqlab.runs.reopen import make_task, teacher_path, teacher_vocabulary
from seqlab.runs.seen_before import seen_before_notes
from seqlab.storage import storage_errors
from seqlab.tasks.as_read import borrowed_note
from seqlab.tasks.dataset import Dataset, KeptNotes
from seqlab.tasks.task import Task
from seqlab.tasks.too_long import left_out, trained_split
from seqlab.training.budget import check_trainable
from seqlab.wording import counted

FITTED = ("window", "batch_size", "max_target_length", "max_target_ratio")  # task settings that follow from the data


@dataclass(frozen=True)
class ComparisonData:
    """The shared dataset, and every entrant's settings."""

    models: dict[str, RunSettings]
    dataset: Dataset

    @property
    def shared(self) -> RunSettings:
        """The first entrant's settings: corpus, tokenizer and scoring are the same for all."""
        return next(iter(self.models.values()))

    def task(self, settings: RunSettings) -> Task:
        return make_task(settings, self.dataset)

    def model(self, settings: RunSettings) -> Any:
        return build_model(settings, self.dataset.vocabulary.sizes)

    def tokens(self, split: str) -> int:
        """All tokens of a split, targets included."""
        data = self.trained_split if split == "train" else self.dataset.splits[split]
        return int(data.lengths_N.sum()) if isinstance(data, ExampleSplit) else len(data)

    def sequence_length(self, settings: RunSettings) -> int:
        """Tokens per sequence: the window, or the mean length of the examples."""
        train = self.trained_split
        if isinstance(train, ExampleSplit):
            return max(1, round(train.tokens / len(train)))
        return settings.task.settings.sequence_length

    @property
    def size_in_words(self) -> str:
        facts = self.dataset.facts()
        if "examples" in facts:
            return counted(sum(facts["examples"].values()), "example")
        return f"{facts['characters']:,} characters"

    @property
    def trained_split(self) -> Any:
        """The training split without examples that are too long to train on."""
        return trained_split(self.dataset, self.shared)

    @property
    def left_out(self) -> int:
        """How many training examples are too long to train on."""
        return left_out(self.dataset, self.shared)

    @property
    def deciding_split(self) -> str:
        """The split that verdicts are based on: test if there is one, else validation."""
        return "test" if "test" in self.dataset.splits else "validation"


def prepare_data(request: ComparisonRequest, directory: Path, log: Callable[[str], None]) -> ComparisonData:
    """Open the data. Standard input is kept in the comparison, for its runs and for resuming."""
    models = request.models
    first = next(iter(models.values()))
    if STANDARD_INPUT in first.corpus.source:
        kept = directory / "corpus.txt"
        if not kept.is_file():
            corpus = open_corpus(first.corpus.source)
            assert corpus.stdin_copy is not None
            with storage_errors(kept, corpus.stdin_copy.stat().st_size):
                shutil.move(corpus.stdin_copy, kept)
        models = {name: model.with_values(**{"corpus.source": [str(kept)]}) for name, model in models.items()}
        first = next(iter(models.values()))
    check_trainable(first)
    task = TASKS.load(first.task.name)
    said, vocabulary = KeptNotes(log), teacher_vocabulary(first)
    dataset = task.open_dataset(first, said, vocabulary)
    if vocabulary is not None:
        said.all(borrowed_note(dataset.splits, vocabulary, teacher_path(first), "a teacher"))
    said.all(seen_before_notes(origins(first, None), dataset))
    models = _fitted(task, models, dataset, said)
    return ComparisonData(models, replace(dataset, notes=tuple(said.notes)))


def _fitted(
    task: type[Task], models: Mapping[str, RunSettings], dataset: Dataset, said: KeptNotes
) -> dict[str, RunSettings]:
    """The models with sizes that fit the data. All have one window, since they are scored in it; their batches may
    differ."""
    by_size = {model.task.settings.batch_size: model for model in models.values()}
    fits = {size: task.fit_settings(model, dataset, said).resolved()["task"] for size, model in by_size.items()}
    windows = [fit["window"] for fit in fits.values() if "window" in fit]

    def sizes(model: RunSettings) -> dict[str, Any]:
        fit = fits[model.task.settings.batch_size] | ({"window": min(windows)} if windows else {})
        return {f"task.{key}": fit[key] for key in FITTED if key in fit}

    return {name: model.with_values(**sizes(model)) for name, model in models.items()}
