"""Inline SVG by hand: elements whose text is escaped, and the frame of a small chart.

Colours are classes, so that a chart follows the page from light to dark and to paper."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from seqlab.comparison.report.amounts import linear_ticks, log_ticks, short

WIDTH, HEIGHT = 320, 256  # in units that are near pixels at every width of the page
LEFT, RIGHT, TOP, BOTTOM = 36, 92, 10, 40
LABEL = 11  # characters of a name that fit beside the end of its line
LINE = 14  # height of a label


def element(tag: str, *children: str, **attributes: str | float | None) -> Markup:
    """`x1=3` is written x1="3", `class_` class, `text_anchor` text-anchor; None is left out."""
    written = Markup("").join(
        Markup(' {}="{}"').format(Markup(name.rstrip("_").replace("_", "-")), _number(value))
        for name, value in attributes.items()
        if value is not None
    )
    content = Markup("").join(children)  # joining escapes what is not markup already
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), written, content)


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def chart(title: str, *children: str) -> Markup:
    """A picture that says what it shows to those who do not see it."""
    return element(
        "svg",
        element("title", title),
        *children,
        class_="chart",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=title,
    )


def cut(name: str, longest: int = LABEL) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"


@dataclass(frozen=True)
class Frame:
    """From values to places; `log` is of the horizontal axis."""

    x: tuple[float, float]
    y: tuple[float, float]
    log: bool
    right: int = RIGHT

    def across(self, value: float) -> float:
        """From the left edge of the plot."""
        low, high = self.x
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        share = (value - low) / (high - low) if high > low else 0.5
        return share * self.wide

    def down(self, value: float) -> float:
        """From the top of the plot; what is far outside stays near, for viewers cannot take any number."""
        low, high = self.y
        share = (high - value) / (high - low)
        return max(-1.0, min(2.0, share)) * self.tall

    @property
    def wide(self) -> float:
        return WIDTH - LEFT - self.right

    @property
    def tall(self) -> float:
        return HEIGHT - TOP - BOTTOM

    def plot(self, *children: str) -> Markup:
        """What is drawn in the plot; an svg within another hides what is beyond its edges."""
        return element("svg", *children, x=LEFT, y=TOP, width=self.wide, height=self.tall)

    def points(self, xs: Sequence[float], ys: Sequence[float]) -> str:
        return " ".join(
            f"{self.across(x):.1f},{self.down(y):.1f}" for x, y in zip(xs, ys, strict=True) if x > 0 or not self.log
        )

    def axes(self, x_label: str) -> Markup:
        """Quiet lines across, ticks below, the name of the horizontal axis beneath."""
        parts = []
        for value in linear_ticks(*self.y):
            y = TOP + self.down(value)
            parts.append(element("line", class_="grid", x1=LEFT, x2=LEFT + self.wide, y1=y, y2=y))
            parts.append(element("text", f"{value:.6g}", class_="tick", x=LEFT - 6, y=y + 4, text_anchor="end"))
        bottom = TOP + self.tall
        parts.append(element("line", class_="axis", x1=LEFT, x2=LEFT + self.wide, y1=bottom, y2=bottom))
        for value in log_ticks(*self.x) if self.log else linear_ticks(*self.x, about=3):
            x = LEFT + self.across(value)
            parts.append(element("line", class_="axis", x1=x, x2=x, y1=bottom, y2=bottom + 3))
            parts.append(element("text", short(value), class_="tick", x=x, y=bottom + 17, text_anchor="middle"))
        scale = " (log scale)" if self.log else ""
        middle = LEFT + self.wide / 2
        parts.append(element("text", x_label + scale, class_="name", x=middle, y=HEIGHT - 4, text_anchor="middle"))
        return Markup("").join(parts)


def apart(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The places of labels, moved as little as keeps them `gap` from each other and within the chart."""
    gap = min(gap, (high - low) / max(1, len(places) - 1))
    order = sorted(range(len(places)), key=lambda index: places[index])
    moved = [min(max(place, low), high) for place in places]
    for before, after in pairwise(order):
        moved[after] = max(moved[after], moved[before] + gap)
    if order and moved[order[-1]] > high:
        moved[order[-1]] = high
        for after, before in pairwise(order[::-1]):
            moved[before] = min(moved[before], moved[after] - gap)
    return moved
