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
from seqlab.testing.promises import Promises, require
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
tokenizers: "Promises[TokenizerCase]" = Promises()


@dataclass(frozen=True)
class TokenizerCase:
    """A tokenizer class with the settings that it is trained with."""

    cls: type[Tokenizer]
    settings: TokenizerSettings

    def __str__(self) -> str:
        return self.cls.__name__

    def train(self, text: str = SAMPLE, documents: bool = False) -> Tokenizer:
        return self.cls.train([text], self.settings, documents)


def check_tokenizer(tokenizer: str | type[Tokenizer], settings: TokenizerSettings | None = None) -> None:
    """AssertionError that names the broken promise; `settings` are the defaults unless given."""
    for check in tokenizers.checks.values():
        check(tokenizer_case(tokenizer, settings))


def tokenizer_case(tokenizer: str | type[Tokenizer], settings: TokenizerSettings | None = None) -> TokenizerCase:
    """What the checks work on, from a class or a registered name."""
    if isinstance(tokenizer, str):
        return TokenizerCase(TOKENIZERS.load(tokenizer), settings or TOKENIZERS.settings(tokenizer)())
    return TokenizerCase(tokenizer, settings or tokenizer.Settings())


# --- the vocabulary -------------------------------------------------------------------------------------------------


@tokenizers("ordinary tokens first, then unknown, begin and end, if there are any")
def special_tokens(case: TokenizerCase) -> None:
    for documents in (False, True):
        tokenizer = case.train(documents=documents)
        special = [tokenizer.unknown, tokenizer.begin, tokenizer.end]
        present = [token for token in special if token is not None]
        expected = list(range(tokenizer.ordinary_size, tokenizer.vocab_size))
        require(present == expected, f"special tokens have the ids {present}, expected the last ones: {expected}")
        require((tokenizer.unknown is not None) == case.cls.has_unknown, "`unknown` contradicts `has_unknown`")
        has_both = (tokenizer.begin is not None) == (tokenizer.end is not None) == documents
        require(has_both, f"begin and end are {special[1:]} with documents={documents}")
        banned = tuple(token for token in special[:2] if token is not None)
        require(tokenizer.never_sampled == banned, f"never_sampled is {tokenizer.never_sampled}, expected {banned}")


@tokenizers("`tokens()` has one printable text per id, and vocabulary.txt lists them")
def readable_vocabulary(case: TokenizerCase) -> None:
    tokenizer = case.train(SAMPLE + "\x00\x7f\u202e\u2028\\ \x85 \U000e0001", documents=True)
    tokens = tokenizer.tokens()
    require(len(tokens) == tokenizer.vocab_size, f"{len(tokens)} tokens, but vocab_size is {tokenizer.vocab_size}")
    require(len(set(tokens)) == len(tokens), "two ids have the same readable token")
    require(all(token and token.isprintable() for token in tokens), "a readable token is empty or not printable")
    with TemporaryDirectory() as directory:
        tokenizer.save(Path(directory))
        listing = (Path(directory) / "vocabulary.txt").read_bytes().decode()
    expected = "".join(f"{index}\t{token}\n" for index, token in enumerate(tokens))
    require(listing == expected, "vocabulary.txt does not list `tokens()`")


# --- encoding and decoding ------------------------------------------------------------------------------------------


@tokenizers("`encode` gives a list of int for torch, `encode_array` a writable array in the smallest type")
def ids_for_torch(case: TokenizerCase) -> None:
    tokenizer = case.train(documents=True)
    for text in ("", "the", SAMPLE):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeqlabWarning)
            ids, compact = tokenizer.encode(text), tokenizer.encode_array(text)
        require(type(ids) is list and all(type(token) is int for token in ids), "`encode` is not a list of int")
        require(ids == compact.tolist(), "`encode` and `encode_array` differ")
        require(torch.tensor([ids]).shape == (1, len(ids)), "`torch.tensor([encode(text)])` is not one row")
        smallest = np.min_scalar_type(tokenizer.vocab_size - 1)
        require(tokenizer.dtype == compact.dtype == smallest, f"the ids are {compact.dtype}, expected {smallest}")
        require(compact.ndim == 1 and compact.flags.writeable, "`encode_array` is not a writable row")


@tokenizers("decoding what was encoded gives the text, unless something in it is unknown")
def round_trip(case: TokenizerCase) -> None:
    shared = case.train()
    for text in _texts():
        tokenizer = case.train(text) if case.cls.has_unknown else shared
        ids = _encode(tokenizer, text)
        decoded = tokenizer.decode(ids)
        require(tokenizer.unknown in ids or decoded == text, f"{text!r} encoded and decoded is {decoded!r}")


@tokenizers("`first_token_bytes` is the beginning of the text that the first id covers")
def first_token(case: TokenizerCase) -> None:
    tokenizer = case.train()
    for text in ["", *_texts()]:
        first, ids = tokenizer.first_token_bytes(text), _encode(tokenizer, text)
        require(text.encode().startswith(first), f"{text!r} does not begin with its first token, {first!r}")
        require(bool(first) == bool(text), f"the first token of {text!r} is {first!r}")
        if ids and ids[0] != tokenizer.unknown:
            require(first == tokenizer.decode_bytes(ids[:1]), f"the first token of {text!r} decodes to another text")


@tokenizers("no text encodes to begin or end, whatever it looks like; decoding skips both and shows unknown")
def text_is_never_special(case: TokenizerCase) -> None:
    for text in SPECIAL_LOOKING:
        tokenizer = case.train(f"{SAMPLE}\n{text}\n{text}", documents=True)
        special = {tokenizer.begin, tokenizer.end} & set(_encode(tokenizer, text))
        require(not special, f"{text!r} encodes to a special token: {special}")
    tokenizer = case.train(documents=True)
    assert tokenizer.begin is not None and tokenizer.end is not None
    require(tokenizer.decode([tokenizer.begin, tokenizer.end]) == "", "begin and end do not decode to nothing")
    if tokenizer.unknown is not None:
        require(tokenizer.decode([tokenizer.unknown]) == "\ufffd", "the unknown token does not decode to U+FFFD")


@tokenizers("ids outside the vocabulary are a UsageError, half a surrogate pair is a DataError")
def invalid_input(case: TokenizerCase) -> None:
    tokenizer = case.train()
    for wrong in (-1, tokenizer.vocab_size, 10**6):
        _require_error(UsageError, lambda wrong=wrong: tokenizer.decode([0, wrong]), f"decoding the id {wrong}")
    for method in (tokenizer.encode, tokenizer.first_token_bytes):
        _require_error(DataError, lambda method=method: method("\ud800"), f"`{method.__name__}` of U+D800")


@tokenizers("a warning names what is unknown, once")
def unknown_tokens(case: TokenizerCase) -> None:
    if not case.cls.has_unknown:
        return
    tokenizer = case.train("a b c")
    for expected in (1, 0):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ids = tokenizer.encode("ß")
        require(tokenizer.unknown in ids, f"'ß' encodes to {ids} without the unknown token")
        require(len(caught) == expected, f"{len(caught)} warnings of an unknown character, expected {expected}")


@tokenizers("decoding id by id, as generation does, gives the text of all ids at once")
def streaming(case: TokenizerCase) -> None:
    tokenizer = case.train(documents=True)
    draw = random.Random(0)
    for _ in range(TEXTS):
        ids = draw.choices(range(tokenizer.vocab_size), k=draw.randint(0, 30))
        stream = TextStream(tokenizer)
        text = "".join(stream.push([token]) for token in ids) + stream.flush()
        require(text == tokenizer.decode(ids), f"the ids {ids} decode to another text one by one")


# --- chunks and time ------------------------------------------------------------------------------------------------


@tokenizers("encoding and training chunk by chunk, at the boundaries of `chunk_text`, equals doing it at once")
def chunks(case: TokenizerCase) -> None:
    tokenizer = case.train()
    for size, text in enumerate(_texts(), 1):
        by_chunk = [token for chunk in chunk_text([text], size % 20 + 1) for token in _encode(tokenizer, chunk)]
        require(by_chunk == _encode(tokenizer, text), f"{text!r} encodes to other ids in chunks")
        trained = case.cls.train(chunk_text([text], size % 20 + 1), case.settings)
        require(trained.fingerprint == case.train(text).fingerprint, f"training on {text!r} depends on its chunks")


@tokenizers("ten times the text takes about ten times as long: the short text is encoded ten times, in processor time")
def linear_time(case: TokenizerCase) -> None:
    tokenizer = case.train()
    short = SAMPLE * (50_000 // len(SAMPLE))
    long = short * 10
    best_short = best_long = float("inf")
    for turn in range(10):
        best_short = min(best_short, _seconds(lambda: [_encode(tokenizer, short) for _ in range(10)]))
        best_long = min(best_long, _seconds(lambda: _encode(tokenizer, long)))
        # one slow moment of the short text would hide anything
        if turn >= 2 and 10 * best_long <= MAX_SLOWDOWN * best_short:
            return
    raise AssertionError(f"ten times the text takes {10 * best_long / best_short:.1f} times as long to encode")


# --- saving and loading ---------------------------------------------------------------------------------------------


@tokenizers("saved and loaded, it encodes the same; the fingerprint tells tokenizers apart")
def saving(case: TokenizerCase) -> None:
    fingerprints = set()
    for documents in (False, True):
        tokenizer = case.train(documents=documents)
        with TemporaryDirectory() as directory:
            tokenizer.save(Path(directory))
            loaded = load_tokenizer(Path(directory) / "tokenizer.json")
        require(type(loaded) is type(tokenizer), f"a saved {type(tokenizer).__name__} loads as {type(loaded).__name__}")
        same = loaded.fingerprint == tokenizer.fingerprint and loaded.tokens() == tokenizer.tokens()
        text = SAMPLE + "Ω new"
        require(same and _encode(loaded, text) == _encode(tokenizer, text), "saved and loaded, it encodes otherwise")
        fingerprints.add(tokenizer.fingerprint)
    require(len(fingerprints) == 2, "the fingerprint does not depend on `documents`")


@tokenizers("`from_json` refuses everything that `to_json` does not write")
def foreign_content(case: TokenizerCase) -> None:
    content = case.train().to_json()
    changes: list[dict[str, Any]] = [
        {"normalizer": {"type": "Replace"}}, {"pre_tokenizer": None}, {"format": "other"}, {"version": 2},
        {"version": True}, {"name": "sentencepiece"}, {"name": ["char"]}, {"documents": 1}, {"documents": None},
        *({key: {"type": "Regex"}} for key in content),
    ]  # fmt: skip
    for change in changes:
        _require_error(DataError, lambda change=change: case.cls.from_json({**content, **change}), f"{change}")
    for key in content:
        rest = {other: value for other, value in content.items() if other != key}
        _require_error(DataError, lambda rest=rest: case.cls.from_json(rest), f"content without '{key}'")


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


def _require_error(expected: type[Exception], action: Callable[[], object], given: str) -> None:
    try:
        action()
    except expected:
        return
    except Exception as error:
        raise AssertionError(f"{given} raises {type(error).__name__}, expected {expected.__name__}: {error}") from error
    raise AssertionError(f"{given} is accepted, expected a {expected.__name__}")
