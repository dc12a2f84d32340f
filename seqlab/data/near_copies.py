"""Held-out text that is copied from the training split with small changes, which a comparison word for word misses.

A piece of held-out text is a near copy if many of its character n-grams occur together in one place of the training
split. Natural language repeats phrases too, but from many places: MIN_SHARE is calibrated on real text.
"""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from seqlab.data.alike import same_form
from seqlab.data.examples.example import Example
from seqlab.data.file_names import shorten
from seqlab.data.overlap import LITTLE, Overlap, hashes
from seqlab.data.text.split import TESTED_TWICE, SplitText, compared_splits

PIECE = 128  # characters of a piece of running text
PLACE = 2 * PIECE  # characters of a place in the training text; places overlap by half
MAX_PIECES = 2_000  # of a long held-out split, evenly spaced
MAX_NOTED = 500  # held-out inputs that training compares, evenly spaced: the audit compares more
MAX_KNOWN = 2_000_000  # characters of the inputs that training compares these with, evenly spaced
LONGEST = 1_000  # characters of an example that are compared
SHORTEST = 20  # characters of an example or line: "Thanks!" and "thanks." are a coincidence
AT_ONCE = 1 << 12  # places
FREQUENT = 1 / 64  # the share of them beyond which an n-gram tells little about which are alike
FIRST_REPEATS = 8  # places that it finds all the same: where all n-grams are frequent, as in forms, any will do
FILTER_BITS = 22
# what a repost changes: addresses, names of users, and the mark of a retweet
ADDRESSES = re.compile(r"\b(?:https?://|www\.)\S+|(?<![\w.])@\w+:?|^\s*RT(?=\s+@)", re.IGNORECASE)
ODD = 0x9E3779B97F4A7C15  # makes one number of 64 bits from an n-gram and its text


@dataclass(frozen=True)
class Similarity:
    """n-grams of `gram` characters, of which a near copy shares so many with one place."""

    gram: int  # a power of two
    min_share: float  # without those that are frequent
    min_share_of_all: float
    shortest: int  # characters; shorter pieces are not compared


# Near copies in honest data: Tiny Shakespeare 0.0%, Multi30k as running text 0.2% (en) and 1.2% (de); of sentences,
# Multi30k 1.2% (en) and 1.8% (de), UD-EWT 1.2%, SST and WNUT17 0.0%. Of copies with one character in 30 changed, at
# least 97% of the pieces and 68% of the sentences are found; of text in upper case, all.
NOTABLE = 0.02  # from this share on, training says so
RUNNING_TEXT = Similarity(16, 0.25, 0.4, PIECE)
SENTENCES = Similarity(8, 0.6, 0.75, 40)


def near_copies(text: SplitText, split: str, training: SplitText | None = None) -> Overlap:
    """How many pieces or lines of a split are near copies of the training split, its own or that of another text."""
    training = training or text
    if text.by_lines:
        return near_copied_sentences(list(text.lines(split)), training.lines("train"), "lines")
    pieces = _spaced_pieces(text, split)
    places = chain.from_iterable(_cut(_lower(segment), PLACE, PIECE) for segment in training.segments("train"))
    return _count(pieces, places, RUNNING_TEXT, f"pieces of {PIECE} characters, without case")


def _spaced_pieces(text: SplitText, split: str) -> list[str]:
    """Pieces of a split, evenly spaced over it; only these are in memory."""

    def pieces() -> Iterator[str]:
        cut = (piece for segment in text.segments(split) for piece in _cut(_lower(segment), PIECE, PIECE))
        return (piece for piece in cut if len(piece) >= RUNNING_TEXT.shortest)

    return [*islice(pieces(), 0, None, -(-sum(1 for _ in pieces()) // MAX_PIECES) or 1)]


def near_copied_examples(examples: Sequence[Example], training: Sequence[Example]) -> Overlap:
    """How many inputs are near copies of an input of the training examples."""
    inputs, known = ([example.input for example in some] for some in (examples, training))
    return near_copied_sentences(inputs, known, "inputs")


def reworded_notes(splits: Mapping[str, Sequence[Example]]) -> list[str]:
    """For the log: held-out inputs that differ from an earlier split's in punctuation or addresses only, and those with
    other small changes, if they are more than a few. Alike ones have notes of their own, from where they are read."""
    words = {split: [_words(example.input) for example in examples] for split, examples in splits.items()}
    notes: list[str] = []
    for split, earlier in compared_splits(splits):
        of = "a training input" if earlier == "train" else f"a {earlier} input"
        for overlap, how, first in (
            _reworded(words[split], words[earlier], splits[split], splits[earlier], of),
            _changed(words[split], words[earlier], splits[split], of),
        ):
            if first:
                so = overlap.verdict if earlier == "train" else TESTED_TWICE
                counts = f"{overlap.repeated:,} of {overlap.checked:,} {overlap.unit} ({overlap.share:.1%})"
                notes.append(f"{split}: {counts} {how}, such as '{shorten(first, 60)}': {so}")
    return notes


class Noted(NamedTuple):
    """How many inputs are nearly those of another split, in what way, and the first; none if they are few."""

    overlap: Overlap
    how: str
    first: str | None


def _reworded(
    words: Sequence[str], others: Sequence[str], examples: Sequence[Example], earlier: Sequence[Example], of: str
) -> Noted:
    known, alike = set(others), {same_form(example.input) for example in earlier}
    pairs = zip(words, examples, strict=True)
    found = [example.input for plain, example in pairs if plain and plain in known]
    found = [text for text in found if same_form(text) not in alike]
    overlap = Overlap("inputs", len(examples), len(found))
    how = f"differ from {of} only in case, punctuation, addresses or user names"
    return Noted(overlap, how, found[0] if found and overlap.share >= LITTLE else None)


def _changed(words: Sequence[str], others: Sequence[str], examples: Sequence[Example], of: str) -> Noted:
    """Those of other words; of many inputs, some are compared with some."""
    long = [at for at, plain in enumerate(words) if len(plain) >= SENTENCES.shortest]
    compared = long[:: -(-len(long) // MAX_NOTED) or 1]
    known = set(others)
    new = [at for at in compared if words[at] not in known]
    beginnings = [text[:LONGEST] for text in others]
    places = beginnings[:: -(-sum(map(len, beginnings)) // MAX_KNOWN) or 1]
    near_N = _are_near([words[at][:LONGEST] for at in new], places, SENTENCES) if new else np.empty(0)
    found = [at for at, near in zip(new, near_N, strict=True) if near]
    overlap = Overlap(f"inputs of {SENTENCES.shortest} characters or more", len(compared), len(found))
    part = f" among {len(places):,} of {len(others):,}" if len(places) < len(others) else ""
    how = f"are near copies of {of}{part} (seqlab audit compares more of them)"
    return Noted(overlap, how, examples[found[0]].input if found and overlap.share >= NOTABLE else None)


def _words(text: str) -> str:
    """All words, but none of a short text."""
    bare = _without_addresses(text)
    return _plain(bare) if len(bare) >= SHORTEST else ""


def near_copied_sentences(sentences: Sequence[str], training: Iterable[str], unit: str) -> Overlap:
    """Without case, punctuation and addresses. Short ones have too few n-grams: they are copies if they are equal."""
    bare = [text for sentence in sentences if len(text := _without_addresses(sentence)) >= SHORTEST]
    bare = bare[:: -(-len(bare) // MAX_PIECES) or 1]
    compared = [_plain(text[:LONGEST]) for text in bare]
    counts, equal = Counter(compared), set[str]()

    def places() -> Iterator[str]:
        for sentence in training:
            plain = _plain(_without_addresses(sentence)[:LONGEST])
            if plain in counts:
                equal.add(plain)
            yield plain

    long = [plain for plain in compared if len(plain) >= SENTENCES.shortest]
    remaining = places()
    near_N = _are_near(long, remaining, SENTENCES) if long else np.empty(0)
    deque(remaining, maxlen=0)
    near = sum(bool(is_near) for plain, is_near in zip(long, near_N, strict=True) if plain not in equal)
    found = sum(counts[plain] for plain in equal) + int(near)
    short = len(compared) - len(long)
    about = f" of {SHORTEST} characters or more, without case, punctuation and addresses"
    about += f" ({short:,} under {SENTENCES.shortest}: only equal ones)" if short else ""
    longer = sum(len(text) > LONGEST for text in bare)
    about += f" ({longer:,} over {LONGEST:,}: their beginning)" if longer else ""
    return Overlap(f"{unit}{about}", len(compared), found)


def _without_addresses(sentence: str) -> str:
    return ADDRESSES.sub(" ", sentence).strip()


def _plain(sentence: str) -> str:
    """Its words in lower case; all of it where letters are few, as in numbers or formulas."""
    same = same_form(sentence)
    words, whole = re.findall(r"[^\W_]+", same), same.split()
    letters, characters = sum(map(str.isalpha, same)), sum(map(len, whole))
    return " ".join(words if 2 * letters >= characters else whole)


def _lower(blocks: Iterable[str]) -> Iterator[str]:
    return map(str.casefold, blocks)


def _cut(blocks: Iterable[str], length: int, stride: int) -> Iterator[str]:
    """The text in pieces of this length, one at every `stride` characters; a short rest at the end is one too."""
    rest = ""
    for block in blocks:
        rest += block
        first = 0
        while len(rest) - first >= length:
            yield rest[first : first + length]
            first += stride
        rest = rest[first:]
    if rest:
        yield rest


def _count(pieces: Sequence[str], places: Iterable[str], similarity: Similarity, unit: str) -> Overlap:
    compared = [piece for piece in pieces if len(piece) >= similarity.shortest]
    compared = compared[:: -(-len(compared) // MAX_PIECES) or 1]
    if not compared:
        return Overlap(unit, 0, 0)
    return Overlap(unit, len(compared), int(_are_near(compared, places, similarity).sum()))


def _are_near(pieces: Sequence[str], places: Iterable[str], similarity: Similarity) -> np.ndarray:
    """Whether one place has so large a share of the distinct n-grams of a piece.

    Of the places compared at once, the one that shares most n-grams that are not frequent is compared with all."""
    prefixes = np.ones(2**FILTER_BITS, bool)
    grams_M, piece_M = _grams(pieces, similarity.gram, prefixes)
    order = np.argsort(grams_M, kind="stable")
    grams_M, piece_M = grams_M[order], piece_M[order]
    sizes_N = np.maximum(1, np.bincount(piece_M, minlength=len(pieces)))
    prefixes[:] = False
    prefixes[grams_M >> (64 - FILTER_BITS)] = True
    near_N = np.zeros(len(pieces), bool)
    remaining = iter(places)
    while len(grams_M) and (some := list(islice(remaining, AT_ONCE))):
        there_K, place_K = _grams(some, similarity.gram, prefixes)
        most = max(FIRST_REPEATS, round(FREQUENT * len(some)))
        piece_C, place_C, rare_C = _most_alike(grams_M, piece_M, there_K, place_K, most)
        near_N[piece_C] |= rare_C >= similarity.min_share * sizes_N[piece_C]
        place_N = np.full(len(pieces), AT_ONCE)  # no place
        place_N[piece_C] = place_C
        known_M = np.isin(_keyed(grams_M, place_N[piece_M]), _keyed(there_K, place_K))
        near_N |= np.bincount(piece_M[known_M], minlength=len(pieces)) >= similarity.min_share_of_all * sizes_N
        open_M = ~near_N[piece_M]
        grams_M, piece_M = grams_M[open_M], piece_M[open_M]
    return near_N


def _most_alike(
    grams_M: np.ndarray, piece_M: np.ndarray, there_K: np.ndarray, place_K: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pieces, for each the place that shares most of its n-grams, and how many of them at `most` so many places
    have; grams_M is sorted."""
    order_K = np.lexsort((place_K, there_K))
    there_K, place_K = there_K[order_K], place_K[order_K]
    _, first, group_K, counts = np.unique(there_K, return_index=True, return_inverse=True, return_counts=True)
    rank_K = np.arange(len(there_K)) - first[group_K]
    rare_K = counts[group_K] <= most
    meets_K = rare_K | (rank_K < FIRST_REPEATS)
    there_K, place_K, rare_K = there_K[meets_K], place_K[meets_K], rare_K[meets_K]
    first_K, last_K = (np.searchsorted(grams_M, there_K, side) for side in ("left", "right"))
    pairs_K = last_K - first_K  # every n-gram of the place meets those of the pieces
    at = np.repeat(first_K, pairs_K) + np.arange(pairs_K.sum()) - np.repeat(np.cumsum(pairs_K) - pairs_K, pairs_K)
    met = piece_M[at] * AT_ONCE + np.repeat(place_K, pairs_K)
    keys, key_of, shared = np.unique(met, return_inverse=True, return_counts=True)
    rare = np.bincount(key_of, weights=np.repeat(rare_K, pairs_K), minlength=len(keys))
    best = np.lexsort((shared, keys // AT_ONCE))  # the last of each piece
    pieces = keys[best] // AT_ONCE
    is_last = np.append(pieces[1:] != pieces[:-1], np.ones(min(1, len(pieces)), bool))
    return pieces[is_last], keys[best][is_last] % AT_ONCE, rare[best][is_last]


def _keyed(grams: np.ndarray, text: np.ndarray) -> np.ndarray:
    """One number for an n-gram and its text."""
    return grams + text.astype(np.uint64) * np.uint64(ODD)


def _grams(texts: Sequence[str], gram: int, prefixes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The hashes of the distinct n-grams of each text that may be asked for, by their first bits, and the number of the
    text that each is from."""
    lengths_N = np.array([len(text) for text in texts])
    found = list(hashes(["".join(texts)], gram))
    if not found:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    hashes_C = np.concatenate(found)
    text_C = np.repeat(np.arange(len(texts)), lengths_N)
    inside_C = text_C[: len(hashes_C)] == text_C[gram - 1 :][: len(hashes_C)]  # within one text
    inside_C &= prefixes[hashes_C >> (64 - FILTER_BITS)]
    hashes_C, text_C = hashes_C[inside_C], text_C[: len(hashes_C)][inside_C]
    _, first = np.unique(_keyed(hashes_C, text_C), return_index=True)
    return hashes_C[first], text_C[first]
