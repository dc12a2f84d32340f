"""Marks such as <unk>, which stand between spaces and which a word tokenizer reads as several tokens."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from seqlab.data.corpora.large_text import LargeText
from seqlab.data.examples.example import Examples, LabeledText, TextPair
from seqlab.data.file_names import shorten
from seqlab.data.text.split import SplitText
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.word import WordTokenizer
from seqlab.wording import counted, split_in_words

MARK = re.compile(r"(?<!\S)<[^\s<>]+>(?!\S)")
MAX_NAMED = 3  # marks


def split_mark_notes(data: Any, tokenizer: Tokenizer) -> list[str]:
    """A note on the marks of the first split that are not read whole; nothing for tokenizers that cut words as well."""
    if not isinstance(tokenizer, WordTokenizer) or tokenizer.split == "spaces":
        return []
    counts: Counter[str] = Counter()
    for text in _texts(data):
        counts.update(MARK.findall(text) if "<" in text else ())
    if not counts:
        return []
    named = ", ".join(
        f"'{shorten(mark, 40)}' ({counted(count, 'time')}) as {len(tokenizer.collecting().encode(f' {mark}'))} tokens"
        for mark, count in counts.most_common(MAX_NAMED)
    )
    more = f", and {counted(len(counts) - MAX_NAMED, 'more mark')}" if len(counts) > MAX_NAMED else ""
    return [
        f"marks that the {split_in_words(next(iter(data.splits)))} text has between spaces are not read whole: "
        f"{named}{more}. --set tokenizer.split=spaces reads whatever stands between spaces as one token"
    ]


def _texts(data: Any) -> Iterable[str]:
    split = next(iter(data.splits), "")
    if isinstance(data, LargeText):
        return []  # it is not read once more
    if isinstance(data, SplitText):
        return data.chunks(split)
    examples = data.splits[split] if isinstance(data, Examples) else []
    return (example.input for example in examples if isinstance(example, LabeledText | TextPair))
