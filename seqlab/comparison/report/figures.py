"""The charts of a comparison. Each is drawn once, by matplotlib: for the page as SVG, for papers as PNG and SVG."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seqlab.comparison.report.amounts import short
from seqlab.comparison.report.series import Panel, Range, RateGrid, best_baseline, lenses, positions, span, y_range
from seqlab.comparison.results import BaselineResult, Pair, Results
from seqlab.pages import Picture, picture
from seqlab.plotting import COLORS, new_figure, write_figure

STYLES = ("-", "--", ":")  # the next one when the colors are used up
QUIET, SHADE, FAILED = "#5a6169", "#eceef1", "#b3261e"
PANEL = (3.1, 2.5)  # inches of one chart on the page
ROUND = (1, 2, 2.5, 5, 10)  # steps between ticks, times a power of ten
LONGEST = 28  # characters of a name


def write_figures(results: Results, folder: Path) -> None:
    """Write all figures that have data."""
    panels, by_position = lenses(results), positions(results)
    figures = {}
    if panels:
        figures["lenses"] = lines_figure(panels, best_baseline(results), f"validation loss ({results.loss_unit})")
    if by_position:
        figures["positions"] = lines_figure([by_position], None, "loss (nats per token)")
    if results.pairs:
        figures["pairs"] = forest_figure(results)
    write_figure_files(figures, folder)


def write_figure_files(figures: Mapping[str, Any], folder: Path) -> None:
    for name, figure in figures.items():
        for extension in ("png", "svg"):
            write_figure(figure, folder / f"{name}.{extension}")


def lens_pictures(results: Results) -> list[Picture]:
    panels, baseline = lenses(results), best_baseline(results)
    y = y_range(panels, baseline)
    return [_panel_picture(panel, y, "validation loss", baseline) for panel in panels]


def position_picture(results: Results) -> Picture | None:
    panel = positions(results)
    return _panel_picture(panel, y_range([panel]), "loss") if panel else None


def rate_pictures(grids: Sequence[RateGrid]) -> list[Picture]:
    """Validation loss against the learning rate, one chart for each entrant, with the same axes."""
    points = [point for grid in grids for point in grid.points]
    if not points:
        return []
    rates = [rate for rate, _, _ in points]
    low, high = span([loss for _, loss, _ in points])
    x, y = (min(rates) / 1.4, max(rates) * 1.4), (low - 0.12 * (high - low), high)  # room for a rate below its point
    pictures = []
    for grid in grids:
        figure = new_figure(*PANEL)
        axes = figure.subplots()
        _draw_rates(axes, grid, y[1])
        _style_axes(axes, x, y, log=True)
        axes.set(xlabel="learning rate", ylabel="validation loss")
        trials = "; ".join(
            f"{rate:g} gives {f'{loss:.4f}' if math.isfinite(loss) else 'no result'}{', chosen' * chosen}"
            for rate, loss, chosen in grid.points
        )
        pictures.append(picture(figure, f"Validation loss against the learning rate, {grid.name}: {trials}"))
    return pictures


def forest_picture(results: Results) -> Picture:
    return picture(forest_figure(results, width=4.4), "; ".join(map(_pair_in_words, results.pairs)))


def lines_figure(panels: Sequence[Panel], baseline: BaselineResult | None, y_label: str) -> Any:
    """Charts side by side with a shared vertical axis and legend."""
    figure = new_figure(1.2 + 2.9 * max(len(panels), 1.4), 3.2, dpi=200)
    row = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    y = y_range(panels, baseline)
    for axes, panel in zip(row, panels, strict=True):
        _draw_panel(axes, panel, y, baseline)
    row[0].set_ylabel(y_label, parse_math=False)
    handles, labels = row[0].get_legend_handles_labels()
    legend = figure.legend(handles, labels, loc="outside right center", frameon=False, fontsize=8)
    for text in legend.get_texts():
        text.set_parse_math(False)  # names may contain dollar signs
    return figure


def forest_figure(results: Results, width: float = 7.0) -> Any:
    """A row for each pair: the difference, its interval, and the band of negligible differences."""
    pairs, metric = results.pairs, results.metric
    figure = new_figure(width, 0.8 + 0.33 * len(pairs), dpi=200)
    axes = figure.subplots()
    axes.axvspan(-metric.negligible, metric.negligible, color=SHADE, zorder=0)
    axes.axvline(0, color=QUIET, linewidth=0.8)
    for row, pair in enumerate(pairs):
        if pair.low is not None and pair.high is not None:
            axes.plot([pair.low, pair.high], [row, row], color=COLORS[0], linewidth=1.5, solid_capstyle="butt")
        if math.isfinite(pair.difference):
            fill = COLORS[0] if pair.verdict == "better" else "white"
            axes.plot([pair.difference], [row], "o", color=COLORS[0], markerfacecolor=fill, markersize=5)
    _style_axes(axes, axes.get_xlim(), (len(pairs) - 0.4, -0.6))
    axes.grid(visible=False)
    axes.set_yticks(range(len(pairs)), map(_pair_label, pairs), parse_math=False)
    x_label = f"lead of the first ({metric.difference_unit}); shaded: negligible"
    figure.supxlabel(x_label, size=9, color=QUIET, parse_math=False)
    return figure


def _panel_picture(panel: Panel, y: Range, y_label: str, baseline: BaselineResult | None = None) -> Picture:
    figure = new_figure(*PANEL)
    axes = figure.subplots()
    _draw_panel(axes, panel, y, baseline)
    axes.set_ylabel(y_label)
    ends = ", ".join(f"{line.name} ends at {line.mean[-1]:.4f}" for line in panel.lines)
    return picture(figure, f"{y_label.capitalize()} against {panel.x_label}: {ends}")


def _draw_panel(axes: Any, panel: Panel, y: Range, baseline: BaselineResult | None) -> None:
    """Mean and band of every line, with a dot at its end."""
    bound = 2 * y[1] - y[0]  # a run that diverged has losses too large for a viewer
    for line in panel.lines:
        color, style = COLORS[line.index % len(COLORS)], STYLES[line.index // len(COLORS) % len(STYLES)]
        mean, low, high = (np.minimum(values, bound) for values in (line.mean, line.low, line.high))
        options = {"color": color, "linestyle": style, "linewidth": 1.5, "label": short_name(line.name)}
        axes.plot(line.x, mean, marker="o", markersize=3.5, markevery=[-1], **options)
        if line.low != line.high:
            axes.fill_between(line.x, low, high, color=color, alpha=0.18, linewidth=0)
    if baseline:
        loss, name = baseline.metrics["nats_per_token"], short_name(baseline.name)
        axes.axhline(loss, linestyle=(0, (4, 3)), color=QUIET, linewidth=1, label=name)
    _style_axes(axes, panel.x_range(y[1]), y, panel.log)
    axes.set_xlabel(panel.x_label + (" (log scale)" if panel.log else ""))


def _draw_rates(axes: Any, grid: RateGrid, top: float) -> None:
    """A ring marks the chosen rate, a cross a failed trial; losses above the chart are drawn at its edge."""
    color = COLORS[grid.index % len(COLORS)]
    finished = [(rate, min(loss, top)) for rate, loss, _ in grid.points if math.isfinite(loss)]
    rates, losses = [rate for rate, _ in finished], [loss for _, loss in finished]
    axes.plot(rates, losses, "o-", color=color, linewidth=1.5, markersize=4.5, clip_on=False)
    for rate, loss, chosen in grid.points:
        if not math.isfinite(loss):
            axes.plot([rate], [top], "x", color=FAILED, markersize=6, clip_on=False)
        elif chosen:
            ring = {"color": color, "markerfacecolor": "white", "markersize": 9, "markeredgewidth": 2}
            axes.plot([rate], [min(loss, top)], "o", clip_on=False, **ring)
            below = {"xytext": (0, -9), "textcoords": "offset points", "ha": "center", "va": "top", "fontsize": 9}
            axes.annotate(f"{rate:g}", (rate, min(loss, top)), **below)


def _style_axes(axes: Any, x: Range, y: Range, log: bool = False) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

    if log:
        axes.set_xscale("log", nonpositive="mask")  # step 0 has no place on it
    if log and x[1] > 5 * x[0]:
        steps = (1.0, 2.0, 5.0) if x[1] < 100 * x[0] else (1.0,)
        axes.xaxis.set_major_locator(LogLocator(subs=steps, numticks=6))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=ROUND))
    axes.set(xlim=x, ylim=y)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=ROUND))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.6g}"))
    axes.minorticks_off()
    axes.grid(axis="y", alpha=0.25)
    axes.tick_params(left=False, labelsize=9, colors=QUIET)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set(size=9, color=QUIET)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(QUIET)


def _pair_label(pair: Pair) -> str:
    a, b = short_name(pair.a), short_name(pair.b)
    return f"{a} –\n{b}" if len(a) + len(b) > LONGEST else f"{a} – {b}"


def _pair_in_words(pair: Pair) -> str:
    words = f"{pair.a} ahead of {pair.b} by {pair.difference:.4f}"
    if pair.low is None or pair.high is None:
        return words
    return f"{words}, 95% interval {pair.low:.4f} to {pair.high:.4f}"


def short_name(name: str) -> str:
    """The name on one line, shortened. matplotlib leaves names that begin with an underscore out of a legend."""
    one_line = " ".join(name.split())
    one_line = one_line if len(one_line) <= LONGEST else one_line[: LONGEST - 1] + "…"
    return f" {one_line}" if one_line.startswith("_") else one_line
