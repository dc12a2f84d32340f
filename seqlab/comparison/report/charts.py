"""The charts of the page: lenses, loss by position, learning rates, and the differences of pairs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from seqlab.comparison.report.amounts import linear_ticks, short
from seqlab.comparison.report.series import LIGHT, Line, Panel, height, span
from seqlab.comparison.report.svg import LEFT, LINE, TOP, WIDTH, Frame, apart, chart, cut, element
from seqlab.comparison.results import BaselineResult, Pair, Results, Trial

RATE = "train.lr"


def color(index: int) -> str:
    """Classes of an entrant: its color, and a dash where the colours begin anew."""
    return f"c{index % len(LIGHT)} d{index // len(LIGHT) % 3}"


def swatch(index: int) -> Markup:
    line = element("line", class_=f"line {color(index)}", x1=1, x2=21, y1=5, y2=5)
    return element("svg", line, class_="swatch", viewBox="0 0 22 10", aria_hidden="true")


def panel_charts(panels: Sequence[Panel], what: str, baseline: BaselineResult | None = None) -> list[Markup]:
    """Charts with one vertical axis for all of them."""
    if not panels:
        return []
    y = height(panels, baseline.metrics["nats_per_token"] if baseline else None)
    return [_panel_chart(panel, what, baseline, y) for panel in panels]


def _panel_chart(panel: Panel, what: str, baseline: BaselineResult | None, y: tuple[float, float]) -> Markup:
    frame = Frame(panel.reach(y[1]), y, panel.log)
    shown = [part for line in panel.lines for part in _drawn(frame, line)]
    ends = [(line.name, line.mean[-1], f"line {color(line.index)}") for line in panel.lines]
    said = ", ".join(f"{name} ends at {end:.4f}" for name, end, _ in ends)
    if baseline:
        across = frame.down(baseline.metrics["nats_per_token"])
        shown.insert(0, element("line", class_="baseline", x1=0, x2=frame.wide, y1=across, y2=across))
        ends.append((baseline.name, baseline.metrics["nats_per_token"], "baseline"))
    parts = [frame.axes(panel.x_label), frame.plot(*shown), *_labels(frame, ends)]
    return chart(f"{what} against {panel.x_label}: {said}", *parts)


def _drawn(frame: Frame, line: Line) -> list[Markup]:
    """The band of the seeds, then the mean; a single evaluation is a point."""
    kind = color(line.index)
    parts = []
    if line.low != line.high:
        there, back = frame.points(line.x, line.high), frame.points(line.x[::-1], line.low[::-1])
        parts.append(element("polygon", class_=f"band {kind}", points=f"{there} {back}"))
    if len(line.x) > 1:
        parts.append(element("polyline", class_=f"line {kind}", points=frame.points(line.x, line.mean)))
    if not frame.log or line.x[-1] > 0:
        at = {"cx": frame.across(line.x[-1]), "cy": frame.down(line.mean[-1])}
        parts.append(element("circle", class_=f"dot {kind}", **at, r=2.5))
    return parts


def _labels(frame: Frame, ends: Sequence[tuple[str, float, str]]) -> list[Markup]:
    """Names at the right, at the height where their lines end; each with its value and the class of its line."""
    x = WIDTH - frame.right + 6
    places = apart([TOP + frame.down(end) for _, end, _ in ends], LINE, TOP + 2, TOP + frame.tall - 2)
    parts = []
    for (name, _, kind), place in zip(ends, places, strict=True):
        parts.append(element("line", class_=kind, x1=x, x2=x + 8, y1=place, y2=place))
        parts.append(element("text", cut(name), class_="label", x=x + 12, y=place + 4))
    return parts


@dataclass(frozen=True)
class Grid:
    """The trials of one entrant, by rising rate."""

    name: str
    index: int
    trials: list[Trial]

    @property
    def of_rates(self) -> bool:
        """Nothing but the learning rate was tried, so that a chart says it all."""
        rates = [trial.tried.get(RATE) for trial in self.trials]
        return all(set(trial.tried) == {RATE} for trial in self.trials) and all(
            isinstance(rate, int | float) and rate > 0 for rate in rates
        )


def grids(results: Results) -> list[Grid]:
    found = []
    for index, entrant in enumerate(results.entrants):
        trials = [trial for trial in results.trials if trial.name == entrant.name]
        if trials:
            found.append(Grid(entrant.name, index, trials))
    return [
        Grid(one.name, one.index, sorted(one.trials, key=lambda trial: trial.tried[RATE])) if one.of_rates else one
        for one in found
    ]


def rate_charts(found: Sequence[Grid]) -> list[Markup]:
    """Loss against the learning rate, one chart for each entrant, with the same axes."""
    trials = [trial for grid in found for trial in grid.trials]
    if not trials:
        return []
    rates = [trial.tried[RATE] for trial in trials]
    x = (min(rates) / 1.4, max(rates) * 1.4)
    low, high = span([trial.loss for trial in trials if trial.loss is not None])
    y = (low - 0.12 * (high - low), high)  # room for the rate beneath the lowest
    return [_rate_chart(grid, Frame(x, y, log=True, right=16)) for grid in found]


def _rate_chart(grid: Grid, frame: Frame) -> Markup:
    kind = color(grid.index)
    finished = [(trial, trial.loss) for trial in grid.trials if trial.loss is not None and math.isfinite(trial.loss)]
    points = frame.points([trial.tried[RATE] for trial, _ in finished], [loss for _, loss in finished])
    parts = [element("polyline", class_=f"line {kind}", points=points)]
    labels, said = [], []
    for trial in grid.trials:
        rate = trial.tried[RATE]
        lost = trial.loss is None or not math.isfinite(trial.loss)
        x, y = frame.across(rate), 10.0 if lost else frame.down(trial.loss or 0.0)
        y = max(5.0, y)  # a trial beyond the chart stands at its edge
        mark = "failed" if lost else "chosen" if trial.chosen else "dot"
        if lost:
            parts.append(element("path", class_="failed", d=f"M{x - 4:.1f},{y - 4:.1f}l8,8m0,-8l-8,8"))
        else:
            parts.append(element("circle", class_=f"{mark} {kind}", cx=x, cy=y, r=6 if trial.chosen else 3))
        said.append(f"{rate:g} gives {'no result' if lost else f'{trial.loss:.4f}'}{', chosen' * trial.chosen}")
        if trial.chosen and not lost:
            where = {"x": LEFT + min(max(x, 24), frame.wide - 24), "y": TOP + min(y + 20, frame.tall - 4)}
            labels.append(element("text", f"{rate:g}", class_="label strong", **where, text_anchor="middle"))
    title = f"Loss on validation against the learning rate, {grid.name}: {'; '.join(said)}"
    return chart(title, frame.axes("learning rate"), frame.plot(*parts), *labels)


@dataclass(frozen=True)
class Forest:
    """Differences of pairs on one horizontal axis, in per cent of its width, so that text keeps its size."""

    low: float
    high: float
    negligible: float

    @classmethod
    def of(cls, pairs: Sequence[Pair], negligible: float) -> "Forest":
        ends = [0.0, -negligible, negligible]
        ends += [value for pair in pairs for value in (pair.difference, pair.low, pair.high) if value is not None]
        low, high = min(filter(math.isfinite, ends)), max(filter(math.isfinite, ends))
        room = 0.05 * (high - low) or 1.0
        return cls(low - room, high + room, negligible)

    def at(self, value: float) -> str:
        share = (value - self.low) / (self.high - self.low)
        return f"{100 * max(0.0, min(1.0, share)):.2f}%"

    def row(self, pair: Pair) -> Markup:
        parts = self._ground()
        title = f"{pair.a} ahead of {pair.b} by {pair.difference:.4f}"
        if pair.low is not None and pair.high is not None:
            parts.append(
                element("line", class_="interval", x1=self.at(pair.low), x2=self.at(pair.high), y1="50%", y2="50%")
            )
            title += f", 95 % interval {pair.low:.4f} to {pair.high:.4f}"
        kind = "sure" if pair.verdict == "better" else "unsure"
        parts.append(element("circle", class_=kind, cx=self.at(pair.difference), cy="50%", r=4.5))
        return element("svg", element("title", title), *parts, class_="forest", role="img", aria_label=title)

    def axis(self, unit: str) -> Markup:
        parts = []
        for value in linear_ticks(self.low, self.high, about=5):
            parts.append(element("line", class_="axis", x1=self.at(value), x2=self.at(value), y1=0, y2=4))
            parts.append(element("text", short(value), class_="tick", x=self.at(value), y=17, text_anchor="middle"))
        title = f"difference in {unit}"
        return element("svg", *parts, class_="forest scale", role="img", aria_label=title)

    def _ground(self) -> list[Markup]:
        first, last = self.at(-self.negligible), self.at(self.negligible)
        wide = f"{float(last[:-1]) - float(first[:-1]):.2f}%"
        return [
            element("rect", class_="negligible", x=first, y=0, width=wide, height="100%"),
            element("line", class_="zero", x1=self.at(0), x2=self.at(0), y1=0, y2="100%"),
        ]
