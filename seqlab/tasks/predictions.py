"""What a model says of a text: labels, tags or translations, each with how sure it is."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Prediction:
    """As JSON it is its fields."""

    text: str

    def as_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Label(Prediction):
    label: str
    probabilities: dict[str, float]  # the most probable first
    weights: list[tuple[str, float]] | None = None  # how much each token counted, where attention pools them


@dataclass(frozen=True)
class Tags(Prediction):
    words: list[str]
    tags: list[str]
    probabilities: list[float]  # of the chosen tag at each word


@dataclass(frozen=True)
class Translated(Prediction):
    translation: str
    score: float  # log-probability over the length to the power of alpha
    logprob: float
    others: list[tuple[str, float]]  # further translations and their scores, where they were asked for
    source_tokens: list[str] | None = None
    target_tokens: list[str] | None = None
    weights: list[list[float]] | None = None  # what each target token looked at, by source token
