"""The public contract suite of tokenizers: what training, evaluation and generation rely on.

`check_tokenizer` accepts a class or a registered name. The tokenizers of this package pass the same checks.
"""

import random
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from seqlab.config import TokenizerSettings
from seqlab.errors import DataError, SeqlabWarning, UsageError
from seqlab.registry import TOKENIZERS
from seqlab.tokenization.streaming import TextStream
from seqlab.tokenization.tokenizer import Tokenizer, chunk_text, load_tokenizer

SAMPLE = (
    "It's a truth universally acknowledged, that the don't and the won't of 1813 aren't one.\n"
    "\tThe naïve café; 12,345 Straßen — “quoted”  twice, x_y = f(a)\\n, 日本語 and 😀!\r\n"
    "<unk> <s> <begin> </s> [UNK] and the rest of the the the text.   \n\n"
)
SPECIAL_LOOKING = ("<unk>", "<s>", "<begin>", "<end>", "<unknown>", "</s>", "[UNK]", "<|endoftext|>", "\ufffd")
# spaces of all kinds, apostrophes, digits beside letters, combining marks, characters of one to four bytes
AWKWARD = "ab'’sStldr1_., \t\n\r\x0b\x1c\x85\xa0\u2003\u3000é\u0301ßΣİ日😀<>|"
TEXTS = 60
MAX_SLOWDOWN = 12  # for ten times the text


@dataclass(frozen=True)
class Candidate:
    """A tokenizer class with the settings that it is trained with."""

    kind: type[Tokenizer]
    settings: TokenizerSettings

    def train(self, text: str = SAMPLE, documents: bool = False) -> Tokenizer:
        return self.kind.train([text], self.settings, documents)


def check_tokenizer(tokenizer: str | type[Tokenizer], settings: TokenizerSettings | None = None) -> None:
    """AssertionError that names the broken promise; `settings` are the defaults unless given."""
    for check in CHECKS:
        check(candidate(tokenizer, settings))


def candidate(tokenizer: str | type[Tokenizer], settings: TokenizerSettings | None = None) -> Candidate:
    """What the checks work on, from a class or a registered name."""
    if isinstance(tokenizer, str):
        return Candidate(TOKENIZERS.load(tokenizer), settings or TOKENIZERS.settings(tokenizer)())
    return Candidate(tokenizer, settings or tokenizer.Settings())


# --- the vocabulary -------------------------------------------------------------------------------------------------


def special_tokens(subject: Candidate) -> None:
    """Ordinary tokens first, then unknown, begin and end, if there are any."""
    for documents in (False, True):
        tokenizer = subject.train(documents=documents)
        special = [tokenizer.unknown, tokenizer.begin, tokenizer.end]
        present = [token for token in special if token is not None]
        expected = list(range(tokenizer.ordinary_size, tokenizer.vocab_size))
        _require(present == expected, f"special tokens have the ids {present}, expected the last ones: {expected}")
        _require((tokenizer.unknown is not None) == subject.kind.has_unknown, "`unknown` contradicts `has_unknown`")
        has_both = (tokenizer.begin is not None) == (tokenizer.end is not None) == documents
        _require(has_both, f"begin and end are {special[1:]} with documents={documents}")
        banned = tuple(token for token in special[:2] if token is not None)
        _require(tokenizer.never_sampled == banned, f"never_sampled is {tokenizer.never_sampled}, expected {banned}")


def readable_vocabulary(subject: Candidate) -> None:
    """`tokens()` has one printable text per id, and vocabulary.txt lists them."""
    tokenizer = subject.train(SAMPLE + "\x00\x7f\u202e\u2028\\ \x85 \U000e0001", documents=True)
    tokens = tokenizer.tokens()
    _require(len(tokens) == tokenizer.vocab_size, f"{len(tokens)} tokens, but vocab_size is {tokenizer.vocab_size}")
    _require(len(set(tokens)) == len(tokens), "two ids have the same readable token")
    _require(all(token and token.isprintable() for token in tokens), "a readable token is empty or not printable")
    with TemporaryDirectory() as directory:
        tokenizer.save(Path(directory))
        listing = (Path(directory) / "vocabulary.txt").read_bytes().decode()
    expected = "".join(f"{index}\t{token}\n" for index, token in enumerate(tokens))
    _require(listing == expected, "vocabulary.txt does not list `tokens()`")


# --- encoding and decoding ------------------------------------------------------------------------------------------


def ids_for_torch(subject: Candidate) -> None:
    """`encode` gives a list of int for torch, `encode_array` a writable array in the smallest type."""
    tokenizer = subject.train(documents=True)
    for text in ("", "the", SAMPLE):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeqlabWarning)
            ids, compact = tokenizer.encode(text), tokenizer.encode_array(text)
        _require(type(ids) is list and all(type(token) is int for token in ids), "`encode` is not a list of int")
        _require(ids == compact.tolist(), "`encode` and `encode_array` differ")
        _require(torch.tensor([ids]).shape == (1, len(ids)), "`torch.tensor([encode(text)])` is not one row")
        smallest = np.min_scalar_type(tokenizer.vocab_size - 1)
        _require(tokenizer.dtype == compact.dtype == smallest, f"the ids are {compact.dtype}, expected {smallest}")
        _require(compact.ndim == 1 and compact.flags.writeable, "`encode_array` is not a writable row")


def round_trip(subject: Candidate) -> None:
    """Decoding what was encoded gives the text, unless something in it is unknown."""
    shared = subject.train()
    for text in _texts():
        tokenizer = subject.train(text) if subject.kind.has_unknown else shared
        ids = _encode(tokenizer, text)
        decoded = tokenizer.decode(ids)
        _require(tokenizer.unknown in ids or decoded == text, f"{text!r} encoded and decoded is {decoded!r}")


def first_token(subject: Candidate) -> None:
    """`first_token_bytes` is the beginning of the text that the first id covers."""
    tokenizer = subject.train()
    for text in ["", *_texts()]:
        first, ids = tokenizer.first_token_bytes(text), _encode(tokenizer, text)
        _require(text.encode().startswith(first), f"{text!r} does not begin with its first token, {first!r}")
        _require(bool(first) == bool(text), f"the first token of {text!r} is {first!r}")
        if ids and ids[0] != tokenizer.unknown:
            _require(first == tokenizer.decode_bytes(ids[:1]), f"the first token of {text!r} decodes to another text")


def text_is_never_special(subject: Candidate) -> None:
    """No text encodes to begin or end, whatever it looks like; decoding skips both and shows unknown."""
    for text in SPECIAL_LOOKING:
        tokenizer = subject.train(f"{SAMPLE}\n{text}\n{text}", documents=True)
        special = {tokenizer.begin, tokenizer.end} & set(_encode(tokenizer, text))
        _require(not special, f"{text!r} encodes to a special token: {special}")
    tokenizer = subject.train(documents=True)
    assert tokenizer.begin is not None and tokenizer.end is not None
    _require(tokenizer.decode([tokenizer.begin, tokenizer.end]) == "", "begin and end do not decode to nothing")
    if tokenizer.unknown is not None:
        _require(tokenizer.decode([tokenizer.unknown]) == "\ufffd", "the unknown token does not decode to U+FFFD")


def invalid_input(subject: Candidate) -> None:
    """Ids outside the vocabulary are a UsageError, half a surrogate pair is a DataError."""
    tokenizer = subject.train()
    for wrong in (-1, tokenizer.vocab_size, 10**6):
        _require_error(UsageError, lambda wrong=wrong: tokenizer.decode([0, wrong]), f"decoding the id {wrong}")
    for method in (tokenizer.encode, tokenizer.first_token_bytes):
        _require_error(DataError, lambda method=method: method("\ud800"), f"`{method.__name__}` of U+D800")


def unknown_tokens(subject: Candidate) -> None:
    """A warning names what is unknown, once."""
    if not subject.kind.has_unknown:
        return
    tokenizer = subject.train("a b c")
    for expected in (1, 0):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ids = tokenizer.encode("ß")
        _require(tokenizer.unknown in ids, f"'ß' encodes to {ids} without the unknown token")
        _require(len(caught) == expected, f"{len(caught)} warnings of an unknown character, expected {expected}")


def streaming(subject: Candidate) -> None:
    """Decoding id by id, as generation does, gives the text of all ids at once."""
    tokenizer = subject.train(documents=True)
    draw = random.Random(0)
    for _ in range(TEXTS):
        ids = draw.choices(range(tokenizer.vocab_size), k=draw.randint(0, 30))
        stream = TextStream(tokenizer)
        text = "".join(stream.push([token]) for token in ids) + stream.flush()
        _require(text == tokenizer.decode(ids), f"the ids {ids} decode to another text one by one")


# --- chunks and time ------------------------------------------------------------------------------------------------


def chunks(subject: Candidate) -> None:
    """Encoding and training chunk by chunk, at the boundaries of `chunk_text`, equals doing it at once."""
    tokenizer = subject.train()
    for size, text in enumerate(_texts(), 1):
        by_chunk = [token for chunk in chunk_text([text], size % 20 + 1) for token in _encode(tokenizer, chunk)]
        _require(by_chunk == _encode(tokenizer, text), f"{text!r} encodes to other ids in chunks")
        trained = subject.kind.train(chunk_text([text], size % 20 + 1), subject.settings)
        _require(trained.fingerprint == subject.train(text).fingerprint, f"training on {text!r} depends on its chunks")


def linear_time(subject: Candidate) -> None:
    """Ten times the text takes about ten times as long: the short text is encoded ten times, in processor time."""
    tokenizer = subject.train()
    short = SAMPLE * (50_000 // len(SAMPLE))
    long = short * 10
    best_short = best_long = float("inf")
    for _ in range(10):
        best_short = min(best_short, _seconds(lambda: [_encode(tokenizer, short) for _ in range(10)]))
        best_long = min(best_long, _seconds(lambda: _encode(tokenizer, long)))
        if 10 * best_long <= MAX_SLOWDOWN * best_short:
            return
    raise AssertionError(f"ten times the text takes {10 * best_long / best_short:.1f} times as long to encode")


# --- saving and loading ---------------------------------------------------------------------------------------------


def saving(subject: Candidate) -> None:
    """Saved and loaded, it encodes the same; the fingerprint tells tokenizers apart."""
    fingerprints = set()
    for documents in (False, True):
        tokenizer = subject.train(documents=documents)
        with TemporaryDirectory() as directory:
            tokenizer.save(Path(directory))
            loaded = load_tokenizer(Path(directory) / "tokenizer.json")
        _require(
            type(loaded) is type(tokenizer), f"a saved {type(tokenizer).__name__} loads as {type(loaded).__name__}"
        )
        same = loaded.fingerprint == tokenizer.fingerprint and loaded.tokens() == tokenizer.tokens()
        text = SAMPLE + "Ω new"
        _require(same and _encode(loaded, text) == _encode(tokenizer, text), "saved and loaded, it encodes otherwise")
        fingerprints.add(tokenizer.fingerprint)
    _require(len(fingerprints) == 2, "the fingerprint does not depend on `documents`")


def foreign_content(subject: Candidate) -> None:
    """`from_json` refuses everything that `to_json` does not write."""
    content = subject.train().to_json()
    changes: list[dict[str, Any]] = [
        {"normalizer": {"type": "Replace"}}, {"pre_tokenizer": None}, {"format": "other"}, {"version": 2},
        {"version": True}, {"name": "sentencepiece"}, {"name": ["char"]}, {"documents": 1}, {"documents": None},
        *({key: {"type": "Regex"}} for key in content),
    ]  # fmt: skip
    for change in changes:
        _require_error(DataError, lambda change=change: subject.kind.from_json({**content, **change}), f"{change}")
    for key in content:
        rest = {other: value for other, value in content.items() if other != key}
        _require_error(DataError, lambda rest=rest: subject.kind.from_json(rest), f"content without '{key}'")


CHECKS: tuple[Callable[[Candidate], None], ...] = (
    *(special_tokens, readable_vocabulary, ids_for_torch, round_trip, first_token, text_is_never_special),
    *(invalid_input, unknown_tokens, streaming, chunks, linear_time, saving, foreign_content),
)


def _texts() -> Iterator[str]:
    """The sample, and short random texts that are dense in what is easily split wrongly."""
    yield SAMPLE
    draw = random.Random(0)
    ascii_only = "".join(filter(str.isascii, AWKWARD))
    for index in range(TEXTS):
        yield "".join(draw.choices(AWKWARD if index % 2 else ascii_only, k=draw.randint(1, 40)))


def _encode(tokenizer: Tokenizer, text: str) -> list[int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeqlabWarning)
        return tokenizer.encode(text)


def _seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def _require(kept: bool, broken: str) -> None:
    if not kept:
        raise AssertionError(f"{broken}.")


def _require_error(kind: type[Exception], action: Callable[[], object], given: str) -> None:
    try:
        action()
    except kind:
        return
    except Exception as error:
        raise AssertionError(f"{given} raises {type(error).__name__}, expected {kind.__name__}: {error}.") from error
    raise AssertionError(f"{given} is accepted, expected a {kind.__name__}.")
