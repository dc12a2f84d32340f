"""Settings of the tasks on a running text, importable without torch."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from seqlab.config import Parameters, RunSettings, TaskSettings, VocabSizes
from seqlab.models.parameter_count import token_parameters


class TextSettings(TaskSettings):
    symbols: ClassVar[int]  # ids that a model reads beyond the vocabulary

    batching: Literal["windows", "stream"] = Field(
        default="windows", description="random windows, or contiguous rows, their state carried where there is one"
    )
    window: int = Field(default=128, ge=1, le=65_536, description="tokens per sequence")

    @property
    def sequence_length(self) -> int:
        return self.window

    @property
    def evaluation(self) -> str:
        return f"windows of {self.window} laid end to end, fresh state, every token once"

    def parameters(self, settings: RunSettings, sizes: VocabSizes) -> Parameters:
        return token_parameters(settings.model, settings.backbone.settings, sizes.vocab_size, self.symbols)


class LanguageSettings(TextSettings):
    reads = "before"
    symbols = 0

    teacher: str | None = Field(default=None, description="a run whose symbols and whose doubts are learnt")
    teacher_weight: float = Field(default=0.5, ge=0, le=1, description="share of the loss that is the teacher's")
    temperature: float = Field(default=1.0, gt=0, le=100, description="of teacher and student in that share")

    @model_validator(mode="after")
    def _windows_are_fresh(self) -> Self:
        if self.teacher is not None and self.batching == "stream":
            raise ValueError("a teacher reads every window anew: it cannot be asked about a stream's carried state")
        return self


class MaskedSettings(TextSettings):
    reads = "both sides"
    symbols = 1

    predicted_share: float = Field(default=0.15, gt=0, lt=1, description="of the tokens that are to be predicted")
    masked_share: float = Field(default=0.8, ge=0, le=1, description="of these, the share shown as the mask symbol")
    random_share: float = Field(
        default=0.1, ge=0, le=1, description="and the share shown as a random token; others stay"
    )

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        if self.masked_share + self.random_share > 1:
            raise ValueError(f"masked ({self.masked_share}) and replaced ({self.random_share}) are shares of one whole")
        return self
