"""Checks of a text: the splits share nothing, and the vocabulary comes from the training split only."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from seqlab.audit.origins import vocabulary_origin
from seqlab.audit.result import check
from seqlab.config import RunSettings
from seqlab.data.corpora.large_text import LargeText
from seqlab.data.near_copies import near_copies
from seqlab.data.overlap import MAX_OVERLAP, Overlap, measure_overlap
from seqlab.data.text.given_splits import GivenSplits
from seqlab.data.text.scatter import MAX_GAP
from seqlab.data.text.split import SplitText, compared_splits, slice_ranges
from seqlab.mixing.gram_table import GramTable
from seqlab.registry import TOKENIZERS
from seqlab.runs.run import Run
from seqlab.tasks.dataset import TextDataset
from seqlab.tasks.mixing import count_split
from seqlab.tokenization.tokenizer import Tokenizer, chunk_text


@check("vocabulary from the training text only")
def vocabulary(run: Run, text: SplitText) -> tuple[bool, str]:
    """Training the tokenizer again on the training split must give the same vocabulary, or that of the run that
    config.json names as its origin."""
    tokenizer = run.tokenizer
    size = f"{tokenizer.vocab_size:,} tokens"
    retrained = _train(text, run.settings, ["train"])
    if retrained.fingerprint == tokenizer.fingerprint:
        return True, f"{size}, the same when trained again"
    if (origin := vocabulary_origin(run)) is not None:
        return True, f"{size}, those of '{origin}'"
    foreign = len(set(tokenizer.tokens()) - set(retrained.tokens()))
    if _train(text, run.settings, text.splits).fingerprint == tokenizer.fingerprint:
        return False, f"{size}, trained on held-out text too: {foreign:,} of them are not in the training split's"
    return False, f"{size}, and {foreign:,} of them are not in the training split's, nor of a run in config.json"


@check("counts of the training text only")
def counts(run: Run, dataset: TextDataset) -> tuple[bool, str]:
    """Counting the training split again must give the same table."""
    table, max_bytes = run.model.mixture.table, int(run.settings.task.settings.option("mix_size", 0) * 1e6)
    recounted = count_split(dataset.splits["train"], run.model.vocab_size, table.order)
    same = all(map(np.array_equal, table.grams, GramTable.from_counts(recounted, max_bytes).grams))
    size = f"{len(table.grams.tokens_G):,} grams of up to {table.order} tokens"
    return same, f"{size}, {'the same' if same else 'others'} when counted again"


@check("the splits do not overlap")
def split_overlap(text: SplitText) -> tuple[bool, str]:
    """The splits cover the text, each position once, and repeat little of the training text."""
    texts = text.texts.values() if isinstance(text, GivenSplits) else [text]
    scattered = [part for part in texts if part.scattering is not None]
    if any(map(_misplaced, scattered)):
        return False, "the splits are not the text without its gaps: some of it is in two splits, or in none"
    if isinstance(text, LargeText) and not _covers(text):
        return False, "the splits together are not the documents of the text: some are in two splits, or in none"
    whole = [SplitText(part.corpus, part.settings, part.stats, is_whole=True) for part in texts]
    joined, complete = ((text, split) for split in text.splits), ((part, "whole") for part in whole)
    if not scattered and not isinstance(text, LargeText) and _checksum(joined) != _checksum(complete):
        return False, "the splits joined are not the text: some of it is in two splits, or in none"
    pairs = compared_splits(text.splits)
    return judge_splits({(split, earlier): measure_overlap(text, split, earlier=earlier) for split, earlier in pairs})


@check("held-out data is not copied with small changes")
def near_copied(text: SplitText) -> tuple[bool | None, str]:
    """Pieces or lines of the held-out splits that are nearly those of the training split."""
    return judge_copies({split: near_copies(text, split) for split in text.splits if split != "train"})


def judge_copies(overlaps: Mapping[str, Overlap]) -> tuple[bool | None, str]:
    """Whether few enough of the held-out pieces are near copies, and their counts."""
    if not any(overlap.checked for overlap in overlaps.values()):
        return None, "the held-out data is too short to tell a copy from a coincidence"
    return judge_overlaps(overlaps, "are near copies of training data")


def judge_splits(overlaps: Mapping[tuple[str, str], Overlap]) -> tuple[bool, str]:
    """Whether few enough of each held-out split are in the splits before it, and the counts."""
    judged: list[tuple[bool, str]] = []
    for earlier, name in (("train", "training"), ("validation", "validation")):
        some = {split: overlap for (split, other), overlap in overlaps.items() if other == earlier}
        judged += [judge_overlaps(some, f"also in the {name} split")] if some else []
    return all(passed for passed, _ in judged), "; ".join(detail for _, detail in judged)


def judge_overlaps(overlaps: Mapping[str, Overlap], what: str) -> tuple[bool, str]:
    """Whether few enough of each held-out split `what`, and the counts."""
    counts = ", ".join(
        f"{split}: {overlap.repeated:,} of {overlap.checked:,} {overlap.unit} ({overlap.share:.1%})"
        for split, overlap in overlaps.items()
    )
    passed = all(overlap.share < MAX_OVERLAP for overlap in overlaps.values())
    return passed, f"{counts} {what} (allowed: less than {MAX_OVERLAP:.0%})"


def _train(text: SplitText, settings: RunSettings, splits: Sequence[str]) -> Tokenizer:
    """Does not call the function that training calls, which would repeat its mistakes."""
    if isinstance(text, LargeText):  # it learns from a sample of each
        chunks = (chunk for split in splits for document in text.sampled(split) for chunk in chunk_text([document]))
    elif text.by_lines:
        chunks = (line for split in splits for line in text.lines(split))
    else:
        chunks = (chunk for split in splits for segment in text.segments(split) for chunk in chunk_text(segment))
    return TOKENIZERS.load(settings.tokenizer.name).train(chunks, settings.tokenizer.settings, text.by_lines)


def _covers(text: LargeText) -> bool:
    """Whether each document is in one split; sums of hashes do not depend on the order."""
    hashes = [np.unique(np.fromiter(map(hash, text.lines(split)), np.int64)) for split in text.splits]
    apart = len(np.unique(np.concatenate(hashes))) == sum(map(len, hashes))
    joined = sum(hash(document) for split in text.splits for document in text.lines(split))
    return apart and joined == sum(map(hash, text.corpus.blocks()))


def _misplaced(text: SplitText) -> bool:
    """Whether scattered segments overlap, miss text that is in no gap, or are not the text where they should be."""
    places = sorted((first, last, split) for split in text.splits for first, last in text.ranges(split))
    position = unused = 0
    for first, last, _ in places:
        if first < position or last <= first or first - position > MAX_GAP:
            return True
        unused, position = unused + first - position, last
    if position != text.stats.characters or unused != text.facts()["unused_characters"]:
        return True
    expected = {split: hashlib.sha256() for split in text.splits}
    for number, block in slice_ranges(text.corpus.blocks(), [(first, last) for first, last, _ in places]):
        expected[places[number][2]].update(block.encode())
    return any(_checksum([(text, split)]) != f"{digest.hexdigest()} 0" for split, digest in expected.items())


def _checksum(splits: Iterable[tuple[SplitText, str]]) -> str:
    """Equal for equal texts; with lines, independent of their order."""
    digest, lines = hashlib.sha256(), 0
    for text, split in splits:
        if text.by_lines:
            lines += sum(map(hash, text.lines(split)))
        else:
            for block in text.blocks(split):
                digest.update(block.encode())
    return f"{digest.hexdigest()} {lines}"
