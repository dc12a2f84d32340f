"""embeddings: the contextual vectors of the tokens of a text as a map, and a word's neighbors in each of its contexts.

A word has one vector for each occurrence: that of its last token, when the model has read all of it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading, visible
from seqlab.inspection.shades import level
from seqlab.inspection.sheet import Chart, Detail, Sheet, TextTable, TokenColumn, number, one
from seqlab.inspection.states import find_layer, token_vectors, unit_vectors
from seqlab.plotting import COLORS, light_grid

NEIGHBORS = 5  # of each token or occurrence
FREQUENT = 10  # tokens in the table
LABELED = 300  # points of the map that are drawn as their text
AROUND = 24  # characters of context on each side of a word
WORD = re.compile(r"\w+(?:['’-]\w+)*")
COLORED = ("token", "position")


class Embedded(NamedTuple):
    """What has a vector: the tokens of a text, or its words. `tokens` is where the vector of each one stands."""

    names: list[str]
    tokens: list[int]
    contexts: list[str]


def embeddings(
    readings: Sequence[Reading], *, layer: int | None = None, word: str | None = None, color: str | None = None
) -> Sheet:
    """A map of all tokens by a layer (the last if not given), in colors by token or position; or, for a word of the
    text, of all words, with the nearest neighbors of each of its occurrences."""
    reading, by = one(readings, "embeddings"), "token" if color is None else color
    if by not in COLORED:
        raise UsageError(f"there is no coloring by '{by}': give {' or '.join(COLORED)}.")
    if word is not None and color is not None:
        raise UsageError("color does nothing beside word, whose occurrences are colored: leave one of them out.")
    name = find_layer(reading, layer)
    vectors_TH = token_vectors(reading, name)
    units = _tokens(reading) if word is None else _words(reading)
    if len(units.names) < 3:
        raise UsageError(f"the text has {len(units.names)} of them: embeddings needs at least 3 to compare.")
    places_M, shares = plane(vectors_TH.double().numpy()[units.tokens])
    unit_MH = unit_vectors(vectors_TH)[units.tokens]
    cosines_MM = unit_MH @ unit_MH.T
    found = _occurrences(units, word) if word is not None else []
    table, sentence = _frequent(units, cosines_MM) if word is None else _neighbors_of(word, found, units, cosines_MM)
    shown = f"Two axes show {sum(shares):.0%} of the variance of {len(units.names):,} vectors of {name}."
    return Sheet(
        "embeddings",
        f"{sentence} {shown}",
        _data(name, units, places_M, shares, cosines_MM),
        "the stronger the color, the nearer to its nearest neighbor" if word is None else f"in color: '{word}'",
        columns=_columns(units, cosines_MM) if word is None else _word_columns(reading, units, found),
        blocks=[table],
        charts=[
            Chart(
                lambda axes: _draw(axes, units, places_M, shares, found, by if word is None else "word"),
                f"Map of {len(units.names):,} vectors by their two principal axes. {shown}",
                size=(6.4, 4.6),
            )
        ],
    )


def plane(vectors_MH: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """Places on the two axes of the largest variance (M, 2), and the share of the variance that each axis shows."""
    centered_MH = vectors_MH - vectors_MH.mean(0)
    u_MK, sizes_K, axes_KH = np.linalg.svd(centered_MH, full_matrices=False)
    signs_K = np.sign(
        axes_KH[np.arange(len(axes_KH)), np.abs(axes_KH).argmax(1)]
    )  # an axis has no direction of its own
    places_M2 = (u_MK * sizes_K * signs_K)[:, :2]
    if places_M2.shape[1] < 2:
        places_M2 = np.pad(places_M2, ((0, 0), (0, 1)))
    total = float((sizes_K**2).sum())
    return places_M2, [float(size**2) / total if total else 0.0 for size in [*sizes_K, 0.0][:2]]


# --- what has a vector ------------------------------------------------------------------------------------------------


def _tokens(reading: Reading) -> Embedded:
    names = reading.sides[0].tokens
    contexts = [
        f"{''.join(names[max(0, t - AROUND) : t])}[{name}]{''.join(names[t + 1 : t + 1 + AROUND])}"
        for t, name in enumerate(names)
    ]
    return Embedded(list(names), list(range(len(names))), contexts)


def _words(reading: Reading) -> Embedded:
    """Every word of the text, at the token with its last character."""
    last_N = np.array(reading.last_characters)
    matches = list(WORD.finditer(reading.text))
    tokens = [int(np.searchsorted(last_N, match.end() - 1)) for match in matches]
    contexts = [
        visible(
            f"{reading.text[max(0, match.start() - AROUND) : match.start()]}[{match[0]}]"
            f"{reading.text[match.end() : match.end() + AROUND]}"
        )
        for match in matches
    ]
    return Embedded([match[0] for match in matches], tokens, contexts)


def _occurrences(units: Embedded, word: str) -> list[int]:
    found = [at for at, name in enumerate(units.names) if name.casefold() == word.casefold()]
    if not found:
        frequent = ", ".join(name for name, _ in Counter(units.names).most_common(5))
        raise UsageError(f"the word '{word}' is not in the text. Some that are: {frequent}.")
    return found


# --- neighbors --------------------------------------------------------------------------------------------------------


def nearest(cosines_M: np.ndarray, at: int, most: int = NEIGHBORS) -> list[int]:
    """The places of the largest cosines but for its own."""
    order = np.argsort(-cosines_M, kind="stable")
    return [int(other) for other in order if other != at][:most]


def _frequent(units: Embedded, cosines_MM: np.ndarray) -> tuple[TextTable, str]:
    """How much the vectors of one token differ between contexts, beside other tokens."""
    counts = Counter(units.names)
    of = np.array([list(counts).index(name) for name in units.names])
    rows = [["token", "nearest other tokens", "times", "cosine within", "with others"]]
    for name, times in counts.most_common(FREQUENT):
        own_M = of == list(counts).index(name)
        inside = cosines_MM[own_M][:, own_M][~np.eye(times, dtype=bool)]
        outside = cosines_MM[own_M][:, ~own_M]
        near: dict[str, float] = {}
        for other in np.argsort(-outside.max(0)) if outside.size else ():
            near.setdefault(str(np.array(units.names)[~own_M][other]), float(outside[:, other].max()))
        words = ", ".join(f"{other} {cosine:.2f}" for other, cosine in list(near.items())[:NEIGHBORS])
        within = number(float(inside.mean())) if inside.size else "–"
        rows.append([name, words, str(times), within, number(float(outside.mean())) if outside.size else "–"])
    different = cosines_MM[~np.eye(len(of), dtype=bool)].mean()
    repeated = of[:, None] == of
    np.fill_diagonal(repeated, val=False)
    sentence = f"Two vectors of the text have a cosine of {number(float(different))} on average"
    if repeated.any():
        sentence += f", two of the same token {number(float(cosines_MM[repeated].mean()))}"
    return TextTable("the most frequent tokens: mean cosine of their vectors", rows, texts=2), f"{sentence}."


def _neighbors_of(word: str, found: list[int], units: Embedded, cosines_MM: np.ndarray) -> tuple[TextTable, str]:
    rows = [["occurrence", "nearest words, with the cosine"]]
    for at in found:
        near = ", ".join(f"{units.names[other]} {cosines_MM[at, other]:.2f}" for other in nearest(cosines_MM[at], at))
        rows.append([units.contexts[at], near])
    pairs = cosines_MM[np.ix_(found, found)][~np.eye(len(found), dtype=bool)]
    times = f"occurs {len(found)} times" if len(found) > 1 else "occurs once"
    alike = f"; its vectors have a cosine of {number(float(pairs.mean()))} on average" if len(pairs) else ""
    return TextTable(f"'{word}' in its contexts", rows, texts=2), f"'{word}' {times}{alike}."


# --- shown ------------------------------------------------------------------------------------------------------------


def _columns(units: Embedded, cosines_MM: np.ndarray) -> list[TokenColumn]:
    columns = []
    for at, name in enumerate(units.names):
        found = [(units.contexts[other], float(cosines_MM[at, other])) for other in nearest(cosines_MM[at], at)]
        details = [Detail(context, max(0.0, cosine), number(cosine)) for context, cosine in found]
        columns.append(TokenColumn(name, level(found[0][1]), heading="nearest tokens", details=details))
    return columns


def _word_columns(reading: Reading, units: Embedded, found: Sequence[int]) -> list[TokenColumn]:
    marked = {units.tokens[at]: place for place, at in enumerate(found, 1)}
    return [
        TokenColumn(token, level(0.75) if t in marked else 0, heading=f"occurrence {marked[t]}" if t in marked else "")
        for t, token in enumerate(reading.sides[0].tokens)
    ]


def _data(
    name: str, units: Embedded, places_M2: np.ndarray, shares: Sequence[float], cosines_MM: np.ndarray
) -> dict[str, Any]:
    return {
        "layer": name,
        "variance": list(shares),
        "vectors": [
            {
                "text": text,
                "token": token + 1,
                "at": place.tolist(),
                "nearest": [[other + 1, float(cosines_MM[at, other])] for other in nearest(cosines_MM[at], at)],
            }
            for at, (text, token, place) in enumerate(zip(units.names, units.tokens, places_M2, strict=True))
        ],
    }


def _draw(
    axes: Any, units: Embedded, places_M2: np.ndarray, shares: Sequence[float], found: Sequence[int], by: str
) -> None:
    """Points are drawn as their text, as long as there are few enough to read."""
    x_M, y_M = places_M2.T
    if by == "position":
        points = axes.scatter(x_M, y_M, c=np.arange(len(x_M)), cmap="cividis", s=14)
        axes.figure.colorbar(points, ax=axes, label="position in the text", shrink=0.8)
        colors = ["#5a6169"] * len(x_M)
    else:
        frequent = [name for name, _ in Counter(units.names).most_common(len(COLORS) - 1)]
        quiet = "#8a9199"
        if by == "word":
            colors = [COLORS[1] if at in set(found) else quiet for at in range(len(x_M))]
        else:
            colors = [COLORS[frequent.index(name)] if name in frequent else quiet for name in units.names]
        axes.scatter(x_M, y_M, c=colors, s=6 if len(x_M) <= LABELED else 10)
    for at in range(len(x_M)) if len(x_M) <= LABELED else ():
        label = f"{units.names[at]} {list(found).index(at) + 1}" if at in found else units.names[at]
        style = {"fontsize": 8, "color": colors[at], "parse_math": False, "weight": "bold" if at in found else "normal"}
        axes.annotate(label, (x_M[at], y_M[at]), xytext=(2, 2), textcoords="offset points", **style)
    axes.set(xlabel=f"first axis ({shares[0]:.0%} of the variance)", ylabel=f"second axis ({shares[1]:.0%})")
    light_grid(axes)
