"""How much held-out text the training text repeats word for word: a model can simply memorize that much.

A stream is compared by windows that lie end to end in the held-out split and are searched at every position of the
training split, by hashes of 64 bits. Documents are compared line by line.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from seqlab.data.alike import same_form
from seqlab.data.examples.example import Example
from seqlab.data.files import split_lines
from seqlab.data.text.split import MAX_CHECKED, TESTED_TWICE, SplitText, compared_splits, repeated_lines

WINDOW = 32  # characters, a power of two
LONG_LINE = 20  # characters: shorter ones, such as "Thanks!", may be equal by chance
CHUNK = 1 << 16  # characters hashed at once: the intermediate arrays stay in the processor's cache
FILTER_BITS = 20
LITTLE = 0.01  # natural text repeats phrases
MAX_OVERLAP = 0.1  # beyond this share, a model that memorizes looks better than it is
FACTORS = (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)  # odd, and otherwise arbitrary


@dataclass(frozen=True)
class Overlap:
    """How many of the held-out windows or lines occur in the training split too."""

    unit: str
    checked: int
    repeated: int

    @property
    def share(self) -> float:
        return self.repeated / self.checked if self.checked else 0.0

    def __str__(self) -> str:
        if not self.checked:
            return "The held-out split is too short to compare with the training split."
        counts = f"{self.repeated:,} of {self.checked:,} held-out {self.unit} ({self.share:.1%})"
        return f"{counts} also occur in the training split: {self.verdict}."

    @property
    def verdict(self) -> str:
        if not self.repeated:
            return "held-out text is new"
        if self.share < LITTLE:
            return "hardly any, so held-out text is new"
        if self.share < MAX_OVERLAP:
            return "some, so held-out text may look slightly easier than new text is"
        return "so many that memorizing pays off; new text will be harder"


def overlap_notes(text: SplitText) -> list[str]:
    """For the log: how much of each held-out split of a stream an earlier split has too, if it is more than a little.

    Repeated lines of documents have notes of their own (split.py)."""
    pairs = [] if text.by_lines else compared_splits(text.splits)
    overlaps = {(split, earlier): measure_overlap(text, split, earlier=earlier) for split, earlier in pairs}
    return [
        f"{split}: {overlap.repeated:,} of {overlap.checked:,} {overlap.unit} ({overlap.share:.1%}) also occur in the "
        + (f"training split: {overlap.verdict}" if earlier == "train" else f"{earlier} split: {TESTED_TWICE}")
        for (split, earlier), overlap in overlaps.items()
        if overlap.share >= LITTLE
    ]


def measure_overlap(
    text: SplitText, split: str = "validation", training: SplitText | None = None, earlier: str = "train"
) -> Overlap:
    """Compare a split with all of the training split, its own or that of another text, or with another split of it."""
    compare = _compare_lines if text.by_lines else _compare_windows
    return compare(text, split, training or text, earlier)


def known_lines(text: SplitText, training: SplitText) -> Overlap:
    """How many lines of a whole stream are in the training split, whatever their order: in another one, windows across
    two of them are new."""
    long = [line for line in split_lines(text.blocks("whole")) if len(line) >= LONG_LINE]
    checked = Counter(long[:: -(-len(long) // MAX_CHECKED) or 1])
    known = chain.from_iterable(map(split_lines, training.segments("train")))
    return Overlap("lines", checked.total(), sum(checked[line] for line in {line for line in known if line in checked}))


def example_overlap(examples: Sequence[Example], training: Sequence[Example]) -> Overlap:
    """How many inputs the training examples have too, or nearly so."""
    known = {same_form(example.input) for example in training}
    return Overlap("inputs", len(examples), sum(same_form(example.input) in known for example in examples))


def _compare_lines(text: SplitText, split: str, training: SplitText, earlier: str) -> Overlap:
    return Overlap("lines", *repeated_lines(text, split, training, earlier))


def _compare_windows(text: SplitText, split: str, training: SplitText, earlier: str) -> Overlap:
    """Arrays over W have an entry for each distinct held-out window, over N for each position of a chunk."""
    checked_W, counts_W = np.unique(_held_out_hashes(text, split), return_counts=True)
    repeated_W = np.zeros(len(checked_W), bool)
    # a lookup in a small table spares nearly all positions the search
    prefixes = np.zeros(2**FILTER_BITS, bool)
    prefixes[checked_W >> (64 - FILTER_BITS)] = True
    for hashes_N in chain.from_iterable(map(hashes, training.segments(earlier))):
        candidates = hashes_N[prefixes[hashes_N >> (64 - FILTER_BITS)]]
        places = np.searchsorted(checked_W, candidates)
        places = places[np.append(checked_W, 0)[places] == candidates]
        repeated_W[places] = True
    return Overlap(f"windows of {WINDOW} characters", int(counts_W.sum()), int(counts_W[repeated_W].sum()))


def _held_out_hashes(text: SplitText, split: str) -> np.ndarray:
    """Hashes of the windows of a held-out split, end to end; in a long one they are evenly spaced."""
    characters = sum(map(len, text.blocks(split)))
    stride = WINDOW * max(1, characters // (WINDOW * MAX_CHECKED))
    chosen = [np.empty(0, np.uint64)]
    position = 0
    for hashes_N in chain.from_iterable(map(hashes, text.segments(split))):
        chosen.append(hashes_N[-position % stride :: stride].copy())  # a view would keep the whole chunk
        position += len(hashes_N)
    return np.concatenate(chosen)


def hashes(blocks: Iterable[str], window: int = WINDOW) -> Iterator[np.ndarray]:
    """The hash of the window that begins at each character and ends within the text; `window` is a power of two."""
    rest_N = np.empty(0, np.uint64)
    for chunk in (block[at : at + CHUNK] for block in blocks for at in range(0, len(block), CHUNK)):
        codes_N = np.frombuffer(chunk.encode("utf-32-le"), np.uint32).astype(np.uint64)
        hashes_N = np.concatenate([rest_N, _mixed(codes_N)])
        rest_N = hashes_N[-(window - 1) :]
        length, factor = 1, FACTORS[1]
        while length < window and len(hashes_N) > length:
            hashes_N = hashes_N[:-length] * np.uint64(factor) + hashes_N[length:]
            length, factor = 2 * length, factor * factor % 2**64
        if length == window:
            yield hashes_N


def _mixed(codes_N: np.ndarray) -> np.ndarray:
    """A number of 64 bits for each character, unrelated for neighboring code points."""
    mixed_N = (codes_N + np.uint64(1)) * np.uint64(FACTORS[0])
    return (mixed_N ^ (mixed_N >> np.uint64(32))) * np.uint64(FACTORS[0])
