"""How tags mark spans such as names, and their conversion to one scheme, BIO.

BIO begins every span with B-. IOB1 writes B- only if a span directly follows another of its type. BIOES also marks the
last word of a span (E-) and spans of one word (S-); in BILOU these are L- and U-. Some files write the letter in lower
case, or after the type, or an underscore between both; where spans are of one type, some write the letter alone.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from seqlab.data.examples.example import UNSCORED

Scheme = Literal["BIO", "IOB1", "BIOES"]
OUTSIDE = "O"
SPAN_TAG = re.compile(r"[A-Z]-.+", re.DOTALL)
SINGLE, LAST = "SU", "EL"  # the letters of BIOES and of BILOU
SPELLINGS = (
    re.compile(r"(?P<letter>[BIESLU])[-_](?P<type>.+)", re.IGNORECASE | re.DOTALL),
    re.compile(r"(?P<type>.+)[-_](?P<letter>[BIESLU])", re.IGNORECASE | re.DOTALL),
)
LETTER = re.compile(r"(?P<letter>[BIESLU])(?P<type>)", re.IGNORECASE)
UNNAMED = "span"  # the type of spans whose tags are letters alone


def detect_scheme(sentences: Iterable[Sequence[str]]) -> Scheme | None:
    """The scheme of the tags of sentences; None if they mark no spans, as parts of speech do.

    Tags that fit neither BIO nor IOB1 count as BIO: a span that begins with I- is a mistake, which `to_bio` repairs."""
    sentences = [tuple(tags) for tags in sentences]
    distinct = {tag for tags in sentences for tag in tags} - {UNSCORED}
    if not distinct or not all(tag == OUTSIDE or SPAN_TAG.fullmatch(tag) for tag in distinct):
        return None
    letters = {tag[0] for tag in distinct - {OUTSIDE}}
    if not letters <= {"B", "I"}:
        return "BIOES" if letters <= set("BIES") or letters <= set("BILU") else None
    if not any(count_repairs(tags, "BIO") for tags in sentences):
        return "BIO"
    only_between = all(_same_type(tags, at) for tags in sentences for at, tag in enumerate(tags) if tag[0] == "B")
    return "IOB1" if only_between else "BIO"


def respell(distinct: Collection[str]) -> dict[str, str]:
    """How BIO spells each tag, if all of them mark spans in another spelling: b-per, B_PER, PER-B or B, o for O."""
    tags = set(distinct) - {UNSCORED}
    has_outside = OUTSIDE in map(str.upper, tags)  # without it, letters alone divide a text into segments
    for spelling in (*SPELLINGS, *([LETTER] if has_outside else [])):
        found = {tag: spelling.fullmatch(tag) for tag in tags if tag.upper() != OUTSIDE}
        spelled = {
            tag: f"{match['letter'].upper()}-{match['type'] or UNNAMED}" for tag, match in found.items() if match
        }
        if spelled and len(spelled) == len(found) and {tag[0] for tag in spelled.values()} & {"B", "I"}:
            new = {**spelled, **{tag: OUTSIDE for tag in tags - spelled.keys()}}
            return {tag: spelled for tag, spelled in sorted(new.items()) if spelled != tag}
    return {}


def non_span_tags(distinct: Collection[str]) -> set[str]:
    """The tags that mark no span in any scheme, if others do."""
    spans = {tag for tag in distinct if SPELLINGS[0].fullmatch(tag)}
    return set(distinct) - spans - {OUTSIDE, UNSCORED} if spans else set()


def to_bio(tags: Sequence[str], scheme: Scheme) -> tuple[str, ...]:
    """The same spans in BIO. A tag that continues a span that never began becomes its beginning."""
    return tuple(
        tag if tag in (OUTSIDE, UNSCORED) else f"{'I' if _is_inside(tags, at, scheme) else 'B'}{tag[1:]}"
        for at, tag in enumerate(tags)
    )


def count_repairs(tags: Sequence[str], scheme: Scheme) -> int:
    """The number of tags that continue a span that never began; IOB1 spans begin like that."""
    if scheme == "IOB1":
        return 0
    return sum(tag[0] in "I" + LAST and not _is_inside(tags, at, scheme) for at, tag in enumerate(tags))


def _is_inside(tags: Sequence[str], at: int, scheme: Scheme) -> bool:
    """Whether the tag continues the span of the word before."""
    closed = scheme == "BIOES" and at > 0 and tags[at - 1][0] in SINGLE + LAST
    return tags[at][0] in "I" + LAST and _same_type(tags, at) and not closed


def _same_type(tags: Sequence[str], at: int) -> bool:
    """Whether the word before is in a span of the same type."""
    return at > 0 and tags[at - 1][1:] == tags[at][1:] != ""
