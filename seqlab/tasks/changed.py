"""Characters that a tokenizer changes, such as capitals that it reads in lower case: no result counts them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from seqlab.data.corpora.large_text import LargeText
from seqlab.data.documents.pairs import RetrievalExamples
from seqlab.data.examples.example import Examples, TextPair
from seqlab.data.text.split import SplitText
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.vocabulary import Vocabulary
from seqlab.wording import counted, split_in_words

UNCOUNTED = "bits per character leave out what it takes to restore them, unlike those of other tokenizers and of xz"


def changed_notes(data: Any, vocabulary: Vocabulary) -> list[str]:
    """For the log: how many characters of the first split are read as others, and what follows from it."""
    tokenizer, target = vocabulary.tokenizer, vocabulary.target_tokenizer
    if not tokenizer.changes:
        return []
    if isinstance(data, SplitText):
        of = f"of the {split_in_words(data.splits[0])} text"
        what = f"{'sampled ' * isinstance(data, LargeText)}characters {of}"
        changed, total, added = _count(_chunks(data), tokenizer)
        notes = _said(changed, total, tokenizer, what, f"generated text lacks them, and {UNCOUNTED}")
        without = f"{counted(added, 'word')} {of} without a space before: generated text has one before every word"
        return [*notes, f"{without} (tokenizer.split=spaces)"] if added else notes
    split = next(iter(data.splits))
    unseen = "the model does not see them" if vocabulary.char_tokenizer is None else "only spellings show them"
    if isinstance(data, RetrievalExamples):
        texts = (document.with_title for document in data.documents[split])
        return _note(texts, tokenizer, f"characters of the {split_in_words(split)} documents", unseen)
    assert isinstance(data, Examples)
    inputs = (example.input for example in data.splits[split])
    notes = _note(inputs, tokenizer, f"characters of the {split_in_words(split)} inputs", unseen)
    targets = [example.target for example in data.splits[split] if isinstance(example, TextPair)]
    lacking = "translations lack them, and are compared with targets that have them"
    return notes + _note(targets, target or tokenizer, f"characters of the {split_in_words(split)} targets", lacking)


def _chunks(data: SplitText) -> Iterable[str]:
    split = data.splits[0]
    return replace(data, sample=None).sampled(split) if isinstance(data, LargeText) else data.chunks(split)


def _note(texts: Iterable[str], tokenizer: Tokenizer, what: str, effect: str) -> list[str]:
    changed, total, _ = _count(texts, tokenizer)
    return _said(changed, total, tokenizer, what, effect)


def _count(texts: Iterable[str], tokenizer: Tokenizer) -> tuple[int, int, int]:
    """The characters that are changed, those of all texts, and the words that get a space; texts are read once."""
    changed = total = added = 0
    for text in texts:
        changed, total = changed + tokenizer.count_changed(text), total + len(text)
        added += tokenizer.count_added_spaces(text)
    return changed, total, added


def _said(changed: int, total: int, tokenizer: Tokenizer, what: str, effect: str) -> list[str]:
    return [f"{changed:,} of the {total:,} {what} are {tokenizer.changes}: {effect}"] if changed else []
