"""The words of a passage that a query is found by, and the part of the passage to show."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from seqlab.baselines.terms import Terms, plain_form, word_spans

SHOWN = 320  # characters
SPACE = re.compile(r"\s")
MATTERS = 0.1  # of the largest share of the score: smaller ones, as of 'the', are not marked


@dataclass(frozen=True)
class Snippet:
    """A part of a passage; `marked` are the places of words in it, start and end."""

    text: str
    marked: tuple[tuple[int, int], ...]


def snippet(text: str, parts: Mapping[str, float], terms: Terms) -> Snippet:
    """The part with the words that matter most. `parts`: what each stem of the query adds to the score."""
    least = MATTERS * max(parts.values(), default=0.0)
    words = [((start, end), plain_form(text[start:end])) for start, end in word_spans(text)]
    stems = terms.stems_of([word for _, word in words])
    found = [(span, stem) for (span, _), stem in zip(words, stems, strict=True) if parts.get(stem, 0.0) > least]
    start = _best_start(text, found, parts)
    end = len(text) if len(text) - start <= SHOWN else start + SHOWN
    while end < len(text) and end > start + SHOWN // 2 and not text[end - 1].isspace():
        end -= 1
    shown = re.sub(r"\s", " ", text[start:end])  # of equal length, so that places stay
    marked = [(low - start, high - start) for (low, high), _ in found if start <= low and high <= end]
    before, after = "… " if start else "", " …" if end < len(text) else ""
    places = tuple((low + len(before), high + len(before)) for low, high in marked)
    return Snippet(f"{before}{shown}{after}", places)


def _best_start(text: str, found: list[tuple[tuple[int, int], str]], parts: Mapping[str, float]) -> int:
    """Where a window begins that has the most of the score, each stem counted once; a little before its first word."""
    best, start = 0.0, 0
    for place, ((low, _), _) in enumerate(found):
        inside = {stem for (_, high), stem in found[place:] if high <= low + SHOWN - SHOWN // 8}
        score = sum(parts[stem] for stem in inside)
        if score > best + 1e-9:
            best, start = score, low
    start = max(0, min(start - SHOWN // 8, len(text) - SHOWN))
    if start == 0 or text[start - 1].isspace():
        return start
    boundary = SPACE.search(text, start, start + SHOWN // 8)  # the next word, if that is near
    return boundary.end() if boundary else start
