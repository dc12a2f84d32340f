"""Parameter counts in closed form, without torch: settings that cannot fit are refused before a model is built."""

import os
import sys

from seqlab.config import BackboneSettings, ModelSettings, Parameters, RunSettings, VocabSizes, number_bytes
from seqlab.errors import UsageError

MAX_VOCABULARY = 2**24
CHAR_FILTER = 3  # filter width of the convolutional character encoder
BYTES_WHEN_TRAINING = 16  # per parameter: weight, gradient and two moments in float32


def token_parameters(model: ModelSettings, backbone: BackboneSettings, vocab_size: int, symbols: int = 0) -> Parameters:
    """A model from ids to logits. A tied output has only its bias and a projection to the embedding's width.

    `symbols` counts ids beyond the vocabulary, which are read but never predicted."""
    rows = vocab_size + symbols
    core = backbone.core_parameters(model.embedding)
    output = backbone.width * model.embedding + rows if model.tie_embeddings else (backbone.width + 1) * vocab_size
    return Parameters(rows * model.embedding, core, output, backbone.position_parameters)


def logit_bytes(settings: RunSettings, vocab_size: int, smoothing: float = 0.0) -> int:
    """What the logits of one prediction take when the backward pass begins: log-probabilities, their gradient and that
    of the logits; with label smoothing one more, with a cap the capped ones; rounded copies in bf16. A tied output
    layer also reads a narrower vector."""
    model, n = settings.model, number_bytes(settings.train.precision)
    vectors = 12 + (4 if smoothing else 0) + (4 if model.logit_cap is not None else 0) + (n if n == 2 else 0)
    return vectors * vocab_size + (n * model.embedding if model.tie_embeddings else 0)


def parameters(settings: RunSettings, sizes: VocabSizes | int) -> Parameters:
    """The model that a run with these settings trains."""
    return settings.task.settings.parameters(settings, VocabSizes.of(sizes))


def refuse_unfit(settings: RunSettings) -> None:
    """UsageError if the architecture cannot do the task."""
    backbone, task, name = settings.backbone.settings, settings.task.settings, settings.backbone.name
    if backbone.causal and task.reads == "both sides":
        raise UsageError(
            f"{name} never sees what comes after a gap, so it cannot learn to fill one. "
            f"Use --arch transformer-encoder, or leave out --task {settings.task.name}."
        )
    if not backbone.causal and task.reads == "before":
        raise UsageError(
            f"a {name} that reads ahead sees the token that it should predict, so it cannot be a language model. "
            f"Use a causal one, or train it to fill gaps: --task masked."
        )
    task.refuse_unfit(settings)
    if settings.decoder and not settings.decoder.settings.causal:
        raise UsageError(
            f"a {settings.decoder.name} that reads in both directions cannot be the decoder: it would see words that "
            f"it should generate. It can be the encoder; leave out decoder.bidirectional, or choose another --decoder."
        )


def refuse_absurd(settings: RunSettings, sizes: VocabSizes | int) -> Parameters:
    """The parameter count; UsageError if this machine has not enough memory to train the model."""
    backbone = settings.backbone.settings
    vocab_size = VocabSizes.of(sizes).vocab_size
    if vocab_size > MAX_VOCABULARY:
        raise UsageError(f"a vocabulary of {vocab_size:,} symbols is beyond {MAX_VOCABULARY:,}: choose a smaller one.")
    count = parameters(settings, sizes)
    needed, available = count.total * BYTES_WHEN_TRAINING, machine_memory()
    if needed > available:
        raise UsageError(
            f"{count.total:,} parameters (backbone.hidden={backbone.hidden}, backbone.layers={backbone.layers}, "
            f"model.embedding={settings.model.embedding}, vocabulary {vocab_size:,}) take {in_units(needed)} to train; "
            f"this machine has {in_units(available)}. Make one of them smaller."
        )
    return count


def machine_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if sys.platform != "win32" else 2**36


def in_units(size: float) -> str:
    """12,345,678 to '11.8 MiB'."""
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1024
    raise AssertionError
