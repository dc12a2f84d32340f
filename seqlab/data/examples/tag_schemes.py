"""How tags mark spans, such as names, and one way to read them all: BIO.

BIO begins every span with B-. IOB1 writes B- only where a span follows another of its type directly. BIOES marks the
last word of a span (E-) and spans of one word (S-), too; written BILOU, these are L- and U-.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from seqlab.data.examples.example import UNSCORED

Scheme = Literal["BIO", "IOB1", "BIOES"]
OUTSIDE = "O"
SPAN_TAG = re.compile(r"[A-Z]-.+", re.DOTALL)
SINGLE, LAST = "SU", "EL"  # the letters of BIOES and of BILOU


def find_scheme(sequences: Iterable[Sequence[str]]) -> Scheme | None:
    """The scheme of the tags of sentences; None where they mark no spans, such as parts of speech.

    Tags that fit neither BIO nor IOB1 are BIO: a span that begins with I- there is a slip, which `to_bio` repairs."""
    sequences = [tuple(tags) for tags in sequences]
    kinds = {tag for tags in sequences for tag in tags} - {UNSCORED}
    if not kinds or not all(tag == OUTSIDE or SPAN_TAG.fullmatch(tag) for tag in kinds):
        return None
    letters = {tag[0] for tag in kinds - {OUTSIDE}}
    if not letters <= {"B", "I"}:
        return "BIOES" if letters <= set("BIES") or letters <= set("BILU") else None
    if not any(repairs(tags, "BIO") for tags in sequences):
        return "BIO"
    only_between = all(_goes_on(tags, place) for tags in sequences for place, tag in enumerate(tags) if tag[0] == "B")
    return "IOB1" if only_between else "BIO"


def strange_tags(kinds: Collection[str]) -> set[str]:
    """Those that mark no span in any scheme, where others do."""
    spans = {tag for tag in kinds if SPAN_TAG.fullmatch(tag) and tag[0] in "BI" + SINGLE + LAST}
    return set(kinds) - spans - {OUTSIDE, UNSCORED} if spans else set()


def to_bio(tags: Sequence[str], scheme: Scheme) -> tuple[str, ...]:
    """The same spans in BIO. What goes on with a span that never began is read as its beginning."""
    return tuple(
        tag if tag in (OUTSIDE, UNSCORED) else f"{'I' if _is_inside(tags, place, scheme) else 'B'}{tag[1:]}"
        for place, tag in enumerate(tags)
    )


def repairs(tags: Sequence[str], scheme: Scheme) -> int:
    """How many tags go on with a span that never began; in IOB1 that is how spans begin."""
    if scheme == "IOB1":
        return 0
    return sum(tag[0] in "I" + LAST and not _is_inside(tags, place, scheme) for place, tag in enumerate(tags))


def _is_inside(tags: Sequence[str], place: int, scheme: Scheme) -> bool:
    """Whether the tag goes on with the span of the word before."""
    closed = scheme == "BIOES" and place > 0 and tags[place - 1][0] in SINGLE + LAST
    return tags[place][0] in "I" + LAST and _goes_on(tags, place) and not closed


def _goes_on(tags: Sequence[str], place: int) -> bool:
    """Whether the word before is in a span of the same type."""
    return place > 0 and tags[place - 1][1:] == tags[place][1:] != ""
