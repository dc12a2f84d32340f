"""surprise: the bits that each token of a text costs a model, and what the model expected instead.

A token that the model gives probability p costs -log2 p bits. Two runs are compared where both have a token boundary.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading, counted, require_predictions, run_labels
from seqlab.inspection.shades import level, signed_level
from seqlab.inspection.sheet import Chart, Detail, Sheet, TextTable, TokenColumn
from seqlab.plotting import COLORS, from_zero, light_grid

FULL = 10.0  # bits that have the strongest color: a probability of 1/1024
FULL_DIFFERENCE = 5.0  # bits
LIKELIEST = 10  # tokens that are shown beside the one that came
FOUND = 5  # tokens in the table of the most surprising ones


@dataclass(frozen=True)
class Expected:
    """What one run makes of a piece of the text; `bits` is None where nothing was predicted."""

    bits: float | None
    likeliest: list[tuple[str, float]]


@dataclass(frozen=True)
class Piece:
    """A token, or, where two runs have other tokens, the shortest text that ends at a boundary of both."""

    text: str
    expected: list[Expected]  # of each run
    answer: str = ""  # what is predicted, where it is something else than the text

    @property
    def bits(self) -> list[float]:
        """Of each run; empty where one of them predicts nothing."""
        known = [each.bits for each in self.expected if each.bits is not None]
        return known if len(known) == len(self.expected) else []

    @property
    def lead(self) -> float:
        """The bits of one run, or how many more the first of two needs."""
        return 0.0 if not self.bits else self.bits[0] if len(self.bits) == 1 else self.bits[0] - self.bits[1]

    @property
    def shade(self) -> int:
        return level(self.lead / FULL) if len(self.expected) == 1 else signed_level(self.lead / FULL_DIFFERENCE)


def surprise(readings: Sequence[Reading]) -> Sheet:
    """The text colored by bits per token, the likeliest tokens in each place, and the mean by position."""
    if len(readings) > 2:
        raise UsageError(f"the view surprise sets two runs side by side: {len(readings)} were given.")
    for reading in readings:
        require_predictions(reading)
    _refuse_unfit(readings)
    labels = run_labels(readings)
    pieces = _merge([_pieces(reading) for reading in readings], [reading.ends for reading in readings])
    rows = by_position(pieces)
    means = [_mean(pieces, run) for run in range(len(labels))]
    unit = readings[0].answer if len(labels) == 1 else "piece of the text"
    lane = readings[0].answer_lane
    needs = " and ".join(f"{label} needs {mean:.2f} bits" for label, mean in zip(labels, means, strict=True))
    predicted = sum(bool(piece.bits) for piece in pieces)
    if not predicted:
        raise UsageError("no piece of the text is predicted by both runs: give a longer text.")
    in_words = "; ".join(f"{where}: {', '.join(f'{mean:.2f}' for mean in row)}" for where, row in rows)
    return Sheet(
        "surprise",
        f"{needs} per {unit}, over {predicted:,} of them{readings[0].whose}.{_unknown(readings, labels)}",
        {"runs": labels, "bits_per_token": means, "pieces": [_as_dict(piece) for piece in pieces]},
        _legend(labels),
        [lane] if lane else [],
        [_column(piece, labels, bool(lane)) for piece in pieces],
        blocks=[
            _most_surprising(pieces, labels, readings[0].answer),
            TextTable(
                "mean bits by position", [["position", *labels], *([w, *(f"{m:.2f}" for m in row)] for w, row in rows)]
            ),
        ],
        charts=[
            Chart(lambda axes: _draw(axes, rows, labels), f"Mean bits by position, {', '.join(labels)}: {in_words}")
        ],
    )


def _refuse_unfit(readings: Sequence[Reading]) -> None:
    for reading in readings:
        if len(reading.places) == 1 and reading.answer == "label":
            raise UsageError(
                f"'{reading.run.path}' gives one label to the whole text: surprise is about predicted tokens."
            )
        if len(readings) > 1 and reading.own_answers:
            raise UsageError(
                f"each run would be scored by its own {reading.answer}s: give {reading.target_means} with --target."
            )
    if len({reading.answer for reading in readings}) > 1:
        raise UsageError("the runs predict different things, so their bits cannot be compared.")


def by_position(pieces: Sequence[Piece]) -> list[tuple[str, list[float]]]:
    """The mean bits of each run at positions 1, 2-3, 4-7, 8-15, ..., counted from 1."""
    rows, first = [], 1
    while first <= len(pieces):
        some = pieces[first - 1 : 2 * first - 1]
        means = [_mean(some, run) for run in range(len(pieces[0].expected))]
        if not any(map(math.isnan, means)):
            rows.append((f"{first}-{first + len(some) - 1}" if len(some) > 1 else str(first), means))
        first *= 2
    return rows


# --- the pieces of a text -------------------------------------------------------------------------------------------


def _pieces(reading: Reading) -> list[Piece]:
    places = zip(reading.places, reading.answers, reading.logprobs(), strict=True)
    names = reading.answer_name if reading.answer_lane else lambda _: ""
    return [Piece(text, [_expected(reading, logprobs_V, answer)], names(answer)) for text, answer, logprobs_V in places]


def _expected(reading: Reading, logprobs_V: Tensor, answer: int) -> Expected:
    if logprobs_V.isnan().any():
        return Expected(None, [])
    best = logprobs_V.topk(min(LIKELIEST, len(logprobs_V)))
    likeliest = [(reading.answer_name(int(k)), math.exp(p)) for p, k in zip(best.values, best.indices, strict=True)]
    return Expected(-float(logprobs_V[answer]) / math.log(2), likeliest)


def _merge(pieces: list[list[Piece]], ends: list[list[int]]) -> list[Piece]:
    """The pieces of all runs between the boundaries that all of them have."""
    if len(pieces) == 1:
        return pieces[0]
    if ends[0][-1] != ends[1][-1]:
        raise UsageError("one of the runs does not know some of the text, so the two cannot be compared on it.")
    common = set(ends[0]) & set(ends[1]) - {0}
    first, second = (_join(some, at, common) for some, at in zip(pieces, ends, strict=True))
    return [Piece(a.text, [*a.expected, *b.expected], a.answer) for a, b in zip(first, second, strict=True)]


def _join(pieces: list[Piece], ends: list[int], common: set[int]) -> list[Piece]:
    """The pieces up to each of these boundaries as one: the bits of all, and what was expected at first."""
    joined: list[Piece] = []
    some: list[Piece] = []
    for piece, end in zip(pieces, ends, strict=True):
        some.append(piece)
        if end in common:
            bits = [each.expected[0].bits for each in some if each.text != "<begin>"]
            whole = None if None in bits else sum(bit or 0.0 for bit in bits)
            likeliest = next((each.expected[0].likeliest for each in some if each.expected[0].likeliest), [])
            answer = " ".join(each.answer for each in some if each.answer)
            joined.append(Piece("".join(each.text for each in some), [Expected(whole, likeliest)], answer))
            some = []
    return joined


def _mean(pieces: Sequence[Piece], run: int) -> float:
    known = [piece.bits[run] for piece in pieces if piece.bits]
    return sum(known) / len(known) if known else math.nan


# --- what is shown --------------------------------------------------------------------------------------------------


def _legend(labels: Sequence[str]) -> str:
    if len(labels) == 1:
        return f"the stronger the color, the more surprising: from 0 to {FULL:g} bits and more"
    return f"orange: {labels[1]} knows more; blue: {labels[0]} does; the strongest from {FULL_DIFFERENCE:g} bits on"


def _column(piece: Piece, labels: Sequence[str], named: bool) -> TokenColumn:
    details = []
    for label, each in zip(labels, piece.expected, strict=True):
        prefix = f"{label}: " if len(labels) > 1 else ""
        details += [Detail(prefix + token, share, f"{share:.1%}") for token, share in each.likeliest]
    bits = " and ".join(f"{bit:.2f} bits" for bit in piece.bits) or "not predicted: nothing comes before it"
    return TokenColumn(piece.text, piece.shade, [(0, piece.answer)] if named else [], bits, details)


def _unknown(readings: Sequence[Reading], labels: Sequence[str]) -> str:
    """How many unknown tokens the means count: their bits are not those of what the text really says."""
    counts = [(label, reading.unknown_answers) for label, reading in zip(labels, readings, strict=True)]
    found = [f"{counted(count, 'unknown token')} for {label}" for label, count in counts if count]
    return f" This counts {' and '.join(found)}." if found else ""


def _most_surprising(pieces: Sequence[Piece], labels: Sequence[str], answer: str) -> TextTable:
    alone = len(labels) == 1
    predicted = [(at, piece) for at, piece in enumerate(pieces, 1) if piece.bits]
    found = sorted(predicted, key=lambda item: -abs(item[1].lead))[:FOUND]
    rows = [["", "likeliest" if alone else f"likeliest for {labels[0]}", "position", *(["bits"] if alone else labels)]]
    for at, piece in found:
        expected = ", ".join(f"{token} {share:.0%}" for token, share in piece.expected[0].likeliest[:3])
        rows.append([piece.text, expected, f"{at:,}", *(f"{bit:.2f}" for bit in piece.bits)])
    return TextTable(f"the most surprising {answer}s" if alone else "the largest differences, in bits", rows, texts=2)


def _as_dict(piece: Piece) -> dict[str, Any]:
    likeliest = [dict(each.likeliest) for each in piece.expected]
    answer = {"answer": piece.answer} if piece.answer else {}
    return {"text": piece.text, **answer, "bits": [each.bits for each in piece.expected], "likeliest": likeliest}


def _draw(axes: Any, rows: Sequence[tuple[str, list[float]]], labels: Sequence[str]) -> None:
    for run, label in enumerate(labels):
        axes.plot([means[run] for _, means in rows], "o-", color=COLORS[run], markersize=4, label=label)
    axes.set_xticks(range(len(rows)), [where for where, _ in rows], fontsize=8, rotation=30, ha="right")
    axes.set(xlabel="position in the text", ylabel="mean bits")
    from_zero(axes)
    light_grid(axes)
    axes.legend(frameon=False, fontsize=8)
