"""A small task and a trainer around it, without the command line and the results."""

from pathlib import Path
from typing import Any

from seqlab.config import RunSettings, resolve
from seqlab.data.text.corpus import corpus_from_text
from seqlab.data.text.split import split_text
from seqlab.models.token_model import TokenModel
from seqlab.runs.directory import begin_run
from seqlab.runs.load import build_model
from seqlab.runs.reopen import make_task
from seqlab.tasks.dataset import TextDataset, text_dataset
from seqlab.tasks.text import TextTask
from seqlab.training.loop import Trainer
from seqlab.training.progress import Reporter

TEXT = "".join(
    f"the {noun} saw {n} of {place}.\n" for n in range(5) for noun in ("cat", "dog", "hen") for place in "abcd"
)


def run_settings(**train: Any) -> RunSettings:
    documents = train.pop("documents", "stream")
    task = {name: train.pop(name) for name in ("batch_size", "window", "batching") if name in train}
    return resolve(
        {
            "corpus": {"source": ["text"], "documents": documents},
            "backbone": {"name": "gru", "hidden": 12},
            "model": {"embedding": 6},
            "task": {"batch_size": 4, "window": 8, **task},
            "train": {"steps": 10, "threads": 1, **train},
        }
    )


def material_of(settings: RunSettings) -> TextDataset:
    split = split_text(corpus_from_text(TEXT, "text"), settings.corpus)
    return text_dataset(split, settings)


class Said(Reporter):
    def __init__(self) -> None:
        self.messages: list[str] = []

    def log(self, message: str) -> None:
        self.messages.append(message)


def task_and_model(settings: RunSettings) -> tuple[TextTask, TokenModel]:
    dataset = material_of(settings)
    return make_task(settings, dataset), build_model(settings, dataset.vocabulary.sizes)


def trainer_in(folder: Path, reporter: Reporter | None = None, **train: Any) -> Trainer:
    settings = run_settings(**train)
    task, model = task_and_model(settings)
    return Trainer(begin_run(folder / "run", False), settings.train, model, task, reporter or Reporter(), lambda _: "")
