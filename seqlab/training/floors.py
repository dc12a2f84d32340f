"""What counting reaches on a held-out part, in the same tokens as the models. Measured once for each text."""

import json
from dataclasses import asdict

from pydantic import TypeAdapter, ValidationError

from seqlab import __version__
from seqlab.baselines.floors import Floor, floors
from seqlab.cache import cache_directory
from seqlab.data.splits import SplitText
from seqlab.data.tokens import TokenPart, cache_key, identity
from seqlab.runs.results import FloorResult, floor_result
from seqlab.runs.storage import write_whole
from seqlab.text.tokenizer import Tokenizer

FLOOR_TOKENS = 4_000_000  # a longer text would take minutes to count
# of a long training text the floors look at the end
MOST_TOKENS = 40_000_000
MOST_CHARACTERS = 80_000_000


def measure_floors(split: SplitText, parts: dict[str, TokenPart], tokenizer: Tokenizer) -> list[FloorResult]:
    """The floors on the validation part; none where it is too long to count in reasonable time."""
    if len(parts["train"]) > FLOOR_TOKENS:
        return []
    kept = cache_directory("floors") / f"{cache_key(__version__, *identity(split, tokenizer))}.json"
    try:
        return TypeAdapter(list[FloorResult]).validate_json(kept.read_bytes())
    except (OSError, ValidationError):
        pass  # not measured yet, or written by another hand
    facts = parts["validation"].facts
    found = [
        floor_result(one.name, one.about, one.nats, (one.tokens, facts.scored_characters, facts.scored_bytes))
        for one in floors_on("validation", split, parts, tokenizer)
    ]
    write_whole(kept, json.dumps([asdict(one) for one in found]).encode())
    return found


def floors_on(
    part: str, split: SplitText, parts: dict[str, TokenPart], tokenizer: Tokenizer, tokens: int | None = None
) -> list[Floor]:
    """The floors on any part, learnt from the training part; with `tokens`, on the first so many of a stream."""
    train, held_out = parts["train"], parts[part]
    last = len(held_out) if tokens is None else min(len(held_out), tokens + 1)  # the first is context only
    documented = train.facts.documents > 1
    first = 0 if documented else max(0, len(train) - MOST_TOKENS)
    return floors(
        train.read(first, len(train)),
        held_out.read(0, last),
        tokenizer.vocabulary,
        split.ending("train", MOST_CHARACTERS).encode(),
        split.text(part, round(held_out.facts.characters * last / len(held_out))).encode(),
        train.starts()[:-1] if documented else None,
        held_out.starts()[:-1] if documented else None,
    )
