"""similar: other places of a corpus at which the model is in nearly the same state as at a span of the text."""

from collections.abc import Sequence
from itertools import accumulate, takewhile
from typing import Any, NamedTuple

from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading
from seqlab.inspection.search import CONTEXT, Found, Place, SearchedText, find_places, open_corpus
from seqlab.inspection.shades import level
from seqlab.inspection.sheet import Detail, Sheet, TextTable, TokenColumn, number, one
from seqlab.inspection.states import find_layer
from seqlab.wording import counted

SHOWN = 10  # places
BEFORE, AFTER = 32, 16  # characters of context around a match, at most
NEWLINE = "⏎"  # within a line of context


class ContextLine(NamedTuple):
    """What stands before a line of context, and what its tokens show."""

    label: str
    heading: str
    details: list[Detail]


def similar(
    readings: Sequence[Reading],
    *,
    position: int | None = None,
    span: str | None = None,
    corpus: str | None = None,
    layer: int | None = None,
) -> Sheet:
    """The nearest states to those of a token (the last if not given) or of a span of tokens, such as 3:7, in a file or
    in the text that the run was trained on; by the cosine, of a layer, the last if not given."""
    reading = one(readings, "similar")
    first, last = _span(reading, position, span)
    name = find_layer(reading, layer)
    searched = open_corpus(reading, corpus)
    found = find_places(reading, name, first, last, searched, SHOWN)
    side, length = reading.sides[0], last - first + 1
    words = "".join(side.tokens[first : last + 1])
    sentence = (
        f"“{words}” at {_where(first, last)}: the nearest of {found.tokens:,} tokens of {searched.name}, by {name}. "
        f"The cosine of a place is {number(found.mean)} on average."
    )
    sentence += f" Of what there is to search, {found.left_out}." if found.left_out else ""
    sentence += f" Not shown: {counted(found.same, 'place')} with the same text before." if found.same else ""
    rows = [["place", "match", "times", "cosine"]]
    rows += [
        [_place(place, searched, length), _match(found, place, length), str(place.times), number(place.cosine)]
        for place in found.places
    ]
    columns = _line(side.tokens, first, last, 1.0, ContextLine("span", "the span", []))
    for place in found.places:
        details = [Detail("cosine", max(0.0, place.cosine), number(place.cosine))]
        line = ContextLine(number(place.cosine), _place(place, searched, length), details)
        tokens = found.documents[place.document].tokens
        columns += _line(tokens, place.last + 1 - length, place.last, place.cosine, line)
    return Sheet(
        "similar",
        sentence,
        _data(found, length, {"layer": name, "searched": searched.name, "span": words}),
        "first the span in its text, then the nearest places; the stronger the color, the nearer",
        columns=columns,
        blocks=[TextTable("the nearest places", rows, texts=2)],
    )


def _span(reading: Reading, position: int | None, span: str | None) -> tuple[int, int]:
    """The first and last token, counted from 0."""
    count = len(reading.sides[0].ids)
    if position is not None and span is not None:
        raise UsageError("a position is a span of one token: give --position or --span, not both.")
    if span is None:
        at = count if position is None else position
        first, last = at, at
    else:
        ends = span.split(":")
        if len(ends) != 2 or not all(end.isascii() and end.isdigit() for end in ends):
            raise UsageError(f"'{span}' is no span: give the first and the last token, such as 3:7.")
        first, last = map(int, ends)
    if not 1 <= first <= last <= count:
        given = _where(first - 1, last - 1)
        raise UsageError(f"there is no {given}: give numbers from 1 to {count:,}, the smaller one first.")
    if last - first >= CONTEXT // 2:
        raise UsageError(f"the span has {last - first + 1} tokens: at most {CONTEXT // 2} can be searched for.")
    return first - 1, last - 1


def _where(first: int, last: int) -> str:
    return f"token {first + 1}" if first == last else f"tokens {first + 1} to {last + 1}"


def _place(place: Place, searched: SearchedText, length: int) -> str:
    at = f"token {place.last + 2 - length:,}"
    return at if len(searched.documents) == 1 else f"text {place.document + 1:,}, {at}"


def _match(found: Found, place: Place, length: int) -> str:
    return "".join(found.documents[place.document].tokens[place.last + 1 - length : place.last + 1])


def _context(tokens: Sequence[str], first: int, last: int) -> tuple[list[str], list[str]]:
    """Whole tokens before and after, as many as have room."""
    before, after = _fitting(tokens[first - 1 :: -1] if first else [], BEFORE), _fitting(tokens[last + 1 :], AFTER)
    return before[::-1], after


def _fitting(tokens: Sequence[str], room: int) -> list[str]:
    ends = accumulate(map(len, tokens))
    return [token for token, end in zip(tokens, takewhile(lambda end: end <= room, ends), strict=False)]


def _line(tokens: Sequence[str], first: int, last: int, cosine: float, line: ContextLine) -> list[TokenColumn]:
    """One place in its context; matches begin in the same column."""
    before, after = _context(tokens, first, last)
    label = line.label.rjust(6) + " " * (1 + BEFORE - sum(map(len, before)))
    parts = [(label.replace(" ", "\N{NO-BREAK SPACE}"), 0), *((text, 0) for text in before)]
    parts += [(text, max(1, level(cosine))) for text in tokens[first : last + 1]]
    parts += [(text, 0) for text in after]
    return [
        TokenColumn(text.replace("↵", NEWLINE), shade, [], line.heading, line.details, at == len(parts) - 1)
        for at, (text, shade) in enumerate(parts)
    ]


def _data(found: Found, length: int, about: dict[str, Any]) -> dict[str, Any]:
    places = []
    for place in found.places:
        before, after = _context(found.documents[place.document].tokens, place.last + 1 - length, place.last)
        places.append(
            {
                "text": place.document + 1,
                "token": place.last + 2 - length,
                "cosine": place.cosine,
                "times": place.times,
                "before": "".join(before),
                "match": _match(found, place, length),
                "after": "".join(after),
            }
        )
    about |= {"left_out": found.left_out, "tokens": found.tokens, "mean_cosine": found.mean, "same": found.same}
    return {**about, "places": places}
