"""The data that all entrants share: its parts, its symbols, and sizes of batches that fit it."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from seqlab.comparison.settings import Asked
from seqlab.config import RunSettings
from seqlab.data.corpus import open_corpus
from seqlab.data.encoded import ExamplePart
from seqlab.registry import TASKS
from seqlab.runs.load import build_model
from seqlab.runs.storage import storage_errors
from seqlab.tasks.material import Material
from seqlab.tasks.task import Task
from seqlab.training.prepare import check_trainable, make_task, taught_symbols
from seqlab.training.progress import Reporter

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Prepared:
    models: dict[str, RunSettings]
    material: Material

    def task(self, settings: RunSettings) -> Task:
        return make_task(settings, self.material)

    def model(self, settings: RunSettings) -> Any:
        return build_model(settings, self.material.lexicon.sizes)

    def tokens(self, part: str) -> int:
        """What a part has to be read, targets included."""
        found = self.material.parts[part]
        return int(found.lengths_N.sum()) if isinstance(found, ExamplePart) else len(found)

    def length(self, settings: RunSettings) -> int:
        """Tokens of a sequence: of a window, or of an example on average."""
        train, own = self.material.parts["train"], settings.task.settings
        if isinstance(train, ExamplePart):
            return max(1, round(train.tokens / len(train)))
        return own.window  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def decides(self) -> str:
        """The part on which verdicts are given: the test part where there is one."""
        return "test" if "test" in self.material.parts else "validation"


def prepare(asked: Asked, directory: Path, reporter: Reporter) -> Prepared:
    """Standard input is kept in the comparison, so that its runs can read it and the same command goes on."""
    models = asked.models
    one = next(iter(models.values()))
    kept = directory / "corpus.txt"
    if STANDARD_INPUT in one.corpus.source:
        if not kept.is_file():
            corpus = open_corpus(one.corpus.source)
            assert corpus.kept is not None
            with storage_errors(kept, corpus.kept.stat().st_size):
                shutil.move(corpus.kept, kept)
        models = {name: model.with_values(**{"corpus.source": [str(kept)]}) for name, model in models.items()}
        one = next(iter(models.values()))
    check_trainable(one)
    task = TASKS.load(one.task.name)
    material = task.open(one, reporter.say, taught_symbols(one))
    sizes = task.fitted(one, material, reporter.say).resolved()["task"]
    fit = {f"task.{key}": sizes[key] for key in ("window", "batch") if key in sizes}
    return Prepared({name: model.with_values(**fit) for name, model in models.items()}, material)


def with_models(prepared: Prepared, models: dict[str, RunSettings]) -> Prepared:
    return replace(prepared, models=models)
