"""Checks of the text: that its parts share nothing, and that the vocabulary knows the training part only."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from seqlab.analysis.overlap import REMEMBERING_PAYS, overlap
from seqlab.audit.result import check
from seqlab.config import RunSettings
from seqlab.data.text.split import SplitText
from seqlab.data.text.tokens import TokenSplit
from seqlab.registry import TOKENIZERS
from seqlab.tokenization.tokenizer import Tokenizer, chunk_text


@check("vocabulary from the training text only")
def vocabulary(
    tokenizer: Tokenizer, split: SplitText, settings: RunSettings, parts: Mapping[str, TokenSplit]
) -> tuple[bool, str]:
    """Learnt again from the training part, it must be the same.

    If it is not, it was learnt from held-out text too, or taken over from another run (--init). What another text gave
    has symbols that this one never uses, or none that only the held-out text does; a leak has the latter alone."""
    size = f"{tokenizer.vocab_size:,} symbols"
    own = _learn(split, settings, ["train"])
    if own.fingerprint == tokenizer.fingerprint:
        return True, f"{size}, the same when learnt again"
    for count in range(2, len(split.splits) + 1):
        if _learn(split, settings, split.splits[:count]).fingerprint == tokenizer.fingerprint:
            return False, f"{size}, {own.vocab_size:,} without the held-out text that they were learnt from too"
    known = set(own.tokens())
    foreign = [number for number, symbol in enumerate(tokenizer.tokens()) if symbol not in known]
    in_train, in_any = (_used(tokenizer, chosen) for chosen in ([parts["train"]], parts.values()))
    unused = sum(not in_any[number] for number in foreign)
    leaked = sum(bool(in_any[number] and not in_train[number]) for number in foreign)
    if leaked and not unused:
        return False, f"{size}, {leaked:,} of them only in held-out text"
    return True, f"{size} of another run: {unused:,} that this text never uses, {leaked:,} only in held-out text"


def _used(tokenizer: Tokenizer, parts: Iterable[TokenSplit]) -> np.ndarray:
    """Which symbols occur in these parts."""
    return np.add.reduce([np.bincount(part.read(0, len(part)), minlength=tokenizer.vocab_size) for part in parts]) > 0


@check("the splits do not overlap")
def overlap_of_splits(split: SplitText) -> tuple[bool, str]:
    """The parts are the whole text, each position once, and little held-out text stands in the training part too."""
    whole = SplitText(split.corpus, split.settings.model_copy(update={"split_ratios": "whole"}), split.stats)
    if _sum_of(split, split.splits) != _sum_of(whole, whole.splits):
        return False, "the parts put together are not the text: some of it stands in two of them, or in none"
    found = {part: overlap(split, part) for part in split.splits if part != "train"}
    words = [f"{one.found:,} of {one.asked:,} {one.unit} ({one.share:.1%})" for one in found.values()]
    counted = ", ".join(f"{part}: {number}" for part, number in zip(found, words, strict=True))
    passed = all(one.share < REMEMBERING_PAYS for one in found.values())
    return passed, f"{counted} in the training part too (allowed less than {REMEMBERING_PAYS:.0%})"


def _learn(split: SplitText, settings: RunSettings, parts: Sequence[str]) -> Tokenizer:
    """Not by the function that training calls: a mistake in that would be made twice."""
    if split.by_lines:
        pieces = (line for part in parts for line in split.lines(part))
    else:
        pieces = chunk_text(block for part in parts for block in split.blocks(part))
    return TOKENIZERS.load(settings.tokenizer.name).train(pieces, settings.tokenizer.settings, split.by_lines)


def _sum_of(split: SplitText, parts: Sequence[str]) -> str | int:
    """Equal for equal texts; of lines, whatever their order."""
    if split.by_lines:
        return sum(hash(line) for part in parts for line in split.lines(part))
    digest = hashlib.sha256()
    for part in parts:
        for block in split.blocks(part):
            digest.update(block.encode())
    return digest.hexdigest()
