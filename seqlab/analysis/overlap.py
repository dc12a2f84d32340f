"""How much of the held-out text stands word for word in the training text: a model need only remember that much.

A stream is compared in short windows that are laid end to end over the held-out part and looked for at every
position of the training part, by hashes of 64 bits. Documents are compared line by line.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from seqlab.data.text.split import SplitText

WINDOW = 32  # characters, a power of two
ASKED = 20_000  # windows or lines of a longer held-out part that are looked for
CHUNK = 1 << 16  # characters hashed at once: the intermediate arrays stay in the processor's cache
FILTER_BITS = 20
REMEMBERING_PAYS = 0.1  # from this share on, a model that learns by heart looks better than it is
FACTORS = (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)  # odd, and otherwise arbitrary


@dataclass(frozen=True)
class Overlap:
    """How many of the held-out windows or lines that were looked for stand in the training part."""

    unit: str
    asked: int
    found: int

    @property
    def share(self) -> float:
        return self.found / self.asked if self.asked else 0.0

    def __str__(self) -> str:
        if not self.asked:
            return "The held-out part is too short to look for in the training part."
        counted = f"{self.found:,} of {self.asked:,} held-out {self.unit} ({self.share:.1%}) stand in the training part"
        return f"{counted}: {self.verdict}."

    @property
    def verdict(self) -> str:
        if not self.found:
            return "validation is on new text"
        if self.share < 0.01:
            return "hardly any, so that validation is on new text"
        if self.share < REMEMBERING_PAYS:
            return "some, so that validation may look a little better than new text would"
        return "so much that remembering pays; new text will be harder than validation"


def overlap(split: SplitText, part: str = "validation") -> Overlap:
    """Of a held-out part with the training part, which is read to its end whatever its length."""
    return _of_lines(split, part) if split.by_lines else _of_windows(split, part)


def _of_lines(split: SplitText, part: str) -> Overlap:
    lines = sum(1 for _ in split.lines(part))
    every = max(1, lines // ASKED)
    asked = Counter(line for number, line in enumerate(split.lines(part)) if number % every == 0)
    found = {line for line in split.lines("train") if line in asked}
    return Overlap("lines", asked.total(), sum(asked[line] for line in found))


def _of_windows(split: SplitText, part: str) -> Overlap:
    """Arrays over W have an entry for each distinct held-out window, over N for each position of a chunk."""
    asked_W, counts_W = np.unique(_held_out(split, part), return_counts=True)
    met_W = np.zeros(len(asked_W), bool)
    # a look into a small table spares nearly all positions the search
    wanted = np.zeros(2**FILTER_BITS, bool)
    wanted[asked_W >> (64 - FILTER_BITS)] = True
    for hashes_N in hashes(split.blocks("train")):
        candidates = hashes_N[wanted[hashes_N >> (64 - FILTER_BITS)]]
        places = np.searchsorted(asked_W, candidates)
        places = places[np.append(asked_W, 0)[places] == candidates]
        met_W[places] = True
    return Overlap(f"windows of {WINDOW} characters", int(counts_W.sum()), int(counts_W[met_W].sum()))


def _held_out(split: SplitText, part: str) -> np.ndarray:
    """Hashes of windows end to end over the held-out part; of a long one, of windows evenly spaced."""
    characters = sum(map(len, split.blocks(part)))
    stride = WINDOW * max(1, characters // (WINDOW * ASKED))
    chosen = [np.empty(0, np.uint64)]
    position = 0
    for hashes_N in hashes(split.blocks(part)):
        chosen.append(hashes_N[-position % stride :: stride].copy())  # a view would keep the whole chunk
        position += len(hashes_N)
    return np.concatenate(chosen)


def hashes(blocks: Iterable[str], window: int = WINDOW) -> Iterator[np.ndarray]:
    """The hash of the window that begins at each character, but for those that the text ends within.

    Windows are as long as a power of two."""
    rest_N = np.empty(0, np.uint64)
    for text in (block[at : at + CHUNK] for block in blocks for at in range(0, len(block), CHUNK)):
        codes_N = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.uint64)
        hashes_N = np.concatenate([rest_N, _mixed(codes_N)])
        rest_N = hashes_N[-(window - 1) :]
        length, factor = 1, FACTORS[1]
        while length < window and len(hashes_N) > length:
            hashes_N = hashes_N[:-length] * np.uint64(factor) + hashes_N[length:]
            length, factor = 2 * length, factor * factor % 2**64
        if length == window:
            yield hashes_N


def _mixed(codes_N: np.ndarray) -> np.ndarray:
    """A number of 64 bits for each character, so that neighbouring code points have nothing in common."""
    mixed_N = (codes_N + np.uint64(1)) * np.uint64(FACTORS[0])
    return (mixed_N ^ (mixed_N >> np.uint64(32))) * np.uint64(FACTORS[0])
