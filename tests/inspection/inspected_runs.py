"""Models of a few hidden units, untrained: a view shows what a model computes, however good it is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from seqlab.config import RunSettings, build_settings, expand_short_names
from seqlab.data.examples.example import LabeledText, TaggedSentence, TextPair
from seqlab.errors import MissingInput
from seqlab.registry import BACKBONES, TASKS, TOKENIZERS
from seqlab.runs.load import build_model
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.vocabulary import Vocabulary

TEXT = 'The cat sat,\n"and the dog ran."\n'
LEARNED = 'The cat sat on the mat,\nThe dog said: "and I ran".\n' * 3


@dataclass
class UntrainedRun:
    """What views need of a run."""

    path: Path
    settings: RunSettings
    vocabulary: Vocabulary
    model: Any
    starts_untrained: bool = False

    def dataset(self) -> Any:
        raise MissingInput("this model was trained on nothing.")

    def untrained(self) -> Any:
        raise AssertionError("these models are never trained")

    @property
    def tokenizer(self) -> Tokenizer:
        return self.vocabulary.tokenizer


WORDS = ("The cat sat on the mat", "The dog said and I ran")
EXAMPLES: dict[str, list[Any]] = {
    "classify": [LabeledText(LEARNED, "cold"), LabeledText(LEARNED, "warm")],
    "tag": [TaggedSentence(tuple(line.split()), ("D", "N", "V", "P", "D", "N")) for line in WORDS],
    "translate": [TextPair(LEARNED, LEARNED.upper())],
}


def untrained(arch: str = "lstm", task: str | None = None, tokenizer: str | None = None, **short: Any) -> UntrainedRun:
    """Spread weights, so that no gate hides another. `short`: as in `seqlab.build`."""
    fields = BACKBONES.settings(arch).model_fields
    task = task or ("language" if BACKBONES.settings(arch)().causal else "masked")
    tokenizer = tokenizer or ("word" if task == "tag" else "char")
    sizes = {name: value for name, value in {"hidden": 8, "layers": 2}.items() if name in fields} | short
    both = ("backbone", "decoder") if TASKS.settings(task).decodes else ("backbone",)
    changes = [(f"{part}.{name}", value) for part in both for name, value in sizes.items() if name in fields]
    own = [name for name in TASKS.settings(task).model_fields if name in short and name not in fields]
    changes += [(f"task.{name}", short[name]) for name in own]
    others = {name: value for name, value in sizes.items() if name not in {*fields, *own}}
    if task == "translate":
        changes.append(("task.max_target_length", 9))  # an untrained model finds no end
    words = {"arch": arch, "task": task, "embedding": 6, "tokenizer": tokenizer, **others}
    settings = build_settings({"corpus": {"source": ["none"]}}, [*changes, *expand_short_names(words)])
    vocabulary = _vocabulary(settings)
    torch.default_generator.manual_seed(0)
    model = build_model(settings, vocabulary.sizes)
    for index, parameter in enumerate(model.parameters()):
        generator = torch.Generator().manual_seed(index)
        parameter.data = parameter.data + 0.3 * torch.randn(parameter.shape, generator=generator)
    return UntrainedRun(Path(f"runs/{arch}"), settings, vocabulary, model.eval())


def _vocabulary(settings: RunSettings) -> Vocabulary:
    task = TASKS.load(settings.task.name)
    if settings.task.name in EXAMPLES:
        return task.build_vocabulary(EXAMPLES[settings.task.name], settings)
    documents = settings.corpus.documents == "lines"
    return Vocabulary(TOKENIZERS.load(settings.tokenizer.name).train([LEARNED], settings.tokenizer.settings, documents))
