"""The result of an evaluation."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from seqlab.contracts import Scores, TextScores
    from seqlab.metrics.metric import Metric
    from seqlab.runs.results import ValidationBaseline


@dataclass(frozen=True)
class EvaluationResult:
    """How well a run does on held-out data; `metrics` are by key."""

    metrics: dict[str, float]
    scores: "Scores"
    split: str
    mode: str
    window: int | None  # tokens of a window; None where examples are scored
    headline_metric: "Metric"
    sentence: str  # the result in words
    baseline: "ValidationBaseline | None" = None
    signature: str | None = None  # how sacrebleu computed BLEU
    trained_share: float | None = None  # of other data, how much is in the training split; None if not compared
    trained_note: str = ""  # the same in words

    unknown_share: float | None = None  # of the tokens of examples; running text has its own in `scores`
    skipped_rows: int | None = None  # of other examples: those that could not be read
    by_lines: bool = False  # whether every line of a text starts with a fresh state, in any mode
    reading: tuple[str, ...] = ()  # how the data was read: the first example, and unknown tokens

    def __str__(self) -> str:
        return self.sentence

    @property
    def by_position(self) -> list[float]:
        """For running text: the mean loss at the first, second, ... position of a window."""
        scores = cast("TextScores", self.scores)
        return (scores.nats_by_position_T / scores.tokens_by_position_T).tolist()

    def as_dict(self) -> dict[str, Any]:
        content = {**self.metrics, "split": self.split, "mode": self.mode, "sentence": str(self)}
        content |= {"signature": self.signature} if self.signature else {}
        if self.trained_note:
            content |= {"trained_share": self.trained_share, "trained_note": self.trained_note}
        content |= {"reading": list(self.reading)}
        content |= {} if self.skipped_rows is None else {"skipped_rows": self.skipped_rows}
        if self.window is None:
            return content | ({} if self.unknown_share is None else {"unknown_share": self.unknown_share})
        scores = cast("TextScores", self.scores)
        unknown = scores.unknown_tokens
        content |= {
            "characters": scores.characters,
            "bytes": scores.bytes,
            "unknown_share": unknown / scores.tokens,
            "unknown_nats_per_token": scores.unknown_nats / unknown if unknown else None,
        }
        # a state that runs through the text has no windows
        return content | (
            {"window": self.window, "loss_by_position": self.by_position} if self.mode == "window" else {}
        )
