"""Encoding text: our tokenizers against the bare calls that they wrap. Run `python -m benchmarks.encoding`.

A ratio is the other's time over ours, from interleaved repeats in one run, so 1 is equal and more is faster.
"""

import time
from collections.abc import Callable
from pydoc_data.topics import topics

import numpy as np
from tokenizers import Tokenizer as Library
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from seqlab.config import TokenizerSettings
from seqlab.tokenization.bpe import MAX_TOKEN_BYTES, BpeSettings, BpeTokenizer
from seqlab.tokenization.char import CharTokenizer

SOURCE = "\n".join(topics.values())
SIZE = 10_000_000


def repeated(size: int) -> str:
    return (SOURCE * (size // len(SOURCE) + 1))[:size]


def ratio(ours: Callable[[], object], other: Callable[[], object], repeats: int) -> float:
    """The other's best time over our best time."""
    best = {ours: float("inf"), other: float("inf")}
    for _ in range(repeats):
        for action in best:
            start = time.perf_counter()
            action()
            best[action] = min(best[action], time.perf_counter() - start)
    return best[other] / best[ours]


def char_ratio() -> float:
    text = repeated(SIZE)
    tokenizer = CharTokenizer.train([SOURCE], TokenizerSettings())
    table = np.full(0x110000, tokenizer.unknown, dtype=tokenizer.dtype)
    table[[ord(character) for character in tokenizer.characters]] = np.arange(tokenizer.ordinary_size)

    def lookup() -> np.ndarray:
        return table[np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)]

    assert (tokenizer.encode_array(text) == lookup()).all()
    return ratio(lambda: tokenizer.encode_array(text), lookup, repeats=7)


def bpe_ratio(tokenizer: BpeTokenizer) -> float:
    text = repeated(SIZE)
    library = Library(BPE())
    library.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(
        vocab_size=tokenizer.ordinary_size,
        max_token_length=MAX_TOKEN_BYTES,
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    )
    library.train_from_iterator([SOURCE], trainer)
    assert len(tokenizer.encode_array(SOURCE)) == len(library.encode(SOURCE).ids)
    return ratio(lambda: tokenizer.encode_array(text), lambda: np.array(library.encode(text).ids), repeats=2)


def main() -> None:
    bpe = BpeTokenizer.train([SOURCE], BpeSettings())
    print(f"char, {SIZE:,} characters, against a numpy lookup ... {char_ratio():.2f}")
    print(f"bpe, {SIZE:,} characters, against the bare library ... {bpe_ratio(bpe):.2f}")


if __name__ == "__main__":
    main()
