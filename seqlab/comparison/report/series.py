"""The data of the charts: means over seeds and the bands they span, trials of learning rates, ranges of axes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from seqlab.comparison.results import BaselineResult, Entrant, Results, RunResult

Range = tuple[float, float]

RATE = "train.lr"
MOST_POINTS = 120  # of a line
BINS = 32  # of positions, narrow at the start, where the loss falls
FAR = 12  # values this many times as far above the median as the minimum is below it do not stretch the axis
LOG_FROM = 8  # ratio of the largest to the smallest value from which an axis is logarithmic

# what one step costs, by the label of the axis
LENSES: dict[str, Callable[[Entrant], float]] = {
    "steps": lambda entrant: 1,
    "tokens": lambda entrant: entrant.tokens_per_step,
    "FLOPs": lambda entrant: entrant.flops_per_step,
    "seconds": lambda entrant: entrant.step_seconds,
}


@dataclass(frozen=True)
class Line:
    name: str
    index: int  # of the entrant, which decides the color
    x: list[float]
    mean: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class Panel:
    """The lines of one chart."""

    x_label: str
    lines: list[Line]
    skipped: float = 0.25  # share of a line, at its steep beginning, that need not fit into the chart

    @property
    def log(self) -> bool:
        """Whether the horizontal axis is logarithmic."""
        values = [x for line in self.lines for x in line.x if x > 0]
        return bool(values) and max(values) >= LOG_FROM * min(values)

    def x_range(self, top: float) -> Range:
        """From the first x at which a line is below the top of the chart, to slightly beyond the last."""
        log = self.log
        points = [(x, y) for line in self.lines for x, y in zip(line.x, line.mean, strict=True) if x > 0 or not log]
        first = min((x for x, y in points if y <= top), default=1.0)
        last = max((x for x, _ in points), default=2.0)
        if first == last:
            return first / 2, 2 * last or 1.0
        return first, last * (last / first) ** 0.02 if log else last + 0.02 * (last - first)


@dataclass(frozen=True)
class RateGrid:
    """The trials of one entrant by rising learning rate: rate, loss (NaN if the trial failed), and whether chosen."""

    name: str
    index: int
    points: list[tuple[float, float, bool]]


def lenses(results: Results) -> list[Panel]:
    """Validation loss against steps, tokens, FLOPs and seconds; empty if no run has a curve."""
    by_step = _curves(results)
    if not by_step:
        return []
    panels = []
    for label, cost_of in LENSES.items():
        lines = []
        for line in by_step:
            cost = cost_of(results.entrants[line.index])
            lines.append(replace(line, x=[step * cost for step in line.x]))
        panels.append(Panel(label, lines))
    return panels


def positions(results: Results) -> Panel | None:
    """Loss against the position in the window, averaged in bins."""
    lines = []
    for index, entrant in enumerate(results.entrants):
        rows = [run.loss_by_position for run in results.runs_of(entrant.name)]
        rows = [row for row in rows if row and all(map(math.isfinite, row))]
        if rows:
            lines.append(_binned(entrant.name, index, rows))
    return Panel("position in the window", lines, skipped=0.0) if lines else None


def rate_grid(results: Results, entrant: Entrant) -> RateGrid | None:
    """None if nothing was tried, or other settings than the learning rate."""
    trials = [trial for trial in results.trials if trial.name == entrant.name]
    if not trials or any(list(trial.tried) != [RATE] for trial in trials):
        return None
    points = [(trial.tried[RATE], math.nan if trial.loss is None else trial.loss, trial.chosen) for trial in trials]
    return RateGrid(entrant.name, results.entrants.index(entrant), sorted(points))


def best_baseline(results: Results) -> BaselineResult | None:
    """The baseline with the lowest loss, if any has one."""
    known = [entry for entry in results.baselines if math.isfinite(entry.metrics.get("nats_per_token", math.nan))]
    return min(known, key=lambda entry: entry.metrics["nats_per_token"], default=None)


def y_range(panels: Sequence[Panel], baseline: BaselineResult | None = None) -> Range:
    """The range of the vertical axis, not stretched by runs that diverged or by the steep beginning of a curve."""
    values = [baseline.metrics["nats_per_token"]] if baseline else []
    for panel in panels:
        for line in panel.lines:
            first = int(panel.skipped * len(line.x))
            values += [*line.low[first:], *line.high[first:]]
    return span(values)


def span(values: Sequence[float]) -> Range:
    """Low and high of the finite values, with a margin; values far above the median are ignored."""
    finite = np.array([value for value in values if math.isfinite(value)])
    if not len(finite):
        return 0.0, 1.0
    low, high, median = float(finite.min()), float(finite.max()), float(np.median(finite))
    high = min(high, median + FAR * (median - low)) if median > low else high
    margin = 0.06 * (high - low) or 0.05 * abs(low) or 1.0
    return low - margin, high + margin


def _curves(results: Results) -> list[Line]:
    """By step, at the steps that all seeds have: a mean over changing seeds would jump."""
    lines = []
    for index, entrant in enumerate(results.entrants):
        curves = [_by_step(run) for run in results.runs_of(entrant.name)]
        steps = sorted(set.intersection(*map(set, curves))) if curves else []
        if len(steps) > MOST_POINTS:
            steps = [steps[at] for at in np.linspace(0, len(steps) - 1, MOST_POINTS).round().astype(int)]
        if steps:
            lines.append(_line(entrant.name, index, steps, [[curve[step] for step in steps] for curve in curves]))
    return lines


def _by_step(run: RunResult) -> dict[float, float]:
    losses = {point["step"]: point.get("validation_loss", math.nan) for point in run.curve if "step" in point}
    return {float(step): loss for step, loss in losses.items() if loss is not None and math.isfinite(loss)}


def _line(name: str, index: int, x: list[float], rows: list[list[float]]) -> Line:
    rows_RN = np.array(rows)
    return Line(name, index, x, rows_RN.mean(0).tolist(), rows_RN.min(0).tolist(), rows_RN.max(0).tolist())


def _binned(name: str, index: int, rows: list[list[float]]) -> Line:
    length = min(map(len, rows))
    edges = np.unique(np.geomspace(1, length + 1, BINS + 1).round().astype(int)) - 1
    pairs = list(pairwise(edges.tolist()))
    centers = [math.sqrt((a + 1) * b) for a, b in pairs]  # positions a + 1 to b
    return _line(name, index, centers, [[float(np.mean(row[a:b])) for a, b in pairs] for row in rows])
