"""A run directory to a model that is ready to use."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from seqlab.config import RunSettings, resolve
from seqlab.contracts import Backbone
from seqlab.errors import DataError, UsageError
from seqlab.models.sizes import parameters, refuse_absurd, refuse_unfit
from seqlab.models.tokens import TokenModel
from seqlab.registry import BACKBONES, TASKS
from seqlab.runs import manifest, tensors
from seqlab.runs.checkpoint import put_weights, weights_of
from seqlab.runs.layout import TOKENIZER, WEIGHTS, RunDirectory, run_at
from seqlab.text.tokenizer import Tokenizer, load_tokenizer

BYTES_PER_WEIGHT = 4


@dataclass(frozen=True)
class Loaded:
    directory: RunDirectory
    config: dict[str, Any]
    settings: RunSettings
    tokenizer: Tokenizer
    model: TokenModel


def build_model(settings: RunSettings, vocabulary: int, weights: Path | None = None) -> TokenModel:
    """An untrained model, its weights drawn from the run's seed; none that a given file of weights could not fill."""
    refuse_unfit(settings)
    count = parameters(settings, vocabulary)
    if weights is not None and weights.is_file() and weights.stat().st_size < BYTES_PER_WEIGHT * count.total:
        raise DataError(f"'{weights}' does not fit the settings: it is too small to hold {count.total:,} weights.")
    refuse_absurd(settings, vocabulary)
    generator_state = torch.get_rng_state()
    torch.manual_seed(settings.train.seed)
    backbone: Backbone = BACKBONES.load(settings.backbone.name)(settings.backbone.settings, settings.model.embedding)
    model = TASKS.load(settings.task.name).Model(settings.model, backbone, vocabulary)
    torch.set_rng_state(generator_state)
    return model


def load_parts(path: Path) -> tuple[RunDirectory, dict[str, Any], RunSettings, Tokenizer]:
    """All of a run but its weights."""
    path = run_at(path)
    directory = RunDirectory(path)
    config = directory.config()
    try:
        settings = resolve(config["settings"])
    except (UsageError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"the settings in '{path / 'config.json'}' cannot be used: {error}") from None
    manifest.verified(path, TOKENIZER)
    return directory, config, settings, load_tokenizer(path / TOKENIZER)


def load_run(path: Path) -> Loaded:
    """The best weights of a run, in a model that is ready to use; everything is verified first."""
    directory, config, settings, tokenizer = load_parts(path)
    path = directory.path
    content = manifest.verified(path, WEIGHTS)
    model = build_model(settings, tokenizer.vocabulary, path / WEIGHTS)
    put_weights(model, tensors.from_bytes(content, path / WEIGHTS, weights_of(model)))
    return Loaded(directory, config, settings, tokenizer, model.eval())
