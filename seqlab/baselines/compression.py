"""xz as a language model: how well a text compresses after the training text."""

import lzma

TRAIN_BYTES = 64 * 2**20  # at most; of a longer training text, its end
DICTIONARY_BYTES = 2 * TRAIN_BYTES  # xz needs about eleven times its dictionary in memory


def xz_bits(train: bytes, held_out: bytes) -> float:
    """The bits that the held-out text adds to the compressed training text."""
    train = train[-TRAIN_BYTES:]
    return 8.0 * (_size(train + held_out) - _size(train))


def _size(text: bytes) -> int:
    dictionary = min(max(len(text), 4096), DICTIONARY_BYTES)
    lzma2 = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": dictionary}
    # the raw format, because the container pads to multiples of four bytes
    return len(lzma.compress(text, lzma.FORMAT_RAW, filters=[lzma2]))
