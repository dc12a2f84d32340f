"""Settings of the tasks on labeled examples, importable without torch, and their parameter counts."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from seqlab.backbones.attention_decoder_settings import AttentionDecoderSettings
from seqlab.config import (
    Activations,
    BackboneSettings,
    BatchShape,
    Parameters,
    RunSettings,
    TaskSettings,
    VocabSizes,
    number_bytes,
)
from seqlab.decode.limits import LONGEST_TARGET
from seqlab.errors import UsageError
from seqlab.models.parameter_count import CHAR_FILTER, logit_bytes


def _backbone_counts(settings: RunSettings, inputs: int) -> tuple[int, int, int]:
    """Width, core parameters and position parameters of the backbone."""
    backbone = settings.backbone.settings
    return backbone.width, backbone.core_parameters(inputs), backbone.position_parameters


LETTERS = 12  # of the longest word of a batch, when memory is estimated

# How long a translation may get, beyond the training pairs.
ROOM_FACTOR, ROOM = 1.5, 10

SENTENCE_DEFAULTS = {
    "tokenizer.name": "word",
    "train.sample_tokens": 0,
    "model.embedding_dropout": 0.3,
    "model.output_dropout": 0.3,
}


LONGEST_EXAMPLE = 65_536  # of an example that is trained on


class ExampleSettings(TaskSettings):
    """What all tasks on examples share."""

    reads = "everything"

    batch_size: int = Field(
        default=32, ge=1, le=65_536, description="examples per step, those of similar length together"
    )
    batch_tokens: int | None = Field(
        default=None, ge=1, le=2**24, description="tokens per step, padding included; replaces batch_size"
    )
    max_length: int = Field(
        default=512, ge=1, le=LONGEST_EXAMPLE, description="tokens of an example; longer ones are left out of training"
    )
    word_dropout: float = Field(default=0.0, ge=0, lt=1, description="share of tokens read as unknown while training")
    metric: str = Field(default="accuracy", description="accuracy, or a metric of your own: package.module:function")

    def vocabulary_files(self, tokenizer: str) -> tuple[str, ...]:
        return ("labels",)

    @property
    def sequence_length(self) -> int:
        return self.max_length

    @property
    def evaluation(self) -> str:
        return "every example once, whole"


class ClassifySettings(ExampleSettings):
    examples = "labeled"

    default_overrides: ClassVar[dict[str, Any]] = {**SENTENCE_DEFAULTS, "train.lr": 2e-3}

    pooling: Literal["last", "mean", "max", "attention"] = Field(
        default="max", description="how the vectors of a text are combined into one"
    )

    def parameters(self, settings: RunSettings, sizes: VocabSizes) -> Parameters:
        width, core, positions = _backbone_counts(settings, settings.model.embedding)
        weighing = width * (width + 2) if self.pooling == "attention" else 0
        embedding = sizes.vocab_size * settings.model.embedding
        return Parameters(embedding, core + weighing, (width + 1) * sizes.labels, positions)

    def activations(self, settings: RunSettings, sizes: VocabSizes, shape: BatchShape) -> Activations:
        """Pooling keeps a masked copy of the outputs, or the scores that weigh them."""
        pooled = 0 if self.pooling == "last" else 4 * settings.backbone.settings.width
        row = self.backbone_bytes(settings, settings.model.embedding, shape.length) + shape.length * pooled
        return Activations(shape.rows * row, 12 * shape.rows * sizes.labels)


class TagSettings(ExampleSettings):
    examples = "tagged"

    default_overrides: ClassVar[dict[str, Any]] = {**SENTENCE_DEFAULTS, "train.lr": 3e-3}

    metric: str = Field(
        default="auto",
        description="auto (entity_f1 for spans, else accuracy), or a metric of your own: package.module:function",
    )
    output_layer: Literal["softmax", "crf"] = Field(
        default="softmax", description="tags predicted independently, or as a chain (CRF)"
    )
    char_encoder: Literal["none", "convolution", "lstm"] = Field(
        default="convolution", description="encoder of a word's spelling, beside its embedding (word tokenizer only)"
    )
    char_embedding: int = Field(default=32, ge=1, le=4096, description="width of a character embedding")
    char_width: int = Field(default=64, ge=2, le=4096, description="width of the encoded spelling")
    word_dropout: float = Field(default=0.05, ge=0, lt=1, description="share of words read as unknown while training")

    def vocabulary_files(self, tokenizer: str) -> tuple[str, ...]:
        return ("labels", "characters") if self.spells(tokenizer) else ("labels",)

    def refuse_unfit(self, settings: RunSettings) -> None:
        if settings.tokenizer.settings.option("split", "words") != "words":
            raise UsageError("tokenizer.split=spaces does nothing for --task tag: the file separates the words.")

    @property
    def idle(self) -> Mapping[str, str]:
        keys = ("char_embedding", "char_width")
        return dict.fromkeys(keys, "task.char_encoder is none") if self.char_encoder == "none" else {}

    def spells(self, tokenizer: str) -> bool:
        """Whether words have their spelling beside them; tokens below words spell them already."""
        return tokenizer == "word" and self.char_encoder != "none"

    def parameters(self, settings: RunSettings, sizes: VocabSizes) -> Parameters:
        spells = self.spells(settings.tokenizer.name)
        inputs = settings.model.embedding + (self.char_width if spells else 0)
        width, core, positions = _backbone_counts(settings, inputs)
        embedding = sizes.vocab_size * settings.model.embedding
        embedding += sizes.characters * self.char_embedding if spells else 0
        chain = sizes.labels * (sizes.labels + 2) if self.output_layer == "crf" else 0
        spelling = self._spelling_parameters() if spells else 0
        return Parameters(embedding, core + spelling, (width + 1) * sizes.labels + chain, positions)

    def activations(self, settings: RunSettings, sizes: VocabSizes, shape: BatchShape) -> Activations:
        """With the spelling of every word, as if all were distinct; a CRF keeps the scores of all pairs of tags."""
        spells = self.spells(settings.tokenizer.name)
        inputs = settings.model.embedding + (self.char_width if spells else 0)
        words = shape.rows * shape.length
        core = shape.rows * self.backbone_bytes(settings, inputs, shape.length)
        core += 4 * words * LETTERS * (2 * self.char_embedding + 2 * self.char_width) if spells else 0
        pairs = 3 * sizes.labels if self.output_layer == "crf" else 0
        return Activations(core, 4 * words * sizes.labels * (3 + 2 * pairs))

    def _spelling_parameters(self) -> int:
        if self.char_encoder == "convolution":
            return self.char_width * (CHAR_FILTER * self.char_embedding + 1)
        half = self.char_width // 2
        return 2 * 4 * half * (self.char_embedding + half + 2)


class TranslateSettings(ExampleSettings):
    examples = "pairs"

    decodes: ClassVar[bool] = True
    default_overrides: ClassVar[dict[str, Any]] = {
        "tokenizer.name": "bpe",
        "train.lr": 2e-3,
        "train.sample_tokens": 0,
        "model.tie_embeddings": True,
        "model.embedding_dropout": 0.2,
        "model.output_dropout": 0.2,
    }

    shared_vocabulary: bool = Field(default=True, description="one vocabulary and one embedding for both sides")
    attention: Literal["none", "dot", "scaled", "additive"] = Field(
        default="additive", description="attention of a recurrent decoder to the source; none: only its summary"
    )
    attends: Literal["after", "before"] = Field(
        default="after", description="after the recurrence, all positions at once; or before it, from the last state"
    )
    label_smoothing: float = Field(default=0.1, ge=0, lt=1, description="label smoothing while training")
    forcing: Literal["teacher", "scheduled", "free"] = Field(
        default="teacher", description="what the decoder reads while training: true tokens, a mix, its own predictions"
    )
    decay: Literal["constant", "linear", "inverse-sigmoid"] = Field(
        default="inverse-sigmoid", description="how the probability of the true token falls (forcing=scheduled)"
    )
    teacher_ratio: float = Field(
        default=0.75, ge=0, le=1, description="probability of the true token: constant, or where linear decay ends"
    )
    decay_steps: int = Field(
        default=1000, ge=1, le=10**9, description="steps of the linear decay; of inverse-sigmoid, until one half"
    )
    beam: int = Field(default=5, ge=1, le=100, description="beam width when translating; 1 is greedy")
    length_penalty: float = Field(
        default=0.7, ge=0, le=10, description="exponent of the length normalization in beam search"
    )
    max_target_length: int | None = Field(
        default=None,
        ge=1,
        le=LONGEST_TARGET,
        description=f"tokens of a translation at most; unset: {ROOM_FACTOR} times the longest of training, plus {ROOM}",
    )
    max_target_ratio: float | None = Field(
        default=None,
        gt=0,
        le=LONGEST_TARGET,
        description=f"tokens of a translation per source token, plus {ROOM}; unset: {ROOM_FACTOR} times the most seen",
    )
    metric: str = Field(
        default="bleu", description="bleu, chrf, exact (equal to the reference), or your own package.module:function"
    )
    bleu_tokenizer: Literal["none", "13a", "char"] = Field(
        default="13a", description="tokenizer of sacrebleu; none: text that is tokenized already"
    )

    def vocabulary_files(self, tokenizer: str) -> tuple[str, ...]:
        return () if self.shared_vocabulary else ("target",)

    @property
    def idle(self) -> Mapping[str, str]:
        idle: dict[str, str] = {}
        if self.forcing != "scheduled":
            keys = ("decay", "decay_steps", "teacher_ratio")
            idle |= dict.fromkeys(keys, f"task.forcing is {self.forcing}, not scheduled")
        elif self.decay != "linear":  # which takes both
            idle["decay_steps" if self.decay == "constant" else "teacher_ratio"] = f"task.decay is {self.decay}"
        if self.beam == 1:
            idle["length_penalty"] = "task.beam is 1"
        if self.attention == "none":
            idle["attends"] = "task.attention is none"
        return idle

    @property
    def shares_vocabulary(self) -> bool:
        return self.shared_vocabulary

    @property
    def evaluation(self) -> str:
        search = f"a beam of {self.beam}, length exponent {self.length_penalty:g}" if self.beam > 1 else "greedily"
        return f"every example once, translated by {search}"

    @property
    def longest_target(self) -> int:
        """The tokens that any translation may have; unset only before training."""
        return self.max_target_length or self.max_length

    def target_limit(self, source_length: int) -> int:
        """The tokens that the translation of a source may have, its end token included."""
        if self.max_target_ratio is None:
            return self.longest_target
        return min(self.longest_target, math.ceil(self.max_target_ratio * source_length) + ROOM)

    def refuse_unfit(self, settings: RunSettings) -> None:
        assert settings.decoder is not None
        if settings.decoder.settings.cross_attends and self.attention == "none":
            raise UsageError("a transformer has nothing but attention: task.attention=none is for recurrent decoders.")

    @property
    def reader(self) -> AttentionDecoderSettings:
        return AttentionDecoderSettings(attention=self.attention, attends=self.attends)

    def parameters(self, settings: RunSettings, sizes: VocabSizes) -> Parameters:
        model = settings.model
        memory, core, positions = _backbone_counts(settings, model.embedding)
        assert settings.decoder is not None
        decoder = settings.decoder.settings
        if decoder.cross_attends:
            core += decoder.core_parameters(model.embedding) + decoder.cross_parameters(memory)
        else:
            core += self.reader.core_parameters(decoder, model.embedding, memory)
        positions += decoder.position_parameters
        embedding = (sizes.vocab_size + (0 if self.shared_vocabulary else sizes.target)) * model.embedding
        tied = decoder.width * model.embedding + sizes.target
        output = tied if model.tie_embeddings else (decoder.width + 1) * sizes.target
        return Parameters(embedding, core, output, positions)

    def activations(self, settings: RunSettings, sizes: VocabSizes, shape: BatchShape) -> Activations:
        """The encoder reads sources of `length`, the decoder writes targets of `target` tokens."""
        model, precision = settings.model, settings.train.precision
        assert settings.decoder is not None
        decoder, memory = settings.decoder.settings, settings.backbone.settings.width
        row = self.backbone_bytes(settings, model.embedding, shape.length)
        if decoder.cross_attends:
            row += decoder.activation_bytes(model.embedding, shape.target, precision)
            row += decoder.cross_activation_bytes(shape.target, shape.length, memory, precision)
        else:
            row += self.reader.activation_bytes(decoder, model.embedding, memory, shape, precision)
        row -= self._recomputed_bytes(decoder, settings, shape) if settings.train.recompute else 0
        row += shape.target * (number_bytes(precision) * decoder.width + 8)
        logits = logit_bytes(settings, sizes.target, self.label_smoothing)
        return Activations(shape.rows * row, shape.rows * shape.target * logits)

    def _recomputed_bytes(self, decoder: BackboneSettings, settings: RunSettings, shape: BatchShape) -> int:
        """Of the decoder, for one target; one that attends before each step goes step by step, and keeps it all."""
        inputs, precision = settings.model.embedding, settings.train.precision
        if decoder.cross_attends:
            crossing = decoder.cross_recomputed_bytes(shape.target, shape.length, precision)
            return decoder.recomputed_bytes(inputs, shape.target, precision) + crossing
        return 0 if self.reader.reads_first else decoder.recomputed_bytes(inputs, shape.target, precision)
