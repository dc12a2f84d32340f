"""Checks of a text: the splits share nothing, and the vocabulary comes from the training split only."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from seqlab.analysis.overlap import MAX_OVERLAP, measure_overlap
from seqlab.audit.result import check
from seqlab.config import RunSettings
from seqlab.data.text.split import SplitText
from seqlab.data.text.tokens import TokenSplit
from seqlab.registry import TOKENIZERS
from seqlab.tokenization.tokenizer import Tokenizer, chunk_text


@check("vocabulary from the training text only")
def vocabulary(
    tokenizer: Tokenizer, text: SplitText, settings: RunSettings, encoded: Mapping[str, TokenSplit]
) -> tuple[bool, str]:
    """Training the tokenizer again on the training split must give the same vocabulary.

    If it does not, the vocabulary was trained on held-out text too, or comes from another run (--init). A vocabulary of
    another text has tokens that this text never uses; a leak has only tokens of the held-out text."""
    size = f"{tokenizer.vocab_size:,} tokens"
    retrained = _train(text, settings, ["train"])
    if retrained.fingerprint == tokenizer.fingerprint:
        return True, f"{size}, the same when trained again"
    for count in range(2, len(text.splits) + 1):
        if _train(text, settings, text.splits[:count]).fingerprint == tokenizer.fingerprint:
            return False, f"{size}, trained on held-out text too; {retrained.vocab_size:,} without it"
    known = set(retrained.tokens())
    foreign = [token for token, text_of_token in enumerate(tokenizer.tokens()) if text_of_token not in known]
    in_train, in_any = (_occurring(tokenizer, splits) for splits in ([encoded["train"]], encoded.values()))
    unused = sum(not in_any[token] for token in foreign)
    leaked = sum(bool(in_any[token] and not in_train[token]) for token in foreign)
    if leaked and not unused:
        return False, f"{size}, {leaked:,} of them only in held-out text"
    return True, f"{size} of another run: {unused:,} that this text never uses, {leaked:,} only in held-out text"


def _occurring(tokenizer: Tokenizer, splits: Iterable[TokenSplit]) -> np.ndarray:
    """Which tokens occur in these splits (V)."""
    counts = [np.bincount(tokens.read(0, len(tokens)), minlength=tokenizer.vocab_size) for tokens in splits]
    return np.add.reduce(counts) > 0


@check("the splits do not overlap")
def split_overlap(text: SplitText) -> tuple[bool, str]:
    """The splits cover the text, each position once, and repeat little of the training text."""
    whole = SplitText(text.corpus, text.settings.model_copy(update={"split_ratios": "whole"}), text.stats)
    if _checksum(text, text.splits) != _checksum(whole, whole.splits):
        return False, "the splits joined are not the text: some of it is in two splits, or in none"
    overlaps = {split: measure_overlap(text, split) for split in text.splits if split != "train"}
    counts = ", ".join(
        f"{split}: {overlap.repeated:,} of {overlap.checked:,} {overlap.unit} ({overlap.share:.1%})"
        for split, overlap in overlaps.items()
    )
    passed = all(overlap.share < MAX_OVERLAP for overlap in overlaps.values())
    return passed, f"{counts} also in the training split (allowed: less than {MAX_OVERLAP:.0%})"


def _train(text: SplitText, settings: RunSettings, splits: Sequence[str]) -> Tokenizer:
    """Does not call the function that training calls, which would repeat its mistakes."""
    if text.by_lines:
        chunks = (line for split in splits for line in text.lines(split))
    else:
        chunks = chunk_text(block for split in splits for block in text.blocks(split))
    return TOKENIZERS.load(settings.tokenizer.name).train(chunks, settings.tokenizer.settings, text.by_lines)


def _checksum(text: SplitText, splits: Sequence[str]) -> str | int:
    """Equal for equal texts; with lines, independent of their order."""
    if text.by_lines:
        return sum(hash(line) for split in splits for line in text.lines(split))
    digest = hashlib.sha256()
    for split in splits:
        for block in text.blocks(split):
            digest.update(block.encode())
    return digest.hexdigest()
