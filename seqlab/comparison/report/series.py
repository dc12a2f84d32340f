"""The lines of the charts, the same for the page and for the figures: a mean over seeds and the band they span."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from seqlab.comparison.results import BaselineResult, Entrant, Results, RunResult

# told apart with any of the common color-blindnesses, and by lightness; on white, then on black
LIGHT = ("#1b4aa8", "#d8620c", "#1f8f70", "#8c1d5f", "#5a4a00", "#5b9bd5")
DARK = ("#6d8dff", "#f0843c", "#9af0cc", "#c06ba6", "#f5d75e", "#5fb6e8")
MOST_POINTS = 120  # of a line
BINS = 32  # of positions, narrow at the start, where the loss falls
FAR = 12  # times as much above the middle of all values as the lowest is below it: no longer drawn
LOG_FROM = 8  # times the smallest that the largest must be for a logarithmic axis

# how much of each one step takes
LENSES: dict[str, Callable[[Entrant], float]] = {
    "steps": lambda entrant: 1,
    "tokens": lambda entrant: entrant.tokens_per_step,
    "FLOPs": lambda entrant: entrant.flops_per_step,
    "seconds": lambda entrant: entrant.step_seconds,
}


@dataclass(frozen=True)
class Line:
    name: str
    index: int  # among the entrants: its color
    x: list[float]
    mean: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class Panel:
    """One chart; `log` is of the horizontal axis."""

    x_label: str
    lines: list[Line]
    log: bool
    skipped: float = 0.25  # the share of a line, at its steep beginning, that need not fit into the chart

    def reach(self, top: float) -> tuple[float, float]:
        """From the first x at which some line is below the top of the chart, to a little beyond the last."""
        drawn = [(x, y) for line in self.lines for x, y in zip(line.x, line.mean, strict=True) if x > 0 or not self.log]
        first = min((x for x, y in drawn if y <= top), default=1.0)
        last = max((x for x, _ in drawn), default=2.0)
        if first == last:
            return first / 2, 2 * last or 1.0
        return first, last * (last / first) ** 0.02 if self.log else last + 0.02 * (last - first)


def lenses(results: Results) -> list[Panel]:
    """Loss on validation against steps, tokens, FLOPs and seconds. Empty where no run has a curve."""
    by_step = [_curve(results, index) for index in range(len(results.entrants))]
    by_step = [line for line in by_step if line.x]
    if not by_step:
        return []
    panels = []
    for label, cost in LENSES.items():
        costs = [cost(results.entrants[line.index]) for line in by_step]
        lines = [_scaled(line, each) for line, each in zip(by_step, costs, strict=True)]
        panels.append(Panel(label, lines, _spans(lines)))
    return panels


def positions(results: Results) -> Panel | None:
    """Loss against how much of the window stands before a token; positions averaged in bins."""
    lines = []
    for index, entrant in enumerate(results.entrants):
        rows = [run.loss_by_position for run in results.runs_of(entrant.name)]
        rows = [row for row in rows if row and all(map(math.isfinite, row))]
        if rows:
            lines.append(_binned(entrant.name, index, rows))
    return Panel("position in the window", lines, _spans(lines), skipped=0.0) if lines else None


def best_baseline(results: Results) -> BaselineResult | None:
    found = [
        baseline for baseline in results.baselines if math.isfinite(baseline.metrics.get("nats_per_token", math.nan))
    ]
    return min(found, key=lambda baseline: baseline.metrics["nats_per_token"], default=None)


def height(panels: Sequence[Panel], baseline: float | None = None) -> tuple[float, float]:
    """The range of the vertical axis; what diverged, and the steep beginning of a curve, do not flatten the rest."""
    values = [baseline] if baseline is not None else []
    for panel in panels:
        for line in panel.lines:
            first = int(panel.skipped * len(line.x))
            values += [*line.low[first:], *line.high[first:]]
    return span(values)


def span(values: Sequence[float]) -> tuple[float, float]:
    """Low and high of the finite values, with room at both ends; what lies far above the middle is let go."""
    finite = np.array([value for value in values if math.isfinite(value)])
    if not len(finite):
        return 0.0, 1.0
    low, high, middle = float(finite.min()), float(finite.max()), float(np.median(finite))
    high = min(high, middle + FAR * (middle - low)) if middle > low else high
    room = 0.06 * (high - low) or 0.05 * abs(low) or 1.0
    return low - room, high + room


def _curve(results: Results, index: int) -> Line:
    """By step, at the steps that all seeds have."""
    name = results.entrants[index].name
    curves = [_by_step(run) for run in results.runs_of(name)]
    shared = sorted(set.intersection(*map(set, curves))) if curves else []
    shared = _thinned(shared)
    return _line(name, index, [float(step) for step in shared], [[one[step] for step in shared] for one in curves])


def _by_step(run: RunResult) -> dict[float, float]:
    found = {point["step"]: point.get("validation_loss", math.nan) for point in run.curve if "step" in point}
    return {step: loss for step, loss in found.items() if loss is not None and math.isfinite(loss)}


def _line(name: str, index: int, x: list[float], rows: list[list[float]]) -> Line:
    if not x:
        return Line(name, index, [], [], [], [])
    rows_RN = np.array(rows)
    return Line(name, index, x, rows_RN.mean(0).tolist(), rows_RN.min(0).tolist(), rows_RN.max(0).tolist())


def _scaled(line: Line, cost: float) -> Line:
    return Line(line.name, line.index, [x * cost for x in line.x], line.mean, line.low, line.high)


def _binned(name: str, index: int, rows: list[list[float]]) -> Line:
    length = min(map(len, rows))
    edges = np.unique(np.geomspace(1, length + 1, BINS + 1).round().astype(int)) - 1
    pairs = list(pairwise(edges.tolist()))
    centres = [math.sqrt((a + 1) * b) for a, b in pairs]  # positions a + 1 to b
    return _line(name, index, centres, [[float(np.mean(row[a:b])) for a, b in pairs] for row in rows])


def _thinned(steps: list[float]) -> list[float]:
    if len(steps) <= MOST_POINTS:
        return steps
    keep = np.unique(np.linspace(0, len(steps) - 1, MOST_POINTS).round().astype(int))
    return [steps[index] for index in keep]


def _spans(lines: list[Line]) -> bool:
    values = [x for line in lines for x in line.x if x > 0]
    return bool(values) and max(values) >= LOG_FROM * min(values)
