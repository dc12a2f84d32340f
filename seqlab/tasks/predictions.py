"""Predictions for a text: a label, tags or a translation, with their probabilities, and how a terminal shows them."""

import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

Segment = tuple[str, str]  # text, and its style in the words of rich: "bold", "dim cyan" or ""
Line = list[Segment]
MOST_LABELS = 5  # shown with their probability
BAR = 20  # characters of a bar for a probability of 1
COLORS = ("cyan", "magenta", "green", "yellow", "blue", "red", "bright_cyan", "bright_magenta", "bright_green")
SHADES = " ░▒▓█"


@dataclass(frozen=True)
class Attention:
    """The weight of every source token for every output token."""

    weights_TS: list[list[float]]
    source_tokens: list[str]
    target_tokens: list[str]


@dataclass(frozen=True)
class Prediction:
    """What every task predicts for a text; its fields are its JSON."""

    text: str

    def as_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value is not None}

    def lines(self, width: int) -> list[Line]:
        """The prediction as lines for a terminal that is `width` characters wide; here, all of its fields."""
        return [[(f"{key}: {value}", "")] for key, value in self.as_dict().items()]

    @property
    def has_attention(self) -> bool:
        """Whether it has the weights of an attention layer."""
        return "weights" in self.as_dict()

    @property
    def alignment(self) -> Attention | None:
        """Attention over a source, to be drawn as a heatmap."""
        return None


@dataclass(frozen=True)
class LabelPrediction(Prediction):
    label: str
    probabilities: dict[str, float]  # the most probable first
    weights: list[tuple[str, float]] | None = None  # of each token, if pooling uses attention

    def lines(self, width: int) -> list[Line]:
        lines: list[Line] = [[(self.text, "")]]
        for label, probability in list(self.probabilities.items())[:MOST_LABELS]:
            bar = "█" * round(BAR * probability)
            lines.append([(f"  {label:<20} {probability:6.1%}  {bar}", "bold" if label == self.label else "")])
        if self.weights:
            most = max(weight for _, weight in self.weights)
            styles = ["bold" if w > most / 2 else "dim" if w < most / 8 else "" for _, w in self.weights]
            tokens = [(f"{token} ", style) for (token, _), style in zip(self.weights, styles, strict=True)]
            lines.append([("  attention  ", ""), *tokens])
        return [*lines, []]


@dataclass(frozen=True)
class TagPrediction(Prediction):
    words: list[str]
    tags: list[str]
    probabilities: list[float]  # of the predicted tag of each word

    def lines(self, width: int) -> list[Line]:
        """Words, and each tag below its word, in as many pairs of lines as needed."""
        lines: list[Line] = []
        above: Line = []
        below: Line = []
        used = 0
        for word, tag in zip(self.words, self.tags, strict=True):
            wide = max(len(word), len(tag)) + 2
            if above and used + wide > width:
                lines += [above, below]
                above, below, used = [], [], 0
            style = "" if tag == "O" else _color(tag)
            above.append((word.ljust(wide), style))
            below.append((("" if tag == "O" else tag).ljust(wide), f"dim {style}".strip()))
            used += wide
        return [*lines, above, below, []]


@dataclass(frozen=True)
class Translation(Prediction):
    translation: str
    score: float  # log-probability divided by length to the power of the length penalty
    logprob: float
    others: list[tuple[str, float]]  # further translations and their scores
    truncated: bool = False  # reached the longest allowed length before its end
    source_tokens: list[str] | None = None
    target_tokens: list[str] | None = None
    weights: list[list[float]] | None = None  # attention of each target token, by source token

    @property
    def alignment(self) -> Attention | None:
        if self.weights is None or self.source_tokens is None or self.target_tokens is None:
            return None
        return Attention(self.weights, self.source_tokens, self.target_tokens)

    def lines(self, width: int) -> list[Line]:
        cut: Line = [("  cut off: it reached the longest allowed length", "yellow")] if self.truncated else []
        lines: list[Line] = [[(self.text, "dim")], [(f"{self.translation}  ({self.score:.2f})", ""), *cut]]
        lines += [[(f"{text}  ({score:.2f})", "")] for text, score in self.others]
        if (attention := self.alignment) is not None:
            heat = heatmap(attention.weights_TS, attention.target_tokens, attention.source_tokens)
            lines += [[(line, "")] for line in heat]
        return [*lines, []]


def _color(tag: str) -> str:
    """The same color for the same type of tag in every run."""
    return COLORS[zlib.crc32(tag.split("-", 1)[-1].encode()) % len(COLORS)]


def heatmap(weights_TS: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Weights as shades: an output token in each row, a numbered source token in each column."""
    side = max(map(len, rows))
    lines = [" " * side + "".join(f"{number:>3}" for number in range(1, len(columns) + 1))]
    for row, weights_S in zip(rows, weights_TS, strict=True):
        cells = "".join(" " + 2 * SHADES[min(len(SHADES) - 1, int(weight * len(SHADES)))] for weight in weights_S)
        lines.append(row.rjust(side) + cells)
    legend = "  ".join(f"{number} {token}" for number, token in enumerate(columns, 1))
    return [*lines, f"{' ' * side} {legend}"]
