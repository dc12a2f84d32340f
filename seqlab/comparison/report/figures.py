"""Figures for papers, as PNG and SVG: the four lenses, loss by position, and the differences of pairs."""

import math
import warnings
from pathlib import Path
from typing import Any

from seqlab.comparison.report.amounts import linear_ticks, log_ticks, short
from seqlab.comparison.report.series import LIGHT, Panel, best_baseline, height, lenses, positions
from seqlab.comparison.report.svg import cut
from seqlab.comparison.results import BaselineResult, Pair, Results
from seqlab.plotting import light_grid, new_figure, write_figure

STYLES = ["-", "--", ":"]  # when the colors are used up, as on the page
QUIET, SHADE = "#5a6169", "#eceef0"
LONGEST = 40  # characters of a name


def write_figures(results: Results, folder: Path) -> list[Path]:
    """All figures for which there is data."""
    drawn = {}
    panels, by_position = lenses(results), positions(results)
    if panels:
        drawn["lenses"] = lines_figure(panels, best_baseline(results), f"validation loss ({results.loss_unit})")
    if by_position:
        drawn["positions"] = lines_figure([by_position], None, "loss (nats per token)")
    if results.pairs:
        drawn["pairs"] = forest_figure(results)
    return [save_figure(figure, folder / f"{name}.{kind}") for name, figure in drawn.items() for kind in ("png", "svg")]


def lines_figure(panels: list[Panel], baseline: BaselineResult | None, label: str) -> Any:
    """One or four charts with a shared vertical axis and legend."""
    y = height(panels, baseline.metrics["nats_per_token"] if baseline else None)
    figure = new_figure(1.2 + 2.9 * max(len(panels), 1.4), 3.2, dpi=200)
    row = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, panel in zip(row, panels, strict=True):
        for line in panel.lines:
            color = LIGHT[line.index % len(LIGHT)]
            style = STYLES[line.index // len(LIGHT) % len(STYLES)]
            marker = "o" if len(line.x) == 1 else ""
            axes.plot(line.x, line.mean, style, color=color, linewidth=1.5, marker=marker, label=_name(line.name))
            if line.low != line.high:
                axes.fill_between(line.x, line.low, line.high, color=color, alpha=0.18, linewidth=0)
        if baseline:
            axes.axhline(
                baseline.metrics["nats_per_token"],
                linestyle=(0, (1, 2)),
                color=QUIET,
                linewidth=1,
                label=_name(baseline.name),
            )
        reach = panel.reach(y[1])
        axes.set_xscale("log" if panel.log else "linear")
        ticks = log_ticks(*reach) if panel.log else linear_ticks(*reach)
        axes.set_xticks(ticks, [short(tick) for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.set_xlim(*reach)
        axes.set_xlabel(panel.x_label)
        _quiet(axes)
    row[0].set_ylabel(label, parse_math=False)
    row[0].set_ylim(*y)
    handles, labels = row[0].get_legend_handles_labels()
    legend = figure.legend(handles, labels, loc="outside right center", frameon=False, fontsize=8)
    for text in legend.get_texts():
        text.set_parse_math(False)  # names may hold dollar signs
    return figure


def forest_figure(results: Results) -> Any:
    """A row for each pair: the difference, its interval, and the band of what does not matter."""
    pairs, metric = results.pairs, results.metric
    figure = new_figure(7, 1.1 + 0.32 * len(pairs), dpi=200)
    axes = figure.subplots()
    axes.axvspan(-metric.negligible, metric.negligible, color=SHADE, zorder=0)
    axes.axvline(0, color=QUIET, linewidth=0.8)
    for row, pair in enumerate(pairs):
        _draw_pair(axes, row, pair)
    axes.set_yticks(range(len(pairs)), [f"{_name(pair.a)} – {_name(pair.b)}" for pair in pairs], parse_math=False)
    axes.set_ylim(len(pairs) - 0.4, -0.6)
    axes.set_xlabel(f"by how much the first is ahead ({metric.difference_unit}); shaded: negligible", parse_math=False)
    _quiet(axes)
    axes.grid(visible=False, axis="y")
    return figure


def _draw_pair(axes: Any, row: int, pair: Pair) -> None:
    if pair.low is not None and pair.high is not None:
        axes.plot([pair.low, pair.high], [row, row], color=LIGHT[0], linewidth=1.5, solid_capstyle="butt")
    fill = LIGHT[0] if pair.verdict == "better" else "white"
    if math.isfinite(pair.difference):
        axes.plot([pair.difference], [row], "o", color=LIGHT[0], markerfacecolor=fill, markersize=5)


def _quiet(axes: Any) -> None:
    light_grid(axes)
    axes.tick_params(labelsize=8)


def _name(name: str) -> str:
    """On one line; matplotlib leaves out what begins with an underscore from a legend."""
    one_line = cut(" ".join(name.split()), LONGEST)
    return f" {one_line}" if one_line.startswith("_") else one_line


def save_figure(figure: Any, path: Path) -> Path:
    """The same bytes for the same figure: no date, and no random element names."""
    import matplotlib

    with warnings.catch_warnings(), matplotlib.rc_context({"svg.hashsalt": path.stem}):
        warnings.simplefilter("ignore")  # a name may hold characters that the font lacks
        write_figure(figure, path, metadata={"Date": None} if path.suffix == ".svg" else None)
    return path
