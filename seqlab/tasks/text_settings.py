"""Settings of the tasks on running text, importable without torch."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from seqlab.config import Activations, BatchShape, Parameters, RunSettings, TaskSettings, VocabSizes
from seqlab.errors import UsageError
from seqlab.models.parameter_count import logit_bytes, token_parameters


class TextSettings(TaskSettings):
    symbols: ClassVar[int]  # input ids beyond the vocabulary, such as the mask
    scored: ClassVar[str] = "every token once"

    batching: Literal["windows", "stream"] = Field(
        default="windows", description="random windows, or contiguous rows whose state is carried from step to step"
    )
    window: int = Field(default=128, ge=1, le=65_536, description="tokens per sequence")
    train_window: int | None = Field(
        default=None,
        ge=1,
        le=65_536,
        description="tokens per sequence in training, if other than those that are scored",
    )

    @model_validator(mode="after")
    def _is_not_longer(self) -> Self:
        if self.train_window is not None and self.train_window > self.window:
            raise ValueError(
                f"train_window is {self.train_window}, more than the window of {self.window} that is scored"
            )
        return self

    def refuse_untrainable(self, settings: RunSettings) -> None:
        backbone = settings.backbone.settings
        context = backbone.option("context", None)
        if backbone.position_parameters and context is not None and context < self.window:
            raise UsageError(
                f"the learned positions of {settings.backbone.name} end at {context} (backbone.context), and "
                f"task.window is {self.window}: give --window {context}. A model that starts from no other may have "
                f"more positions instead."
            )

    @property
    def trained_window(self) -> int:
        """Never longer than the window, which a short text makes smaller."""
        return min(self.train_window or self.window, self.window)

    @property
    def sequence_length(self) -> int:
        return self.window

    @property
    def batch_shape(self) -> BatchShape:
        return self.shape_within(self.trained_window, self.trained_window)

    @property
    def carries(self) -> bool:
        """Whether held-out text is scored with the state carried through it, unless asked otherwise."""
        return self.option("mode", "window") == "carry"

    @property
    def evaluation(self) -> str:
        if self.carries:
            return f"the state carried through the whole text, {self.scored}"
        return f"windows of {self.window} laid end to end, fresh state, {self.scored}"

    @property
    def evaluation_by_lines(self) -> str:
        longer = "" if self.carries else f", a longer one in windows of {self.window}"
        return f"each line by itself from a fresh state{longer}, {self.scored}"

    def parameters(self, settings: RunSettings, sizes: VocabSizes) -> Parameters:
        return token_parameters(settings.model, settings.backbone.settings, sizes.vocab_size, self.symbols)

    def activations(self, settings: RunSettings, sizes: VocabSizes, shape: BatchShape) -> Activations:
        core = shape.rows * self.backbone_bytes(settings, settings.model.embedding, shape.length)
        predictions = shape.rows * shape.length
        return Activations(core, predictions * logit_bytes(settings, sizes.vocab_size + self.symbols))


class LanguageSettings(TextSettings):
    reads = "before"
    symbols = 0

    mode: Literal["window", "carry"] = Field(
        default="window",
        description="how held-out text is scored: windows from a fresh state, or the state carried through it",
    )
    teacher: str | None = Field(
        default=None, description="a run to distill: its vocabulary and its predicted distributions are used"
    )
    teacher_weight: float = Field(
        default=0.5, ge=0, le=1, description="weight of the teacher's distribution in the loss"
    )
    temperature: float = Field(default=1.0, gt=0, le=100, description="softmax temperature of teacher and student")
    mix: Literal["none", "counts"] = Field(
        default="none", description="predict together with the n-gram counts of the training text"
    )
    mix_size: float = Field(default=64.0, ge=0.01, le=4096, description="most megabytes of the counts")

    @model_validator(mode="after")
    def _windows_are_fresh(self) -> Self:
        if self.teacher is not None and self.batching == "stream":
            raise ValueError("a teacher needs task.batching=windows: it starts every window with a fresh state")
        return self


class MaskedSettings(TextSettings):
    reads = "both sides"
    symbols = 1
    scored = "every token masked once and predicted from both sides"

    predicted_share: float = Field(default=0.15, gt=0, lt=1, description="share of the tokens to predict")
    masked_share: float = Field(default=0.8, ge=0, le=1, description="of these, the share replaced by the mask symbol")
    random_share: float = Field(
        default=0.1, ge=0, le=1, description="of these, the share replaced by a random token; the rest stays"
    )

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        if self.masked_share + self.random_share > 1:
            raise ValueError(
                f"masked_share ({self.masked_share}) and random_share ({self.random_share}) must add up to at most 1"
            )
        return self
