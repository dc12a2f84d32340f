"""The charts put every number where its axes say it is."""

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import pairwise

import pytest
from comparison_cases import realistic
from hypothesis import given
from hypothesis import strategies as st

from seqlab.comparison.report.amounts import decimals, linear_ticks, log_ticks, short
from seqlab.comparison.report.charts import Forest, grids, panel_charts, rate_charts
from seqlab.comparison.report.series import best_baseline, lenses, positions, span
from seqlab.comparison.report.svg import LEFT, TOP, apart, element

SI = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
Elements = list[ElementTree.Element]


def of_class(drawn: str, *names: str) -> Elements:
    return [one for one in ElementTree.fromstring(drawn).iter() if set(names) <= set(one.get("class", "").split())]


def number(text: str) -> float:
    return float(text.rstrip("kMGTP")) * SI.get(text[-1], 1.0)


def scale(drawn: str, anchor: str, log: bool = False) -> tuple[float, float]:
    """Slope and offset from places to values, read off the first and the last tick."""
    axis = "y" if anchor == "end" else "x"
    ticks = [one for one in of_class(drawn, "tick") if one.get("text-anchor") == anchor]
    values = [number(one.text or "") for one in ticks]
    places = [float(one.get(axis, "")) - (4 if axis == "y" else 0) for one in ticks]
    assert len(values) > 1 and values == sorted(values)
    found = [math.log(value) for value in values] if log else values
    slope = (found[-1] - found[0]) / (places[-1] - places[0])
    return slope, found[0] - slope * places[0]


def points(drawn: str, kind: str, color: str) -> list[tuple[float, float]]:
    (found,) = [one for one in of_class(drawn, kind, color) if one.get("points")]
    pairs = [tuple(map(float, pair.split(","))) for pair in (found.get("points") or "").split()]
    return [(LEFT + x, TOP + y) for x, y in pairs]


@pytest.mark.parametrize("lens", range(4))
def test_a_lens_shows_mean_and_band_where_they_are(lens: int) -> None:
    results = realistic()
    drawn = panel_charts(lenses(results), "Loss", best_baseline(results))[lens]
    up, low = scale(drawn, "end")
    right, left = scale(drawn, "middle", log=True)
    runs, one = results.runs_of("gru"), results.entrant("gru")
    last = [run.curve[-1]["validation_loss"] for run in runs]
    cost = (1, one.tokens_per_step, one.flops_per_step, one.step_seconds)[lens]
    x, y = points(drawn, "line", "c1")[-1]
    assert low + up * y == pytest.approx(sum(last) / 3, abs=0.0015)
    assert math.exp(left + right * x) == pytest.approx(4000 * cost, rel=0.02)
    count = len(runs[0].curve)
    band = points(drawn, "band", "c1")
    assert low + up * band[count - 1][1] == pytest.approx(max(last), abs=0.0015)
    assert low + up * band[count][1] == pytest.approx(min(last), abs=0.0015)
    baseline = of_class(drawn, "baseline")[0]
    assert low + up * (TOP + float(baseline.get("y1", ""))) == pytest.approx(1.737, abs=0.0015)


def test_the_lenses_share_their_vertical_axis_and_say_what_they_show() -> None:
    results = realistic()
    drawn = panel_charts(lenses(results), "Loss on validation")
    ticks = [[one.text for one in of_class(one, "tick") if one.get("text-anchor") == "end"] for one in drawn]
    assert ticks[0] == ticks[1] == ticks[2] == ticks[3]
    for chart, what in zip(drawn, ("steps", "tokens", "FLOPs", "seconds"), strict=True):
        title = ElementTree.fromstring(chart).findtext("title") or ""
        assert title.startswith(f"Loss on validation against {what}: lstm ends at ")
        assert {one.text for one in of_class(chart, "label")} >= {"lstm", "gru", "rnn", "transformer"}


def test_seeds_that_were_evaluated_elsewhere_do_not_count() -> None:
    """A mean over the seeds that happen to be there would jump."""
    results = realistic(names=("lstm",))
    first, *others = results.runs
    (line,) = lenses(replace(results, runs=[replace(first, curve=first.curve[:3]), *others]))[0].lines
    assert line.x == [100, 200, 300]


def test_positions_are_averaged_within_their_bins() -> None:
    results = realistic(names=("lstm",), seeds=1)
    losses = [float(place) for place in range(1, 129)]
    panel = positions(replace(results, runs=[replace(results.runs[0], loss_by_position=losses)]))
    assert panel and panel.log
    (line,) = panel.lines
    assert line.mean[:3] == [1.0, 2.0, 3.0] and line.mean == sorted(line.mean)
    # the mean of a bin of positions lies above their geometric mean, by little
    assert all(x <= mean <= 1.02 * x for x, mean in zip(line.x, line.mean, strict=True))


def test_rates_mark_what_was_chosen_and_what_failed() -> None:
    found = grids(realistic())
    drawn = dict(zip([grid.name for grid in found], rate_charts(found), strict=True))
    assert [one.text for one in of_class(drawn["lstm"], "label")] == ["0.0032"]
    assert len(of_class(drawn["lstm"], "chosen")) == 1 and not of_class(drawn["lstm"], "failed")
    assert len(of_class(drawn["rnn"], "failed")) == 1 and "0.01 gives no result" in drawn["rnn"]
    xs = [float(one.get("cx", "")) for one in of_class(drawn["lstm"], "c0") if one.get("cx")]
    assert xs == sorted(xs) and len(xs) == 3


def test_pairs_stand_where_their_differences_are() -> None:
    results = realistic()
    forest = Forest.of(results.pairs, results.metric.negligible)
    rows = [forest.row(pair) for pair in results.pairs]
    for pair, row in zip(results.pairs, rows, strict=True):
        (circle,) = [one for one in ElementTree.fromstring(row).iter() if one.get("cx")]
        (line,) = of_class(row, "interval")
        low, middle, high = (float(str(place)[:-1]) for place in (line.get("x1"), circle.get("cx"), line.get("x2")))
        assert 0 <= low < middle < high <= 100
        zero = float(str(of_class(row, "zero")[0].get("x1"))[:-1])
        assert pair.low is not None and (zero < low) == (pair.low > 0)
        expected = zero + (high - low) * pair.difference / ((pair.high or 0) - pair.low)
        assert middle == pytest.approx(expected, abs=0.3)
        assert circle.get("class") == ("sure" if pair.verdict == "better" else "unsure")
        band = of_class(row, "negligible")[0]
        first, wide = (float(str(band.get(name))[:-1]) for name in ("x", "width"))
        assert first + wide / 2 == pytest.approx(zero, abs=0.02)


def test_one_seed_has_no_interval() -> None:
    results = realistic(seeds=1)
    assert not of_class(Forest.of(results.pairs, 0.01).row(results.pairs[0]), "interval")


def test_what_diverged_does_not_flatten_the_rest() -> None:
    low, high = span([1.5, 1.6, 1.7, 1.8, 1e30, math.inf, math.nan])
    assert 1 < low < 1.5 and 1.8 < high < 5
    assert span([]) == (0.0, 1.0)
    assert span([2.0])[0] < 2 < span([2.0])[1]


@given(st.lists(st.floats(0, 200), max_size=12), st.floats(1, 30))
def test_labels_do_not_overlap(places: list[float], gap: float) -> None:
    moved = apart(places, gap, 0, 200)
    room = min(gap, 200 / max(1, len(places) - 1))
    order = sorted(range(len(places)), key=lambda index: places[index])
    assert all(-1e-6 <= place <= 200 + 1e-6 for place in moved)
    assert all(moved[b] - moved[a] >= room - 1e-6 for a, b in pairwise(order))


@given(st.floats(1e-6, 1e15), st.floats(1.5, 1e9))
def test_ticks_lie_within(low: float, ratio: float) -> None:
    high = low * ratio
    for ticks in (linear_ticks(low, high), log_ticks(low, high)):
        assert 2 <= len(ticks) <= 8 and ticks == sorted(set(ticks))
        assert low * 0.99 <= ticks[0] and ticks[-1] <= high * 1.01


def test_numbers_in_few_characters() -> None:
    assert [short(value) for value in (0.0032, 12, 999.9, 1000, 1_260_000, 5e13)] == [
        "0.0032", "12", "1k", "1k", "1.26M", "50T"
    ]  # fmt: skip
    assert [decimals(value, 2) for value in (None, math.nan, math.inf, -1.234, 1234.5)] == [
        "–", "–", "∞", "−1.23", "1,234.50"
    ]  # fmt: skip


def test_elements_escape() -> None:
    made = element("text", 'a<b>&"', element("b", "x"), class_='"><script>', x1=1.5)
    assert made == '<text class="&#34;&gt;&lt;script&gt;" x1="1.5">a&lt;b&gt;&amp;&#34;<b>x</b></text>'
