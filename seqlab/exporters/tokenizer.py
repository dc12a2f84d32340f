"""Tokenizers in the format of the `tokenizers` library, which other programs read."""

import json
import re
from functools import cache
from typing import Any

from tokenizers import Regex
from tokenizers import Tokenizer as Library
from tokenizers.decoders import ByteLevel as FromBytes
from tokenizers.decoders import Fuse
from tokenizers.models import BPE, WordLevel
from tokenizers.normalizers import Lowercase, Replace
from tokenizers.normalizers import Sequence as Normalizers
from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split

from seqlab.errors import UsageError
from seqlab.tokenization.bpe import BpeTokenizer, to_letters
from seqlab.tokenization.byte import ByteTokenizer
from seqlab.tokenization.char import CharTokenizer
from seqlab.tokenization.letters import JOINERS, LETTER, character_ranges
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.word import WordTokenizer, word_pattern

UNKNOWN = "<unknown>"
MAX_VERIFIED = 5000  # tokens
SINGLE = Regex(r"[\s\S]")
CASED = r"[\p{Lu}\p{Ll}\p{Lt}]"
UNCASED = rf"(?:[\p{{M}}\p{{Lm}}{JOINERS}]|['’](?=[\p{{L}}\p{{N}}\p{{M}}]))*"  # within a word
FINAL_SIGMA = Regex(rf"{CASED}{UNCASED}\KΣ(?!{UNCASED}{CASED})")  # at the end of a word, as Python lowercases it


def to_tokenizers(tokenizer: Tokenizer) -> Library:
    """A tokenizer that encodes like ours. It has no begin and end tokens, because no text contains them."""
    match tokenizer:
        case CharTokenizer():
            exported = _by_word(tokenizer.characters, tokenizer.unknown)
            exported.pre_tokenizer = Split(SINGLE, "isolated")
        case WordTokenizer(split="words"):
            exported = _by_word(tokenizer.words, tokenizer.unknown)
            exported.pre_tokenizer = Split(Regex(_word_pattern()), "isolated")
            if tokenizer.lowercase:
                exported.normalizer = Normalizers([Replace(FINAL_SIGMA, "ς"), Lowercase()])
        case ByteTokenizer():
            exported = _by_word([to_letters(bytes([value])) for value in range(256)], None)
            exported.pre_tokenizer = Sequence(
                [ByteLevel(add_prefix_space=False, use_regex=False), Split(SINGLE, "isolated")]
            )
            exported.decoder = FromBytes()
        case BpeTokenizer():
            letters = [to_letters(tokenizer.decode_bytes([number])) for number in range(tokenizer.ordinary_size)]
            merges = [(to_letters(left), to_letters(right)) for left, right in tokenizer.merges]
            exported = Library(BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=merges))
            exported.pre_tokenizer = ByteLevel(add_prefix_space=False)
            exported.decoder = FromBytes()
        case _:
            spaces = " with split=spaces" if isinstance(tokenizer, WordTokenizer) else ""
            raise UsageError(f"the tokenizer {tokenizer.name}{spaces} has no counterpart in the tokenizers library.")
    return exported


@cache
def _word_pattern() -> str:
    """Its \\w and \\s written out: those of the library have other characters, such as no ² and ½ in words."""
    characters = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
    inside = {kind: character_ranges([*map(ord, re.findall(kind, characters))]) for kind in (r"\w", r"\s")}
    return word_pattern(LETTER.replace(r"\w", inside[r"\w"]), inside[r"\s"])


def _by_word(words: Any, unknown: int | None) -> Library:
    vocab = {word: number for number, word in enumerate(words)}
    if unknown is not None:
        vocab[UNKNOWN] = unknown
    exported = Library(WordLevel(vocab=vocab, unk_token=UNKNOWN))
    exported.decoder = Fuse()
    return exported


def tokenizer_json(tokenizer: Tokenizer) -> bytes:
    """The file for the `tokenizers` library; UsageError if it would encode a token of the vocabulary differently."""
    exported = to_tokenizers(tokenizer)
    for number in range(min(tokenizer.ordinary_size, MAX_VERIFIED)):
        text = tokenizer.decode([number])
        if exported.encode(text, add_special_tokens=False).ids != tokenizer.encode(text):
            raise UsageError(f"the exported tokenizer {tokenizer.name} would encode {text!r} differently.")
    return json.dumps(json.loads(exported.to_str()), ensure_ascii=False).encode()
