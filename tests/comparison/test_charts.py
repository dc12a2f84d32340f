"""The charts put every number where their axes say it is."""

import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import pytest
from comparison_cases import realistic

from seqlab.comparison.report.amounts import decimals, short
from seqlab.comparison.report.figures import (
    Picture,
    forest_figure,
    forest_picture,
    lens_pictures,
    lines_figure,
    position_picture,
    rate_pictures,
)
from seqlab.comparison.report.series import Line, Panel, best_baseline, lenses, positions, rate_grid, span
from seqlab.plotting import COLORS

SVG = "{http://www.w3.org/2000/svg}"


def parsed(picture: Picture) -> ElementTree.Element:
    return ElementTree.fromstring(unquote(picture.source.removeprefix("data:image/svg+xml,")))


def texts(picture: Picture) -> list[str]:
    return [text.text or "" for text in parsed(picture).iter(f"{SVG}text")]


def last_point(picture: Picture, color: str) -> tuple[float, float]:
    """Where the line of this color ends, in the units of the picture."""
    lines = [path for path in parsed(picture).iter(f"{SVG}path") if f"fill: none; stroke: {color}" in str(path.attrib)]
    x, y = re.findall(r"L (\S+) (\S+)", lines[0].get("d", ""))[-1]
    return float(x), float(y)


def value_at(picture: Picture, y: float) -> float:
    """The value at this height, read off the labels of the vertical axis."""
    labels = [text for text in parsed(picture).iter(f"{SVG}text") if "text-anchor: end" in text.get("style", "")]
    (low, low_y), *_, (high, high_y) = [(float(text.text or ""), float(text.get("y", ""))) for text in labels]
    baseline = 3.05  # a label is centered on its value: its baseline is this far below
    return low + (y + baseline - low_y) / (high_y - low_y) * (high - low)


def lines_of(axes: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in axes.get_lines()}


@pytest.mark.parametrize("lens", range(4))
def test_a_lens_shows_mean_band_and_baseline(lens: int) -> None:
    results = realistic()
    axes = lines_figure(lenses(results), best_baseline(results), "loss").axes[lens]
    runs, entrant = results.runs_of("gru"), results.entrant("gru")
    last = [run.curve[-1]["validation_loss"] for run in runs]
    cost = (1, entrant.tokens_per_step, entrant.flops_per_step, entrant.step_seconds)[lens]
    lines = lines_of(axes)
    assert lines["gru"].get_xydata()[-1] == pytest.approx([4000 * cost, sum(last) / 3])
    band = axes.collections[1].get_paths()[0].vertices
    at_end = band[band[:, 0] == band[:, 0].max(), 1]
    assert (at_end.min(), at_end.max()) == pytest.approx((min(last), max(last)))
    assert lines["kneser-ney (order 6)"].get_ydata()[0] == pytest.approx(1.737)
    assert axes.get_xlabel().startswith(("steps", "tokens", "FLOPs", "seconds")[lens])


def test_the_pictures_of_the_page_agree_with_their_axes() -> None:
    results = realistic()
    pictures = lens_pictures(results)
    for picture, label in zip(pictures, ("steps", "tokens", "FLOPs", "seconds"), strict=True):
        assert picture.alt.startswith(f"Validation loss against {label}: lstm ends at ")
        assert {f"{label} (log scale)", "validation loss"} <= set(texts(picture))
    lines = lenses(results)[0].lines
    for line in lines:
        _, y = last_point(pictures[0], COLORS[line.index])
        assert value_at(pictures[0], y) == pytest.approx(line.mean[-1], abs=0.005)
    heights = {last_point(picture, COLORS[0])[1] for picture in pictures}
    assert max(heights) - min(heights) < 1  # one vertical axis for all


def test_seeds_that_were_evaluated_elsewhere_do_not_count() -> None:
    """A mean over changing seeds would jump."""
    results = realistic(names=("lstm",))
    first, *others = results.runs
    (line,) = lenses(replace(results, runs=[replace(first, curve=first.curve[:3]), *others]))[0].lines
    assert line.x == [100, 200, 300]


def test_positions_are_averaged_within_their_bins() -> None:
    results = realistic(names=("lstm",), seeds=1)
    losses = [float(position) for position in range(1, 129)]
    results = replace(results, runs=[replace(results.runs[0], loss_by_position=losses)])
    panel, picture = positions(results), position_picture(results)
    assert panel and panel.log and picture and "position in the window (log scale)" in texts(picture)
    (line,) = panel.lines
    assert line.mean[:3] == [1.0, 2.0, 3.0] and line.mean == sorted(line.mean)
    # the mean of a bin of positions lies slightly above their geometric mean
    assert all(x <= mean <= 1.02 * x for x, mean in zip(line.x, line.mean, strict=True))


def test_rates_mark_the_choice_and_failures() -> None:
    results = realistic()
    grids = [grid for entrant in results.entrants if (grid := rate_grid(results, entrant))]
    pictures = dict(zip([grid.name for grid in grids], rate_pictures(grids), strict=True))
    assert {"learning rate", "validation loss", "0.0032"} <= set(texts(pictures["lstm"]))
    assert "0.0032 gives 1.8820, chosen" in pictures["lstm"].alt
    assert "0.01 gives no result" in pictures["rnn"].alt
    assert "%23b3261e" in pictures["rnn"].source and "%23b3261e" not in pictures["lstm"].source


def test_pairs_are_drawn_at_their_differences() -> None:
    results = realistic()
    axes = forest_figure(results).axes[0]
    dots = [line for line in axes.get_lines() if line.get_marker() == "o"]
    intervals = [line for line in axes.get_lines() if len(line.get_xdata()) == 2][1:]  # after the line at zero
    for row, (pair, dot, interval) in enumerate(zip(results.pairs, dots, intervals, strict=True)):
        assert dot.get_xydata().tolist() == [[pair.difference, row]]
        assert list(interval.get_xdata()) == [pair.low, pair.high]
        assert (dot.get_markerfacecolor() == "white") == (pair.verdict != "better")
    picture = forest_picture(results)
    assert [text for text in texts(picture) if " – " in text] == [f"{pair.a} – {pair.b}" for pair in results.pairs]
    assert picture.alt.startswith(f"{results.pairs[0].a} ahead of {results.pairs[0].b} by ")


def test_one_seed_has_no_interval() -> None:
    assert "95% interval" in forest_picture(realistic()).alt
    assert "95% interval" not in forest_picture(realistic(seeds=1)).alt


def test_runs_that_diverged_do_not_stretch_the_axis() -> None:
    low, high = span([1.5, 1.6, 1.7, 1.8, 1e30, math.inf, math.nan])
    assert 1 < low < 1.5 and 1.8 < high < 5
    assert span([]) == (0.0, 1.0)
    assert span([2.0])[0] < 2 < span([2.0])[1]


@pytest.mark.parametrize(("first", "last"), [(600, 1816), (100, 900), (1, 128), (1e-6, 1e6), (2.0, 2.2), (1e15, 4e15)])
def test_every_axis_has_ticks(first: float, last: float) -> None:
    losses = [9.0, 2.0, 1.95, 1.9]  # the first is above the chart, so the axis is logarithmic but may be short
    line = Line("lstm", 0, [first / 100, first, (first + last) / 2, last], losses, losses, losses)
    axes = lines_figure([Panel("steps", [line])], None, "loss").axes[0]
    low, high = axes.get_xlim()
    assert 2 <= sum(low <= tick <= high for tick in axes.get_xticks()) <= 8


def test_numbers_in_few_characters() -> None:
    assert [short(value) for value in (0.0032, 12, 999.9, 1000, 1_260_000, 5e13)] == [
        "0.0032", "12", "1k", "1k", "1.26M", "50T"
    ]  # fmt: skip
    assert [decimals(value, 2) for value in (None, math.nan, math.inf, -1.234, 1234.5)] == [
        "–", "–", "∞", "−1.23", "1,234.50"
    ]  # fmt: skip
