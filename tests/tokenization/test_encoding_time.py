"""Every registered tokenizer is quick on worst-case text."""

import random
import time
from collections.abc import Callable

import pytest
from text_samples import SAMPLE, encode, trained

from seqlab.registry import TOKENIZERS

every = pytest.mark.parametrize("name", list(TOKENIZERS))

LETTERS = "".join(random.Random(0).choices("abcdefghijklmnopqrstuvwxyz", k=1 << 16))
WORST = {
    "one letter": "a" * (1 << 16),
    "spaces": " " * (1 << 16),
    "newlines": "\n" * (1 << 16),
    "random letters": LETTERS,
    "random ideographs": "".join(map(chr, random.Random(0).choices(range(0x4E00, 0x9FFF), k=1 << 16))),
    "combining marks": "\u0301" * (1 << 16),
    "a mark on every letter": "a\u0301" * (1 << 15),
    "apostrophes": "'" * (1 << 16),
    "letters and apostrophes": "a'" * (1 << 15),
    "letters and digits": "a1" * (1 << 15),
    "spaces before letters": (" " * 255 + "a") * (1 << 8),
    "joined emoji": "👩\u200d" * (1 << 15),
    "NUL": "\x00" * (1 << 16),
}


def seconds(action: Callable[[], object]) -> float:
    """Processor time, which a busy machine hardly changes."""
    start = time.process_time()
    action()
    return time.process_time() - start


@every
@pytest.mark.parametrize("kind", WORST)
@pytest.mark.parametrize("stranger", [True, False])
def test_worst_case_text_takes_less_than_200_ms(name: str, kind: str, stranger: bool) -> None:
    tokenizer = trained(name, SAMPLE if stranger else WORST[kind])
    tries = (seconds(lambda: encode(tokenizer, WORST[kind])) for _ in range(8))
    assert any(took <= 0.2 for took in tries)
