"""The data that all entrants share: its parts, its symbols, and sizes of batches that fit it."""

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
class Prepared:
    models: dict[str, RunSettings]
    dataset: Dataset

    def task(self, settings: RunSettings) -> Task:
        return make_task(settings, self.dataset)

    def model(self, settings: RunSettings) -> Any:
        return build_model(settings, self.dataset.vocabulary.sizes)

    def tokens(self, part: str) -> int:
        """What a part has to be read, targets included."""
        found = self.dataset.splits[part]
        return int(found.lengths_N.sum()) if isinstance(found, ExampleSplit) else len(found)

    def length(self, settings: RunSettings) -> int:
        """Tokens of a sequence: of a window, or of an example on average."""
        train = self.dataset.splits["train"]
        if isinstance(train, ExampleSplit):
            return max(1, round(train.tokens / len(train)))
        return settings.task.settings.sequence_length

    @property
    def decides(self) -> str:
        """The part on which verdicts are given: the test part where there is one."""
        return "test" if "test" in self.dataset.splits else "validation"


def prepare(asked: ComparisonRequest, directory: Path, reporter: Reporter) -> Prepared:
    """Standard input is kept in the comparison, so that its runs can read it and the same command goes on."""
    models = asked.models
    one = next(iter(models.values()))
    kept = directory / "corpus.txt"
    if STANDARD_INPUT in one.corpus.source:
        if not kept.is_file():
            corpus = open_corpus(one.corpus.source)
            assert corpus.stdin_copy is not None
            with storage_errors(kept, corpus.stdin_copy.stat().st_size):
                shutil.move(corpus.stdin_copy, kept)
        models = {name: model.with_values(**{"corpus.source": [str(kept)]}) for name, model in models.items()}
        one = next(iter(models.values()))
    check_trainable(one)
    task = TASKS.load(one.task.name)
    dataset = task.open_dataset(one, reporter.log, teacher_vocabulary(one))
    sizes = task.fit_settings(one, dataset, reporter.log).resolved()["task"]
    fit = {f"task.{key}": sizes[key] for key in ("window", "batch_size") if key in sizes}
    return Prepared({name: model.with_values(**fit) for name, model in models.items()}, dataset)


def with_models(prepared: Prepared, models: dict[str, RunSettings]) -> Prepared:
    return replace(prepared, models=models)
