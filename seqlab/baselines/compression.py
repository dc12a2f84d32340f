"""xz as a language model: how well a text compresses after the training text."""

import lzma
from concurrent.futures import ThreadPoolExecutor

TRAIN_BYTES = 64 * 2**20  # at most; of a longer training text, its end
DICTIONARY_BYTES = 2 * TRAIN_BYTES  # xz needs about eleven times its dictionary in memory
AT_ONCE_BYTES = 8 * 2**20  # texts up to this size are compressed with and without what is held out at the same time


def xz_bits(train: bytes, held_out: bytes) -> float:
    """The bits that the held-out text adds to the compressed training text."""
    train = train[-TRAIN_BYTES:]
    texts = train, train + held_out
    with ThreadPoolExecutor(2 if len(texts[1]) <= AT_ONCE_BYTES else 1) as pool:
        before, after = pool.map(_size, texts)
    return 8.0 * (after - before)


def _size(text: bytes) -> int:
    dictionary = min(max(len(text), 4096), DICTIONARY_BYTES)
    lzma2 = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": dictionary}
    # the raw format, because the container pads to multiples of four bytes
    return len(lzma.compress(text, lzma.FORMAT_RAW, filters=[lzma2]))
