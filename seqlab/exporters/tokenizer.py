"""Our tokenizers as objects of the `tokenizers` library, whose file other programs read."""

import json
from typing import Any

from tokenizers import Regex
from tokenizers import Tokenizer as Library
from tokenizers.decoders import ByteLevel as FromBytes
from tokenizers.decoders import Fuse
from tokenizers.models import BPE, WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split

from seqlab.errors import UsageError
from seqlab.tokenization.bpe import BpeTokenizer, to_letters
from seqlab.tokenization.byte import ByteTokenizer
from seqlab.tokenization.char import CharTokenizer
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.word import WORD, WordTokenizer

UNKNOWN = "<unknown>"
MOST_CHECKED = 5000  # symbols
SINGLE = Regex(r"[\s\S]")


def to_tokenizers(tokenizer: Tokenizer) -> Library:
    """Encodes as ours does; begin and end are ids that no text has, so it does not know them."""
    match tokenizer:
        case CharTokenizer():
            found = _by_word(tokenizer.characters, tokenizer.unknown)
            found.pre_tokenizer = Split(SINGLE, "isolated")
        case WordTokenizer():
            found = _by_word(tokenizer.words, tokenizer.unknown)
            found.pre_tokenizer = Split(Regex(WORD.pattern), "isolated")
            if tokenizer.lowercase:
                found.normalizer = Lowercase()
        case ByteTokenizer():
            found = _by_word([to_letters(bytes([value])) for value in range(256)], None)
            found.pre_tokenizer = Sequence(
                [ByteLevel(add_prefix_space=False, use_regex=False), Split(SINGLE, "isolated")]
            )
            found.decoder = FromBytes()
        case BpeTokenizer():
            letters = [to_letters(tokenizer.decode_bytes([number])) for number in range(tokenizer.ordinary_size)]
            merges = [(to_letters(left), to_letters(right)) for left, right in tokenizer.merges]
            found = Library(BPE(vocab={spelt: number for number, spelt in enumerate(letters)}, merges=merges))
            found.pre_tokenizer = ByteLevel(add_prefix_space=False)
            found.decoder = FromBytes()
        case _:
            raise UsageError(f"the tokenizer {tokenizer.name} has no form that other programs read.")
    return found


def _by_word(words: Any, unknown: int | None) -> Library:
    vocab_size = {word: number for number, word in enumerate(words)}
    if unknown is not None:
        vocab_size[UNKNOWN] = unknown
    found = Library(WordLevel(vocab=vocab_size, unk_token=UNKNOWN))
    found.decoder = Fuse()
    return found


def verify_tokenizer(tokenizer: Tokenizer, found: Library) -> None:
    """UsageError where the two do not read a symbol alike."""
    for number in range(min(tokenizer.ordinary_size, MOST_CHECKED)):
        text = tokenizer.decode([number])
        if found.encode(text, add_special_tokens=False).ids != tokenizer.encode(text):
            raise UsageError(
                f"the library's form of the tokenizer {tokenizer.name} reads {text!r} otherwise than ours."
            )


def to_json_text(found: Library) -> str:
    return json.dumps(json.loads(found.to_str()), ensure_ascii=False)
