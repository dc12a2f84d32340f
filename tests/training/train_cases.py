"""A small task and a trainer around it, without the command line and the results."""

from pathlib import Path
from typing import Any

from seqlab.config import RunSettings, resolve
from seqlab.data.corpus import from_text
from seqlab.data.splits import split_text
from seqlab.models.tokens import TokenModel
from seqlab.runs.layout import begin_run
from seqlab.runs.load import build_model
from seqlab.tasks.material import TextMaterial, learn_tokenizer, text_material
from seqlab.tasks.text import TextTask
from seqlab.text.lexicon import Lexicon
from seqlab.training.loop import Trainer
from seqlab.training.prepare import make_task
from seqlab.training.progress import Reporter, Silent

TEXT = "".join(
    f"the {noun} saw {n} of {place}.\n" for n in range(5) for noun in ("cat", "dog", "hen") for place in "abcd"
)


def run_settings(**train: Any) -> RunSettings:
    documents = train.pop("documents", "stream")
    task = {name: train.pop(name) for name in ("batch", "window", "batching") if name in train}
    return resolve(
        {
            "corpus": {"source": ["text"], "documents": documents},
            "backbone": {"name": "gru", "hidden": 12},
            "model": {"embedding": 6},
            "task": {"batch": 4, "window": 8, **task},
            "train": {"steps": 10, "threads": 1, **train},
        }
    )


def material_of(settings: RunSettings) -> TextMaterial:
    split = split_text(from_text(TEXT, "text"), settings.corpus)
    return text_material(split, Lexicon(learn_tokenizer(split, settings)))


def task_and_model(settings: RunSettings) -> tuple[TextTask, TokenModel]:
    material = material_of(settings)
    return make_task(settings, material), build_model(settings, material.lexicon.sizes)


def trainer_in(folder: Path, reporter: Reporter | None = None, **train: Any) -> Trainer:
    settings = run_settings(**train)
    task, model = task_and_model(settings)
    return Trainer(begin_run(folder / "run", False), settings.train, model, task, reporter or Silent(), lambda: "")
