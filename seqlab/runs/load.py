"""From a run directory to a model that is ready to use."""

import shlex
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from seqlab.config import RunSettings, VocabSizes, resolve
from seqlab.errors import DataError, MissingInput, SeqlabError, SeqlabWarning, UsageError
from seqlab.mixing.mixture import MIXTURE_FILE, Mixture
from seqlab.models.int8 import from_int8, to_int8
from seqlab.models.parameter_count import parameters, refuse_absurd, refuse_unfit
from seqlab.registry import TASKS, with_plugins
from seqlab.runs import manifest, tensors
from seqlab.runs.checkpoint import checkpoints, load_weights, read_progress, weights_of
from seqlab.runs.directory import LABELS, TOKENIZER, WEIGHTS, RunDirectory, best_run_path
from seqlab.runs.results import read_results
from seqlab.runs.run import Run
from seqlab.storage import JSON_LIMIT, from_json
from seqlab.threads import own_generator
from seqlab.tokenization.tokenizer import Tokenizer, load_tokenizer
from seqlab.tokenization.vocabulary import Vocabulary

BYTES_PER_WEIGHT = {"float32": 4, "int8": 1}


def build_model(settings: RunSettings, sizes: VocabSizes | int, weights: Path | None = None) -> Any:
    """An untrained model, initialized from the run's seed.

    `weights` is the file that will be loaded into it: one that is too small is refused before memory is allocated."""
    refuse_unfit(settings)
    count = parameters(settings, sizes)
    least = BYTES_PER_WEIGHT[settings.model.precision] * count.total
    if weights is not None and weights.is_file() and weights.stat().st_size < least:
        raise DataError(f"'{weights}' does not fit the settings: it is too small to hold {count.total:,} weights.")
    refuse_absurd(settings, sizes)
    with own_generator():
        generator_state = torch.get_rng_state()
        torch.manual_seed(settings.train.seed)
        model = TASKS.load(settings.task.name).build(settings, VocabSizes.of(sizes))
        torch.set_rng_state(generator_state)
    return model


def load_parts(path: Path) -> tuple[RunDirectory, dict[str, Any], RunSettings, Vocabulary]:
    """Everything of a run except its weights."""
    path = best_run_path(path)
    directory = RunDirectory(path)
    config = directory.config()
    try:
        settings = resolve(config["settings"])
    except (UsageError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"the settings in '{path / 'config.json'}' cannot be used: {error}") from None
    return directory, config, settings, load_vocabulary(path, settings)


def load_vocabulary(path: Path, settings: RunSettings) -> Vocabulary:
    """The tokenizers and labels of a run; every file is verified first."""

    def tokenizer(name: str) -> Tokenizer:
        manifest.read_verified(path, name)
        return load_tokenizer(path / name)

    text, task = tokenizer(TOKENIZER), settings.task.settings
    files = task.vocabulary_files(settings.tokenizer.name)
    target = text if task.shares_vocabulary else tokenizer("target.json") if "target" in files else None
    characters = tokenizer("characters.json") if "characters" in files else None
    return Vocabulary(text, target, characters, _labels(path) if "labels" in files else ())


def _labels(path: Path) -> tuple[str, ...]:
    labels = from_json(manifest.read_verified(path, LABELS, JSON_LIMIT), path / LABELS).get("labels")
    valid = isinstance(labels, list) and all(isinstance(label, str) for label in labels)
    if not valid or not labels or len(set(labels)) < len(labels):
        raise DataError(f"'{path / LABELS}' is not a list of distinct labels. Was it edited by hand?")
    return tuple(labels)


def load_run(path: Path) -> Run:
    """Load the best weights of a run into a model that is ready to use; every file is verified first."""
    directory, config, settings, vocabulary = load_parts(path)
    path = directory.path
    if not (path / WEIGHTS).exists() and read_results(directory) is None and checkpoints(directory.checkpoints):
        command = with_plugins(f"seqlab resume {shlex.quote(str(path))}")
        raise MissingInput(f"'{path}' has no evaluated weights yet: training stopped before. Continue it: {command}")
    content = manifest.read_verified(path, WEIGHTS)
    model = build_model(settings, vocabulary.sizes, path / WEIGHTS)
    weights = _weights(content, path / WEIGHTS, weights_of(model), settings.model.precision)
    _require_finite(weights, path / WEIGHTS)
    load_weights(model, weights)
    if settings.task.settings.option("mix", "none") != "none":
        model.mixture = _mixture(directory, model.vocab_size)
    return Run(directory, config, settings, vocabulary, model.eval())


def _mixture(directory: RunDirectory, vocab_size: int) -> Mixture | None:
    """The counts of a run; None while it is not finished."""
    path = directory.path / MIXTURE_FILE
    if not path.exists() and read_results(directory) is None:
        return None
    content = manifest.read_verified(directory.path, MIXTURE_FILE)
    mixture = Mixture.from_tensors(tensors.from_bytes(content, path, Mixture.stored_tensors()), path)
    if mixture.table.vocab_size != vocab_size:
        raise DataError(f"'{path}' has counts of {mixture.table.vocab_size:,} tokens, and the model {vocab_size:,}.")
    return mixture


def load_for_use(path: Path) -> Run:
    """`load_run`, with a warning if the run was stopped or is being trained: its weights are only the best so far."""
    run = load_run(path)
    newest = checkpoints(run.directory.checkpoints)[-1:]
    with suppress(SeqlabError):  # a damaged checkpoint: what is used now does not need it
        progress = read_progress(newest[0]) if newest else {"finished": True}
        if not progress.get("finished"):
            command = with_plugins(f"seqlab resume {shlex.quote(str(run.path))}")
            note = (
                f"'{run.path}' is not finished (step {progress['step']:,} of {run.settings.train.steps:,}): "
                f"these are its best weights so far. Continue training: {command}"
            )
            warnings.warn(note, SeqlabWarning, stacklevel=3)
    return run


def _require_finite(weights: dict[str, Tensor], path: Path) -> None:
    for name, tensor in weights.items():
        finite = torch.isfinite(tensor)
        if not finite.all():
            raise DataError(
                f"'{path}' cannot be used: {int((~finite).sum()):,} of the {tensor.numel():,} weights in '{name}' are "
                f"not finite (NaN or infinity). Train the model again, with a lower learning rate."
            )


def _weights(content: bytes, path: Path, expected: dict[str, Tensor], precision: str) -> dict[str, Tensor]:
    if precision == "float32":
        return tensors.from_bytes(content, path, expected)
    return from_int8(tensors.from_bytes(content, path, to_int8(expected)))
