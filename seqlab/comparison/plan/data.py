"""The data that all entrants share: splits, vocabulary, and batch sizes that fit it."""

import shutil
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
from seqlab.runs.reopen import make_task, teacher_vocabulary
from seqlab.storage import storage_errors
from seqlab.tasks.dataset import Dataset
from seqlab.tasks.task import Task
from seqlab.training.budget import check_trainable
from seqlab.training.progress import Reporter


@dataclass(frozen=True)
class ComparisonData:
    """The shared dataset, and every entrant's settings."""

    models: dict[str, RunSettings]
    dataset: Dataset

    def task(self, settings: RunSettings) -> Task:
        return make_task(settings, self.dataset)

    def model(self, settings: RunSettings) -> Any:
        return build_model(settings, self.dataset.vocabulary.sizes)

    def tokens(self, split: str) -> int:
        """All tokens of a split, targets included."""
        data = self.dataset.splits[split]
        return int(data.lengths_N.sum()) if isinstance(data, ExampleSplit) else len(data)

    def length(self, settings: RunSettings) -> int:
        """Tokens of a sequence: a window, or an average example."""
        train = self.dataset.splits["train"]
        if isinstance(train, ExampleSplit):
            return max(1, round(train.tokens / len(train)))
        return settings.task.settings.sequence_length

    @property
    def deciding_split(self) -> str:
        """The split on which verdicts are given: test if there is one, else validation."""
        return "test" if "test" in self.dataset.splits else "validation"


def prepare_data(request: ComparisonRequest, directory: Path, reporter: Reporter) -> ComparisonData:
    """Open the data. Standard input is kept in the comparison, for its runs and for resuming."""
    models = request.models
    first = next(iter(models.values()))
    kept = directory / "corpus.txt"
    if STANDARD_INPUT in first.corpus.source:
        if not kept.is_file():
            corpus = open_corpus(first.corpus.source)
            assert corpus.stdin_copy is not None
            with storage_errors(kept, corpus.stdin_copy.stat().st_size):
                shutil.move(corpus.stdin_copy, kept)
        models = {name: model.with_values(**{"corpus.source": [str(kept)]}) for name, model in models.items()}
        first = next(iter(models.values()))
    check_trainable(first)
    task = TASKS.load(first.task.name)
    dataset = task.open_dataset(first, reporter.log, teacher_vocabulary(first))
    sizes = task.fit_settings(first, dataset, reporter.log).resolved()["task"]
    fit = {f"task.{key}": sizes[key] for key in ("window", "batch_size") if key in sizes}
    return ComparisonData({name: model.with_values(**fit) for name, model in models.items()}, dataset)


def with_models(data: ComparisonData, models: dict[str, RunSettings]) -> ComparisonData:
    return replace(data, models=models)
