"""Models of a few hidden units, untrained: a view shows what a model computes, however good it is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from seqlab.config import RunSettings, VocabSizes, build_settings, expand_short_names
from seqlab.registry import BACKBONES, TOKENIZERS
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

    def untrained(self) -> Any:
        raise AssertionError("these models are never trained")

    @property
    def tokenizer(self) -> Tokenizer:
        return self.vocabulary.tokenizer


def untrained(arch: str = "lstm", task: str | None = None, tokenizer: str = "char", **short: Any) -> UntrainedRun:
    """Spread weights, so that no gate hides another. `short`: as in `seqlab.build`."""
    fields = BACKBONES.settings(arch).model_fields
    task = task or ("language" if BACKBONES.settings(arch)().causal else "masked")
    sizes = {name: value for name, value in {"hidden": 8, "layers": 2}.items() if name in fields} | short
    changes = [(f"backbone.{name}", value) for name, value in sizes.items() if name in fields]
    others = {name: value for name, value in sizes.items() if name not in fields}
    words = {"arch": arch, "task": task, "embedding": 6, **({"tokenizer": tokenizer} if tokenizer else {}), **others}
    settings = build_settings({"corpus": {"source": ["none"]}}, [*changes, *expand_short_names(words)])
    trained = TOKENIZERS.load(tokenizer).train(
        [LEARNED], settings.tokenizer.settings, others.get("documents") == "lines"
    )
    torch.default_generator.manual_seed(0)
    model = build_model(settings, VocabSizes(trained.vocab_size, target=trained.vocab_size, characters=9, labels=2))
    for index, parameter in enumerate(model.parameters()):
        generator = torch.Generator().manual_seed(index)
        parameter.data = parameter.data + 0.3 * torch.randn(parameter.shape, generator=generator)
    return UntrainedRun(Path(f"runs/{arch}"), settings, Vocabulary(trained, labels=("cold", "warm")), model.eval())
